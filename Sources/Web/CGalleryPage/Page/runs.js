// Runs that the server's program provides: a refresh of the covers, a fill of the music folders, a scan of a folder, an import of a list. One at a
// time; it can be stopped. What came of it is said in the page's words.

import { hashOfAll } from "./address.js";
import { ask } from "./api.js";
import { failureRow } from "./failures.js";
import { byID, formatBytes, formatNumber, sentence, storageName } from "./helpers.js";

const part = byID("runs"), line = byID("run-text"), stop = byID("run-stop"), review = byID("run-review"), contact = byID("contact");
const scan = byID("run-scan"), chooser = byID("list-file");
const buttons = { refresh: byID("run-refresh"), fill: byID("run-fill"), scan, import: byID("run-import") };
const names = { refresh: "Checking covers", fill: "Looking for covers", scan: "Reading the folder", import: "Importing the list" };
const contactName = storageName("sleeve-contact");
let shown = "";

/** @param {(problem: Error) => void} showProblem */
export function setUpRuns(showProblem) {
  const start = (path, body) => ask("POST", path, body).then(() => stop.focus(), showProblem);
  buttons.refresh.addEventListener("click", () => start("api/runs/refresh"));
  buttons.fill.addEventListener("click", () => start("api/runs/fill", contact.value ? { contact: contact.value } : {}));
  // On the stage of an album without a cover.
  byID("find").addEventListener("click", () => {
    if (byID("panel").hidden) byID("panel-toggle").click();
    buttons.fill.click();
  });
  scan.addEventListener("submit", (event) => {
    event.preventDefault();
    start("api/runs/scan", { folder: scan.elements.namedItem("folder").value });
  });
  buttons.import.addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", () => {
    if (chooser.files[0]) start("api/lists", chooser.files[0]);
    chooser.value = ""; // so that the same file can be chosen again
  });
  stop.addEventListener("click", () => ask("DELETE", "api/runs").catch(showProblem));
  review.addEventListener("click", () => (location.hash = hashOfAll({ view: "stage", show: "doubtful" })));
  try {
    contact.value = localStorage.getItem(contactName) ?? "";
    contact.addEventListener("change", () => localStorage.setItem(contactName, contact.value));
  } catch {
    // The user forbids storage: the field is for this visit.
  }
}

export function setRunsAway(away) {
  for (const button of [...part.querySelectorAll("button"), byID("find")]) button.disabled = away;
}

/**
 * @typedef {{possible: Record<string, true>, running: string | null, progress: string, name: string | null, result: Record<string, any> | null,
 *   problem: string | null, failures: object[]}} Run as the server sends it; name: of the run that has ended last
 * @param {Run} state @returns {string} what came of a run that has ended now, else nothing
 */
export function showRun({ possible, running, progress, name, result, problem, failures = [] }) {
  const hadFocus = part.contains(document.activeElement), wasRunning = !stop.hidden;
  part.hidden = !running && !Object.keys(possible).length;
  for (const [each, button] of Object.entries(buttons)) button.hidden = Boolean(running) || !possible[each];
  byID("run-more").hidden = byID("add-many").hidden = scan.hidden && buttons.import.hidden;
  byID("contact-part").hidden = byID("find").hidden = buttons.fill.hidden;
  stop.hidden = !running;
  const outcome = !name ? "" : result ? outcomes[name]?.(result) ?? "Done." : sentence((problem ?? "").replace(/`(.*?)`/g, "“$1”"));
  const text = running ? `${names[running] ?? "Running"}… ${plainProgress(progress)}` : outcome;
  if (text !== shown) line.textContent = shown = text;
  review.hidden = Boolean(running) || !result?.doubtful;
  byID("run-failures").replaceChildren(...failures.map(failureRow));
  // A hidden button loses the focus.
  if (hadFocus && !document.activeElement?.checkVisibility?.()) (running ? stop : buttons.refresh).focus();
  return wasRunning && !running ? outcome : "";
}

/** The progress as the program tells it, without its name and what is for a terminal. */
const plainProgress = (text) => (/\d/.test(text) ? text.replace(/^sleeve: /, "").replaceAll("`", "") : "");

const count = (number, one, many = `${one}s`) => `${formatNumber(number)} ${number === 1 ? one : many}`;
const have = (number) => `${count(number, "album")} ${number === 1 ? "has" : "have"}`;
/** Sentences about those counts that are not 0. */
const sentences = (...parts) => parts.filter(([number]) => number).map(([, text]) => text).join(" ");

/** What came of each run, by the members of its result. */
const outcomes = {
  refresh: ({ requested, downloaded, failed, gone, leftOut, bytes, cancelled }) => (cancelled ? "Stopped. " : "") + (requested || leftOut
    ? sentences([requested, `Checked ${count(requested, "cover")}: ${downloaded ? `${formatNumber(downloaded)} newer (${formatBytes(bytes)})` : "none is newer"}.`],
      [failed, `${count(failed, "check")} failed; Sleeve keeps the covers that it has.`], [gone, `${count(gone, "cover")} no longer at its server.`],
      [leftOut, `${count(leftOut, "cover")} left out, got with credentials that Sleeve does not keep.`])
    : "No cover needs a check."),
  fill: ({ albums, covered, filled, missing, doubtful, failed, unwritten, cancelled }) => sentences(
    [cancelled, "Stopped; the next run goes on."], [albums, `Found covers for ${formatNumber(filled)} of ${count(albums, "album")}.`],
    [!albums && !cancelled, covered ? `All ${count(covered, "album")} have a cover file.` : "There is nothing to fill."],
    [missing, `${have(missing)} no cover at the services that were asked.`], [doubtful, `${have(doubtful)} only doubtful covers.`],
    [failed, `${count(failed, "album")} failed; the next run tries again.`], [unwritten, `${count(unwritten, "folder")} could not get a cover file.`]),
  scan: ({ albums, new: added, cancelled }) => (cancelled ? "Stopped. " : "") + `Found ${count(albums, "album")}; ${formatNumber(added)} new.`,
  import: ({ imported, completed, known, skipped }) => sentences([true, `Imported ${count(imported, "album")}.`],
    [completed, `${formatNumber(completed)} got what they lacked.`],
    [known, `${formatNumber(known)} were here already.`], [skipped, `${count(skipped, "line")} left out: an album needs a title.`]),
};
