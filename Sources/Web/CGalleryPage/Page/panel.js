// The panel: downloading all covers, what failed, what the cache holds, and the remote library.

import { ask } from "./api.js";
import { failureRow } from "./failures.js";
import { byID, formatBytes, formatNumber, formatShort, sentence } from "./helpers.js";

const [panel, toggle, menu, button, progress] = ["panel", "panel-toggle", "menu-toggle", "prefetch", "progress"].map(byID);
let running = false;

/** @param {(problem: Error) => void} showProblem */
export function setUpPanel(showProblem) {
  toggle.addEventListener("click", () => open(panel.hidden));
  byID("panel-close").addEventListener("click", closePanel);
  byID("add-many").addEventListener("click", () => {
    open(true);
    byID("run-more").open = true;
    byID("run-more").querySelector("input, button").focus();
  });
  for (const part of [panel, menu]) part.addEventListener("keydown", (event) => event.key === "Escape" && closePanel() && event.preventDefault());
  let busy = false; // not `disabled`, which would take the focus from the button
  button.addEventListener("click", async () => {
    if (busy) return;
    busy = true;
    try {
      await ask(running ? "DELETE" : "POST", "api/prefetch");
    } catch (problem) {
      showProblem(problem);
    } finally {
      busy = false;
    }
  });
}

/** Closes the panel; false if it is closed. */
export function closePanel() {
  if (panel.hidden) return false;
  open(false);
  menu.focus();
  return true;
}

function open(isOpen) {
  panel.hidden = !isOpen;
  toggle.setAttribute("aria-expanded", String(isOpen));
  document.body.classList.toggle("panel-open", isOpen);
}

export function setPanelAway(away, reason) {
  button.disabled = away;
  button.title = away ? reason : "";
}

/** Shows a prefetch's state, as the server sends it. */
export function showPrefetch(state) {
  running = state.running;
  menu.classList.toggle("running", running);
  button.textContent = running ? "Stop" : "Fetch all covers";
  byID("prefetch-now").hidden = false;
  if (state.total) [progress.max, progress.value] = [state.total, state.settled];
  else if (running) progress.removeAttribute("value");
  else [progress.max, progress.value] = [1, 1];
  const of = state.total ? ` of ${formatNumber(state.total)}` : "";
  byID("progress-text").textContent = `${formatNumber(state.downloaded + state.fresh + state.joined)}${of} covers`;
  byID("rate").textContent = state.coversPerSecond ? `${formatShort(state.coversPerSecond)} covers/s` : "";
  byID("outcome").textContent = outcome(state);
  showFailures(state);
}

function outcome(state) {
  const counts = [
    ["downloaded", state.downloaded], ["here already", state.fresh + state.joined], ["without an address", state.skipped],
    ["failed", state.failed],
  ];
  const parts = counts.filter(([, count]) => count).map(([name, count]) => `${formatNumber(count)} ${name}`);
  if (state.bytes) parts.push(formatBytes(state.bytes));
  const left = (state.total - state.settled) * (state.seconds / state.settled);
  if (state.running && state.settled && state.seconds > 2 && left > 1) parts.push(`about ${time(left)} left`);
  return parts.join(" · ");
}

function time(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${formatNumber(Math.round(seconds / 60))} min`;
}

function showFailures({ failures = [], failed }) {
  byID("failures-part").hidden = failures.length === 0;
  const all = failed === 1 ? "1 cover failed" : failed ? `${formatNumber(failed)} covers failed` : "Stopped early";
  byID("failures-title").textContent = failed > failures.length ? `${all}, the last ${failures.length} are` : all;
  byID("failures").replaceChildren(...failures.map(failureRow));
}

export function showCache({ entries, bytes, capacity }) {
  byID("cache-entries").textContent = formatNumber(entries);
  byID("cache-size").textContent = capacity ? `${formatBytes(bytes)} of ${formatBytes(capacity)}` : formatBytes(bytes);
}

/** @param {{url: string, waiting: number, problem: string | null} | null} remote */
export function showRemote(remote) {
  byID("remote-part").hidden = !remote;
  if (!remote) return;
  byID("remote-url").textContent = remote.url;
  const waiting = remote.waiting === 1 ? "1 change waits" : `${formatNumber(remote.waiting)} changes wait`;
  byID("remote-state").textContent = remote.waiting
    ? `${waiting} to be sent. Sleeve keeps trying.` : remote.problem ? "It refused a change." : "Up to date.";
  byID("remote-cause").querySelector("p").textContent = remote.problem ?? "";
}
