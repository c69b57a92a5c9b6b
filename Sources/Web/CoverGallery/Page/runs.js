// Runs that the server's program provides: a refresh of the covers, and a fill of the music folders. One at a time; it can be stopped.

import { ask } from "./api.js";
import { byID, sentence } from "./helpers.js";

const part = byID("runs"), text = byID("run-text"), stop = byID("run-stop");
const buttons = { refresh: byID("run-refresh"), fill: byID("run-fill") };

/** @param {(problem: Error) => void} showProblem */
export function setUpRuns(showProblem) {
  for (const [name, button] of Object.entries(buttons)) {
    button.addEventListener("click", () => ask("POST", `api/runs/${name}`).then(() => stop.focus(), showProblem));
  }
  stop.addEventListener("click", () => ask("DELETE", "api/runs").catch(showProblem));
}

export function setRunsAway(away) {
  for (const button of [...Object.values(buttons), stop]) button.disabled = away;
}

/** @param {{possible: Record<string, true>, running: string | null, text: string}} state as the server sends it */
export function showRun({ possible, running, text: line }) {
  const hadFocus = part.contains(document.activeElement);
  part.hidden = !running && !Object.keys(possible).length;
  for (const [name, button] of Object.entries(buttons)) button.hidden = Boolean(running) || !possible[name];
  stop.hidden = !running;
  text.textContent = sentence(line) || (running ? "Starting…" : "");
  // A hidden button loses the focus.
  if (hadFocus && !document.activeElement?.checkVisibility?.()) (running ? stop : buttons.refresh).focus();
}
