// Activity: one dialog for what is running and for what has failed. Its first button finds the covers that are missing: it downloads those that have
// an address and, in the server's program, looks for the others where the music is. The program's other runs are a refresh of the covers, a scan of
// a folder and an import of a list; they run one at a time.

import { hashOfAll } from "./address.js";
import { ask } from "./api.js";
import { Overlay } from "./overlay.js";
import { byID, counted, formatBytes, formatNumber, formatShort, make, onFile, sentence, storageName } from "./helpers.js";

const dialog = byID("activity"), main = byID("find-covers"), contact = byID("contact"), chooser = byID("list-file"), more = byID("run-more");
const scan = byID("run-scan"), folder = scan.elements.namedItem("folder"), hint = byID("find-hint"), hintText = hint.textContent;
const starts = [byID("find"), byID("find-first")];
const buttons = { refresh: byID("run-refresh"), scan: byID("run-folder"), import: byID("run-import") };
const names = { refresh: "Checking covers", fill: "Looking for covers", scan: "Reading the folder", import: "Importing the list" };
const contactName = storageName("sleeve-contact");
/** What the server said last: of the download of all covers, and of the program's runs. */
let prefetch = { running: false, failed: 0, failures: [], unlisted: [] }, run = { possible: {}, running: null, failures: [] }, shown = {};
let latest = {}; // the state of the download when a cover came or failed last
let library = null, cached = null; // how many covers the cache has, which the server tells later than the rest

