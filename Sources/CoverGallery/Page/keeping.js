// All covers in this browser, with the person's consent, so that the whole library is there without the server. The service
// worker stores them; this asks it to, a few at a time, and says how far it is and how much they take.

import { ask, sentence } from "./api.js";
import { bytes } from "./panel.js";

const byID = (id) => document.getElementById(id);
const [box, hint, state, bar, remove] = ["keep", "keep-hint", "kept-state", "kept-progress", "kept-remove"].map(byID);
const number = new Intl.NumberFormat();
const workers = navigator.serviceWorker;
const consent = "sleeve-keep-all", keptCache = "sleeve-kept", keptIndex = "/kept";
/** Covers per message; the worker answers one within seconds. */
const batch = 48;
/** The limit in bytes; it is lower where the browser has less room. */
const maximumBytes = 2 * 1024 ** 3;
/** A cover's size before any is known, and how long a worker may take for a batch, in milliseconds. */
const typical = 60 * 1024, readTimeout = 60_000;
/** Milliseconds without a change before changes are followed. */
const delay = 1500;
let library = null, mean = typical, timer = 0, running = null, again = false;

/** @param {import("./library.js").Library} from */
export function setUpKeeping(from) {
  library = from;
  if (!workers || !globalThis.caches) {
    box.disabled = true;
    hint.textContent = "This browser can’t keep covers at this address. Open Sleeve over HTTPS, or as localhost on its own computer.";
    return;
  }
  box.checked = read() === "yes";
  box.addEventListener("change", () => {
    write(box.checked ? "yes" : "no");
    if (!box.checked) return void showKept();
    navigator.storage?.persist?.(); // asks some people, and may be refused
    keepAll();
  });
  remove.addEventListener("click", async () => {
    box.checked = false;
    write("no");
    await running;
    await caches.delete(keptCache);
    box.focus();
    showKept();
  });
  showSize();
  showKept();
}

/** Estimates the size of all covers from those in the server's cache. */
export function learnSizes({ entries, bytes: size }) {
  if (entries) mean = size / entries;
  showSize();
}

/** Keeps new covers, after a moment, if the person has consented. */
export function keepSoon() {
  if (!box.checked) return;
  clearTimeout(timer);
  timer = setTimeout(keepAll, delay);
}

function keepAll() {
  clearTimeout(timer);
  again = Boolean(running);
  running ??= keep()
    .catch((problem) => say(`Not all covers could be kept: ${problem.message}`))
    .finally(() => {
      running = null;
      if (again && box.checked) keepAll();
    });
}

async function keep() {
  const { covers } = await ask("GET", "/api/covers");
  const wanted = Object.entries(covers).map(([id, { version, bytes }]) => ({ id, version, bytes }));
  let index = await readIndex();
  const there = new Set(library.albums.map((album) => album.id));
  const drop = [...index.keys()].filter((id) => !there.has(id));
  const store = wanted.filter(({ id, version }) => index.get(id)?.version !== version);
  const limit = await room(index);
  for (let start = 0; box.checked && (start < store.length || (start === 0 && drop.length)); start += batch) {
    show(index, store.length - start);
    const { isFull } = await tell({ store: store.slice(start, start + batch), drop: start ? [] : drop, limit });
    index = await readIndex();
    if (isFull) return show(index, 0, limit);
  }
  show(index, 0);
}

/** How many bytes may be kept in all: a fifth of the free room stays free. */
async function room(index) {
  const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  return Math.min(maximumBytes, size(index) + 0.8 * Math.max(0, quota - usage));
}

/** Sends the worker a message and waits for its answer. */
function tell(message) {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the browser takes too long")), readTimeout);
    port1.onmessage = ({ data }) => {
      clearTimeout(late);
      data.problem ? reject(new Error(data.problem)) : resolve(data);
    };
    // A browser that has refused the worker is never ready.
    workers.ready.then(({ active }) => active.postMessage({ keep: message }, [port2]));
  });
}

async function readIndex() {
  const kept = await caches.match(keptIndex, { cacheName: keptCache });
  return new Map(kept ? await kept.json() : []);
}

function size(index) {
  let sum = 0;
  for (const { bytes } of index.values()) sum += bytes;
  return sum;
}

async function showKept() { show(await readIndex(), 0); }

/** @param {number} left still to be stored @param {number} [limit] more than this did not fit */
function show(index, left, limit) {
  const all = library.coverCount, kept = `${number.format(index.size)} of ${number.format(all)} covers, ${bytes(size(index))}.`;
  bar.hidden = !left;
  [bar.max, bar.value] = [Math.max(1, all), index.size];
  remove.hidden = !index.size;
  if (left) say(`Keeping: ${kept}`);
  else if (limit) say(`Kept: ${kept} No more than ${bytes(limit)} fit in this browser.`);
  else if (box.checked && index.size < all) say(`Kept: ${kept} ${number.format(all - index.size)} not in Sleeve’s cache yet.`);
  else say(index.size ? `Kept: ${kept}` : "");
}

function say(text) {
  if (state.textContent !== text) state.textContent = sentence(text);
}

function showSize() {
  if (box.disabled) return;
  const all = library.coverCount * mean, limited = all > maximumBytes ? `; at most ${bytes(maximumBytes)} are kept` : "";
  hint.textContent = `For seeing the whole library when Sleeve isn’t running. Takes about ${bytes(all)} on this device${limited}.`;
}

function read() {
  try {
    return localStorage.getItem(consent);
  } catch {
    return null;
  }
}

function write(text) {
  try {
    localStorage.setItem(consent, text);
  } catch {
    // Storage is full or forbidden: asked again the next time.
  }
}
