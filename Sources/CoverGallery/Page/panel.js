// The panel: fetching all covers, what failed, and what the cache holds.

import { ask, sentence } from "./api.js";

const byID = (id) => document.getElementById(id);
const [panel, toggle, button, progress] = ["panel", "panel-toggle", "prefetch", "progress"].map(byID);
const number = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
let running = false;

export function bytes(count) {
  // As the command line counts them.
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; unit++) count /= 1024;
  return `${short.format(count)} ${units[unit]}`;
}

/** @param {(problem: Error) => void} complain */
export function setUpPanel(complain) {
  toggle.addEventListener("click", () => open(panel.hidden));
  byID("panel-close").addEventListener("click", () => (open(false), toggle.focus()));
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") (open(false), toggle.focus());
  });
  let busy = false; // not `disabled`: that would take the keyboard's place on the page
  button.addEventListener("click", async () => {
    if (busy) return;
    busy = true;
    try {
      await ask(running ? "DELETE" : "POST", "/api/prefetch");
    } catch (problem) {
      complain(problem);
    } finally {
      busy = false;
    }
  });
}

function open(wanted) {
  panel.hidden = !wanted;
  toggle.setAttribute("aria-expanded", String(wanted));
  document.body.classList.toggle("panel-open", wanted);
}

export function setPanelAway(gone, reason) {
  button.disabled = gone;
  button.title = gone ? reason : "";
}

export function showPrefetch(told) {
  running = told.running;
  toggle.classList.toggle("running", running);
  button.textContent = running ? "Stop" : "Fetch all covers";
  byID("prefetch-now").hidden = false;
  if (told.total) [progress.max, progress.value] = [told.total, told.settled];
  else if (running) progress.removeAttribute("value");
  else [progress.max, progress.value] = [1, 1];
  const of = told.total ? ` of ${number.format(told.total)}` : "";
  byID("progress-text").textContent = `${number.format(told.downloaded + told.fresh + told.joined)}${of} covers`;
  byID("rate").textContent = told.coversPerSecond ? `${short.format(told.coversPerSecond)} covers/s` : "";
  byID("outcome").textContent = outcome(told);
  showFailures(told);
}

function outcome(told) {
  const counts = [
    ["downloaded", told.downloaded], ["here already", told.fresh + told.joined], ["without an address", told.skipped],
    ["failed", told.failed],
  ];
  const parts = counts.filter(([, count]) => count).map(([name, count]) => `${number.format(count)} ${name}`);
  if (told.bytes) parts.push(bytes(told.bytes));
  const left = (told.total - told.settled) * (told.seconds / told.settled);
  if (told.running && told.seconds > 2 && left > 1) parts.push(`about ${time(left)} left`);
  return parts.join(" · ");
}

function time(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${number.format(Math.round(seconds / 60))} min`;
}

function showFailures({ failures = [], failed }) {
  byID("failures-part").hidden = failures.length === 0;
  const all = failed === 1 ? "1 cover failed" : `${number.format(failed)} covers failed`;
  byID("failures-title").textContent = failed > failures.length ? `${all}, the last ${failures.length} are` : all;
  byID("failures").replaceChildren(...failures.map(failure));
}

function failure({ title, url, reason, cause }) {
  const add = (parent, name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const row = document.createElement("li");
  if (title) add(row, "strong", title);
  add(row, "span", sentence(reason));
  const more = document.createElement("details");
  add(more, "summary", "Details");
  if (cause) add(more, "p", sentence(cause));
  if (url) add(more, "p", url);
  if (more.children.length > 1) row.append(more);
  return row;
}

export function showCache({ entries, bytes: size, capacity }) {
  byID("cache-entries").textContent = number.format(entries);
  byID("cache-size").textContent = capacity ? `${bytes(size)} of ${bytes(capacity)}` : bytes(size);
}

/** @param {{url: string, waiting: number, problem: string | null} | null} remote */
export function showRemote(remote) {
  byID("remote-part").hidden = !remote;
  if (!remote) return;
  byID("remote-url").textContent = remote.url;
  const waiting = remote.waiting === 1 ? "1 change waits" : `${number.format(remote.waiting)} changes wait`;
  byID("remote-state").textContent = remote.waiting
    ? `${waiting} to be sent. Sleeve keeps trying.` : remote.problem ? "It refused a change." : "Up to date.";
  byID("remote-cause").hidden = !remote.problem;
  byID("remote-cause").querySelector("p").textContent = remote.problem ?? "";
}
