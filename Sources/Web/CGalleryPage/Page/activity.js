// Activity: one dialog for what is running and for what has failed. Its first button finds the covers that are missing: it downloads those that have
// an address and, in the server's program, looks for the others where the music is. The program's other runs are a refresh of the covers, a scan of
// a folder and an import of a list; they run one at a time.

import { hashOfAll } from "./address.js";
import { ask } from "./api.js";
import { Overlay } from "./overlay.js";
import { byID, counted, formatBytes, formatNumber, formatShort, make, onFile, sentence, storageName } from "./helpers.js";

const dialog = byID("activity"), main = byID("find-covers"), contact = byID("contact"), chooser = byID("list-file"), more = byID("run-more");
const starts = [byID("find"), byID("find-first")];
const buttons = { refresh: byID("run-refresh"), scan: byID("run-scan"), import: byID("run-import") };
const names = { refresh: "Checking covers", fill: "Looking for covers", scan: "Reading the folder", import: "Importing the list" };
const contactName = storageName("sleeve-contact");
/** What the server said last: of the download of all covers, and of the program's runs. */
let prefetch = { running: false, failed: 0, failures: [] }, run = { possible: {}, running: null, failures: [] }, shown = {};

/** @param {(ids: string[]) => void} again asks for the covers of these albums again */
export function setUpActivity(showProblem, again) {
  const start = (path, body) => ask("POST", path, body).then(() => main.focus(), showProblem);
  let busy = false; // not `disabled`, which would take the focus from the button
  main.addEventListener("click", async () => {
    if (busy) return;
    busy = true;
    try {
      if (isRunning()) {
        await Promise.all([prefetch.running && ask("DELETE", "api/prefetch"), run.running && ask("DELETE", "api/runs")]);
      } else {
        await ask("POST", "api/prefetch");
        if (run.possible.fill) await ask("POST", "api/runs/fill", contact.value ? { contact: contact.value } : {});
      }
    } catch (problem) {
      showProblem(problem);
    } finally {
      busy = false;
    }
  });
  byID("activity-open").addEventListener("click", open);
  byID("activity-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => overlay.closed());
  const addMany = () => {
    open();
    more.open = true;
    more.querySelector("input").focus();
  };
  byID("add-many").addEventListener("click", addMany);
  for (const button of starts) {
    button.addEventListener("click", () => {
      if (!run.possible.fill) return addMany();
      open();
      if (!isRunning()) main.click();
    });
  }
  buttons.refresh.addEventListener("click", () => start("api/runs/refresh"));
  buttons.scan.addEventListener("submit", (event) => {
    event.preventDefault();
    start("api/runs/scan", { folder: buttons.scan.elements.namedItem("folder").value });
  });
  buttons.import.addEventListener("click", () => chooser.click());
  onFile(chooser, (file) => start("api/lists", file));
  byID("failures-retry").addEventListener("click", () => start("api/prefetch"));
  byID("failures").addEventListener("click", ({ target }) => {
    if (target.dataset.album) target.href = hashOfAll({ view: "stage", album: target.dataset.album }); // the order may be another one since
    if (!target.value) return;
    again(target.value.split(" "));
    target.replaceWith("Asked again");
    main.focus();
  }, { capture: true });
  byID("run-review").addEventListener("click", () => (location.hash = hashOfAll({ view: "stage", show: "doubtful" })));
  try {
    contact.value = localStorage.getItem(contactName) ?? "";
    contact.addEventListener("change", () => localStorage.setItem(contactName, contact.value));
    // Asked for once; there it can be changed.
    if (contact.value) more.append(byID("contact-part"));
  } catch {
    // The user forbids storage: the field is for this visit.
  }
}

const overlay = new Overlay(() => dialog.close());
const open = () => dialog.open || (dialog.showModal(), overlay.opened());
const isRunning = () => prefetch.running || Boolean(run.running);

export function setActivityAway(away) {
  for (const button of [...dialog.querySelectorAll("button:not(#activity-close)"), ...starts]) button.disabled = away;
}

/** Shows the state of the download of all covers, as the server sends it. */
export function showPrefetch(state) {
  prefetch = { failures: [], ...state };
  const { total, settled, failed } = state, have = state.downloaded + state.fresh + state.joined, bar = byID("progress");
  // Nothing has an address: all depends on the fill.
  byID("progress-part").hidden = !state.running && total === state.skipped;
  const text = `${formatNumber(have)}${total ? ` of ${formatNumber(total)}` : ""} covers`;
  Object.assign(bar, { ariaValueMax: String(total || 1), ariaValueNow: total || !state.running ? String(total ? settled : 1) : null, ariaValueText: text });
  bar.style.setProperty("--have", total ? have / total : 0);
  bar.style.setProperty("--failed", total ? failed / total : 0);
  byID("progress-text").textContent = text;
  byID("rate").textContent = state.running && state.coversPerSecond ? `${formatShort(state.coversPerSecond)} covers/s` : "";
  byID("outcome").textContent = outcome(state);
  showState();
}

function outcome(state) {
  const counts = [
    ["downloaded", state.downloaded], ["here already", state.fresh + state.joined], ["without an address", state.skipped],
    ["failed", state.failed],
  ];
  const parts = counts.filter(([, count]) => count).map(([name, count]) => `${formatNumber(count)} ${name}`);
  if (state.bytes) parts.push(formatBytes(state.bytes));
  if (!state.running && state.total > state.settled) parts.push(`stopped, ${formatNumber(state.total - state.settled)} left`);
  const left = (state.total - state.settled) * (state.seconds / state.settled);
  if (state.running && state.settled && state.seconds > 2 && left > 1) parts.push(`about ${time(left)} left`);
  return parts.join(" · ");
}

const time = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s` : `${formatNumber(Math.round(seconds / 60))} min`);

/** @param {object} state as the server sends it @returns {string} what came of a run that has ended now, while nobody looks; else nothing */
export function showRun(state) {
  const { possible, running, progress, name, result, problem } = state, wasRunning = run.running;
  run = { failures: [], ...state };
  for (const [each, button] of Object.entries(buttons)) button.hidden = Boolean(running) || !possible[each];
  more.hidden = byID("add-many").hidden = buttons.scan.hidden;
  byID("contact-part").hidden = !possible.fill;
  for (const button of starts) button.hidden = !possible.fill && more.hidden;
  const outcome = !name ? "" : result ? outcomes[name]?.(result) ?? "Done." : sentence((problem ?? "").replace(/`(.*?)`/g, "“$1”"));
  const text = running ? `${names[running] ?? "Running"}… ${plainProgress(progress)}` : outcome;
  if (text !== shown.run) byID("run-text").textContent = shown.run = text;
  byID("run-review").hidden = Boolean(running) || !result?.doubtful;
  showState();
  return wasRunning && !running && !dialog.open ? outcome : "";
}

/** Shows whether something is running, and what has failed. */
function showState() {
  main.textContent = isRunning() ? "Stop" : "Find missing covers";
  // What is left has failed, and there is nowhere else to look.
  const isDone = prefetch.failed && prefetch.settled === prefetch.total && (!run.possible.fill || run.name === "fill");
  main.classList.toggle("main", !isRunning() && !isDone);
  byID("menu-toggle").classList.toggle("running", isRunning());
  byID("failures-retry").hidden = isRunning() || !prefetch.failed;
  const failures = [...prefetch.failures, ...run.failures], all = prefetch.failed + run.failures.length, text = JSON.stringify([failures, all]);
  if (text === shown.failures) return;
  shown.failures = text;
  byID("failures-part").hidden = failures.length === 0;
  const title = all === 1 ? "1 failed" : all ? `${formatNumber(all)} failed` : "Stopped early";
  byID("failures-title").textContent = all > failures.length ? `${title}, the last ${failures.length} are` : title;
  byID("failures").replaceChildren(...Array.from(Map.groupBy(failures, ({ reason }) => brief(reason)), failureRow));
}

/** The progress as the program tells it, without its name and what is for a terminal. */
const plainProgress = (text) => (/\d/.test(text) ? text.replace(/^sleeve: /, "").replaceAll("`", "") : "");

const have = (number) => `${counted(number, "album")} ${number === 1 ? "has" : "have"}`;
/** Sentences about those counts that are not 0. */
const sentences = (...parts) => parts.filter(([number]) => number).map(([, text]) => text).join(" ");

/** What came of each run, by the members of its result. */
const outcomes = {
  refresh: ({ requested, downloaded, failed, gone, leftOut, bytes, cancelled }) => (cancelled ? "Stopped. " : "") + (requested || leftOut
    ? sentences([requested, `Checked ${counted(requested, "cover")}: ${downloaded ? `${formatNumber(downloaded)} newer (${formatBytes(bytes)})` : "none is newer"}.`],
      [failed, `${counted(failed, "check")} failed; Sleeve keeps the covers that it has.`], [gone, `${counted(gone, "cover")} no longer at its server.`],
      [leftOut, `${counted(leftOut, "cover")} left out, got with credentials that Sleeve does not keep.`])
    : "No cover needs a check."),
  fill: ({ albums, covered, filled, missing, doubtful, failed, unwritten, cancelled }) => sentences(
    [cancelled, "Stopped; the next run goes on."], [albums, `Found covers for ${formatNumber(filled)} of ${counted(albums, "album")}.`],
    [!albums && !cancelled, covered ? `All ${counted(covered, "album")} have a cover file.` : "There is nothing to fill."],
    [missing, `${have(missing)} no cover at the services that were asked.`], [doubtful, `${have(doubtful)} only doubtful covers.`],
    [failed, `${counted(failed, "album")} failed; the next run tries again.`], [unwritten, `${counted(unwritten, "folder")} could not get a cover file.`]),
  scan: ({ albums, new: added, cancelled }) => (cancelled ? "Stopped. " : "") + `Found ${counted(albums, "album")}; ${formatNumber(added)} new.`,
  import: ({ imported, completed, known, skipped }) => sentences([true, `Imported ${counted(imported, "album")}.`],
    [completed, `${formatNumber(completed)} got what they lacked.`],
    [known, `${formatNumber(known)} were here already.`], [skipped, `${counted(skipped, "line")} left out: an album needs a title.`]),
};

/** What a server answered, or else what happened, without what to do. */
function brief(reason) {
  const status = Number(/\((\d{3})\)/.exec(reason)?.[1]), answer = status >= 500 ? "answered with an error" : answers[status];
  return answer ? `${answer} (${status})` : `× ${sentence(reason).split(/\.(?: |$)/)[0]}`;
}
const answers = { 401: "refused", 403: "refused", 404: "not found", 410: "not found", 429: "rate-limited" };

/** What failed for one reason: a count that opens to the albums. */
function failureRow([reason, failures]) {
  const covers = failures.filter((each) => each.album && prefetch.failures.includes(each)), common = failures[0].reason;
  const albums = failures.map(({ album, title, url, cause, reason: own }) => {
    const name = album || title ? make(album ? "a" : "strong", { dir: "auto" }, title || "Untitled") : "";
    if (album) Object.assign(name, { href: hashOfAll({ view: "stage", album }) }).dataset.album = album;
    const lines = [own !== common && sentence(own), cause && sentence(cause), url].filter(Boolean);
    return make("li", {}, name, ...lines.map((line) => make("p", {}, line)));
  });
  const summary = make("summary", {}, `${formatNumber(failures.length)} ${reason}`);
  const again = make("button", { type: "button", value: covers.map(({ album }) => album).join(" ") }, "Try again");
  const group = make("details", {}, summary, make("p", {}, sentence(common)), make("ul", {}, ...albums));
  return make("li", {}, group, covers.length ? again : "");
}

export function showCache({ entries, bytes, capacity }) {
  const size = `${formatBytes(bytes)}${capacity ? ` of ${formatBytes(capacity)}` : ""}`;
  byID("cache").textContent = `${counted(entries, "cover")} in the cache · ${size}`;
}

export function showRemote(remote) {
  byID("remote-part").hidden = !remote;
  if (!remote) return;
  byID("remote-url").textContent = remote.url;
  const waiting = remote.waiting === 1 ? "1 change waits" : `${formatNumber(remote.waiting)} changes wait`;
  byID("remote-state").textContent = remote.waiting
    ? `${waiting} to be sent. Sleeve keeps trying.` : remote.problem ? "It refused a change." : "Up to date.";
  byID("remote-cause").querySelector("p").textContent = remote.problem ?? "";
}