/** @param {(ids: string[]) => void} again asks for the covers of these albums again */
export function setUpActivity(albums, showProblem, again) {
  library = albums;
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
  const showFolder = (isWanted) => {
    buttons.scan.ariaExpanded = String(isWanted);
    open();
    if (isWanted) folder.focus();
  };
  byID("add-many").addEventListener("click", () => showFolder(true));
  for (const button of starts) {
    button.addEventListener("click", () => {
      if (!run.possible.fill) return showFolder(true);
      open();
      if (!isRunning()) main.click();
    });
  }
  buttons.refresh.addEventListener("click", () => start("api/runs/refresh"));
  buttons.scan.addEventListener("click", () => showFolder(more.hidden));
  scan.addEventListener("submit", (event) => {
    event.preventDefault();
    start("api/runs/scan", { folder: folder.value });
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
const isRunning = () => prefetch.running || Boolean(run.running);
const open = () => (showState(), dialog.open || (dialog.showModal(), overlay.opened()));

export function setActivityAway(away) {
  for (const button of [...dialog.querySelectorAll("button:not(#activity-close)"), ...starts]) button.disabled = away;
}

/** Shows the state of the download of all covers, as the server sends it. */
export function showPrefetch(state) {
  prefetch = { failures: [], unlisted: [], ...state };
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
  // The page has asked for some of them since the beginning.
  const here = state.fresh + state.joined, { running, downloaded, skipped, failed } = state;
  const done = running ? [["done", downloaded + here]] : [["downloaded", downloaded], ["here", here]];
  const counts = [...done, ["without an address", skipped], ["failed", failed]];
  const parts = counts.filter(([, count]) => count).map(([name, count]) => `${formatNumber(count)} ${name}`);
  if (state.bytes) parts.push(formatBytes(state.bytes));
  if (!state.running && state.total > state.settled) parts.push(`stopped, ${formatNumber(state.total - state.settled)} left`);
  if (latest.settled !== state.settled) latest = state;
  // The rate tells nothing of covers that take longer than all that are left should: their servers do not answer.
  const left = (state.total - state.settled) * (state.seconds / state.settled), idle = state.seconds - latest.seconds;
  if (state.running && state.settled && state.seconds > 2 && left > Math.max(1, idle)) parts.push(`about ${time(left)} left`);
  return parts.join(" · ");
}

const time = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s` : `${formatNumber(Math.round(seconds / 60))} min`);

/** @param {object} state as the server sends it @returns {string} what came of a run that has ended now, while nobody looks; else nothing */
export function showRun(state) {
  const { possible, running, progress, name, result, problem } = state, wasRunning = run.running;
  run = { failures: [], ...state };
  byID("add-many").hidden = Boolean(running) || !possible.scan;
  byID("contact-part").hidden = !possible.fill;
  for (const button of starts) button.hidden = !possible.fill && byID("add-many").hidden;
  const outcome = !name ? "" : result ? outcomes[name]?.(result) ?? "Done." : sentence((problem ?? "").replace(/`(.*?)`/g, "“$1”"));
  const text = running ? `${names[running] ?? "Running"}… ${plainProgress(progress)}` : outcome;
  if (text !== shown.run) byID("run-text").textContent = shown.run = text;
  byID("run-review").hidden = Boolean(running) || !result?.doubtful;
  showState();
  return wasRunning && !running && !dialog.open ? outcome : "";
}

/** Shows whether something is running, and what has failed. */
function showState() {
  // No album has the address of a cover, a file or a folder: a folder comes first.
  const first = !isRunning() && Boolean(run.possible.scan && !run.possible.fill && library) && !library.albums.some(({ hasCover }) => hasCover);
  main.textContent = isRunning() ? "Stop" : "Find missing covers";
  hint.textContent = isRunning() || first ? "" : hintText;
  for (const [each, button] of Object.entries(buttons)) button.hidden = Boolean(run.running) || !run.possible[each] || (first && each !== "import");
  buttons.refresh.hidden ||= cached === 0;
  if (main.hidden !== first && dialog.contains(document.activeElement)) queueMicrotask(() => (first ? folder : main).focus());
  main.hidden = first;
  more.hidden = !first && (buttons.scan.hidden || buttons.scan.ariaExpanded !== "true");
  scan.lastElementChild.classList.toggle("main", first);
  // What is left has failed, and there is nowhere else to look.
  const isDone = prefetch.failed && prefetch.settled === prefetch.total && (!run.possible.fill || run.name === "fill");
  main.classList.toggle("main", !isRunning() && !isDone);
  byID("menu-toggle").classList.toggle("running", isRunning());
  byID("failures-retry").hidden = isRunning() || !prefetch.failed;
  const failures = [...prefetch.failures, ...run.failures], all = prefetch.failed + run.failures.length, text = JSON.stringify([failures, prefetch.unlisted, all]);
  if (text === shown.failures) return;
  shown.failures = text;
  byID("failures-part").hidden = failures.length === 0;
  byID("failures-title").textContent = all ? `${formatNumber(all)} failed` : "Stopped early";
  const list = byID("failures"), opened = new Set(Array.from(list.querySelectorAll("details[open]"), ({ dataset }) => dataset.reason));
  const groups = [...Map.groupBy(failures, ({ reason }) => brief(reason))].map(([reason, listed]) => ({ reason, listed, unlisted: unlistedOf(reason) }));
  groups.sort((one, other) => other.listed.length + other.unlisted - one.listed.length - one.unlisted || (one.reason < other.reason ? -1 : 1));
  list.replaceChildren(...groups.map((group) => failureRow(group, opened)));
}

const unlistedOf = (reason) => prefetch.unlisted.filter((each) => brief(each.reason) === reason).reduce((sum, { count }) => sum + count, 0);

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

/** What failed for one reason: a count that opens to the albums, of which the server names the last ones. */
function failureRow({ reason, listed: failures, unlisted }, opened) {
  const covers = failures.filter((each) => each.album && prefetch.failures.includes(each));
  const albums = failures.map(({ album, title, url, cause, reason: own }) => {
    const lines = [sentence(own), cause && sentence(cause), url].filter(Boolean), artist = library?.albums[library.indexOf(album)]?.artist;
    if (!album) return make("li", { className: "whole" }, make("strong", { dir: "auto" }, title ?? ""), ...lines.map((line) => make("p", {}, line)));
    const link = make("a", { href: hashOfAll({ view: "stage", album }), title: lines.join("\n"), dir: "auto" }, title || "Untitled");
    link.dataset.album = album;
    return make("li", {}, link, artist ? make("bdi", {}, ` – ${artist}`) : "");
  });
  if (unlisted) albums.push(make("li", {}, make("a", { href: hashOfAll({ view: "wall", show: "failed" }) }, `and ${formatNumber(unlisted)} more`)));
  const advice = sentence(failures[0].reason).split(/(?<=\.) (.*)/s)[1];
  const group = make("details", { open: opened.has(reason) }, make("summary", {}, `${formatNumber(failures.length + unlisted)} ${reason}`));
  group.dataset.reason = reason;
  group.append(advice ? make("p", {}, advice) : "", make("ul", {}, ...albums));
  const again = make("button", { type: "button", value: covers.map(({ album }) => album).join(" ") }, "Try again");
  return make("li", {}, group, covers.length && !unlisted ? again : "");
}

export function showCache({ entries, bytes, capacity }) {
  cached = entries;
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
