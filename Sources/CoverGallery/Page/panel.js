// The panel: a running prefetch, what failed, and what the cache holds.

import { ask } from "./api.js";
import { addSample, clearPlot } from "./plot.js";

const byID = (id) => document.getElementById(id);
const [panel, toggle, button, progress] = ["panel", "panel-toggle", "prefetch", "progress"].map(byID);
const number = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
const moment = 0.2; // seconds
let running = false, seconds = Infinity, downloaded = 0;

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
  if (told.seconds < seconds) {
    // Another one began.
    clearPlot();
    [seconds, downloaded] = [0, 0];
  }
  running = told.running;
  // The plot shows the speed of each moment; the number beside it is the run's. Less than a moment says nothing.
  if (told.seconds - seconds >= moment || (!running && seconds === 0)) {
    addSample(told.seconds, (told.downloaded - downloaded) / (told.seconds - seconds));
    ({ seconds, downloaded } = told);
  }
  toggle.classList.toggle("running", running);
  button.textContent = running ? "Stop" : "Fetch all covers";
  byID("prefetch-now").hidden = false;
  if (told.total) [progress.max, progress.value] = [told.total, told.settled];
  else if (running) progress.removeAttribute("value");
  else [progress.max, progress.value] = [1, 1];
  const of = told.total ? ` of ${number.format(told.total)}` : "";
  byID("progress-text").textContent = `${number.format(told.downloaded + told.fresh + told.joined)}${of} covers`;
  byID("rate").textContent = `${short.format(told.coversPerSecond)} covers/s`;
  byID("outcome").textContent = outcome(told);
  showFailures(told);
}

function outcome(told) {
  const counts = [["downloaded", told.downloaded], ["fresh", told.fresh + told.joined], ["skipped", told.skipped], ["failed", told.failed]];
  const parts = counts.filter(([, count]) => count).map(([name, count]) => `${number.format(count)} ${name}`);
  const size = told.running ? `${bytes(told.bytes)} at ${bytes(told.bytesPerSecond)}/s` : bytes(told.bytes);
  return [...parts, size, `${told.seconds.toFixed(1)} s`].join(" · ");
}

function showFailures({ failures = [], failed }) {
  byID("failures-part").hidden = failures.length === 0;
  byID("failures-title").textContent = failed > failures.length ? `The last ${failures.length} of ${number.format(failed)} failures` : "Failures";
  const rows = failures.map(({ title, url, reason }) => {
    const row = document.createElement("li"), why = document.createElement("strong"), where = document.createElement("span");
    why.textContent = title ? `${title}: ${reason}` : reason;
    where.textContent = url;
    row.append(why, where);
    return row;
  });
  byID("failures").replaceChildren(...rows);
}

export function showCache({ entries, bytes: size, capacity, hits, misses }) {
  byID("cache-entries").textContent = number.format(entries);
  byID("cache-size").textContent = capacity ? `${bytes(size)} of ${bytes(capacity)}` : bytes(size);
  byID("hit-rate").textContent = hits + misses ? percent.format(hits / (hits + misses)) : "–";
}

/** @param {{url: string, waiting: number, problem: string | null} | null} remote */
export function showRemote(remote) {
  byID("remote-part").hidden = !remote;
  if (!remote) return;
  byID("remote-url").textContent = remote.url;
  const waiting = remote.waiting === 1 ? "1 change waits" : `${number.format(remote.waiting)} changes wait`;
  byID("remote-state").textContent = remote.problem ?? (remote.waiting ? `${waiting} to be sent` : "up to date");
}
