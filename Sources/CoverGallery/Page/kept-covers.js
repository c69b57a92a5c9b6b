// Keeps all covers in this browser, if the user wants that, so that the whole library is available without the server: in a size that
// is enough for every view, as the originals of a library may be gigabytes. The service worker answers requests from them.

import { ask } from "./api.js";
import { byID, formatBytes, formatNumber, readStored, sentence, store } from "./helpers.js";
import { coverPath, keptCache, keptCovers, keptIndex, keptName } from "./stored-covers.js";

const [box, hint, state, bar, remove] = ["keep", "keep-hint", "kept-state", "kept-progress", "kept-remove"].map(byID);
const workers = navigator.serviceWorker;
const consent = "sleeve-keep-all";
/** How many covers are stored between two updates of the index. */
const batchSize = 48;
/** In bytes; lower where the browser has less room. */
const maximumSize = 2 * 1024 ** 3;
/** The size of a kept cover in bytes. */
const typicalSize = 60 * 1024;
const changeDelay = 1500; // milliseconds
let library = null, meanSize = typicalSize, timer = 0, running = null, again = false;

/** @param {import("./library.js").Library} from */
export function setUpKeptCovers(from) {
  library = from;
  if (!workers || !globalThis.caches) {
    box.disabled = true;
    hint.textContent = "This browser can’t keep covers at this address. Open Sleeve over HTTPS, or as localhost on its own computer.";
    return;
  }
  box.checked = readStored(consent) === "yes";
  box.addEventListener("change", () => {
    store(consent, box.checked ? "yes" : "no");
    if (!box.checked) return void showKept();
    navigator.storage?.persist?.(); // may ask the user, and may be refused
    keepAll();
  });
  remove.addEventListener("click", async () => {
    box.checked = false;
    store(consent, "no");
    await running;
    await caches.delete(keptCache);
    box.focus();
    showKept();
  });
  showSize();
  showKept();
}

/** Estimates the size of all covers from those in the server's cache: kept ones are smaller, unless the originals are small. */
export function updateSizes({ entries, bytes }) {
  if (entries) meanSize = Math.min(typicalSize, bytes / entries);
  showSize();
}

/** Keeps new covers after a delay, if the user has consented. */
export function keepSoon() {
  if (!box.checked) return;
  clearTimeout(timer);
  timer = setTimeout(keepAll, changeDelay);
}

function keepAll() {
  clearTimeout(timer);
  again = Boolean(running);
  // One page at a time: each reads the index and writes it again.
  running ??= navigator.locks.request(keptCache, keep)
    .catch((problem) => say(`Not all covers could be kept: ${problem.message}`))
    .finally(() => {
      running = null;
      if (again && box.checked) keepAll();
    });
}

/** Stores the server's cached covers that are missing here, and drops those that no album has any more. */
async function keep() {
  const { covers } = await ask("GET", "api/covers");
  const cache = await caches.open(keptCache), index = await keptCovers();
  const ids = new Set(library.albums.map((album) => album.id));
  const deleted = [...index.keys()].filter((id) => !ids.has(id));
  for (const id of deleted) index.delete(id);
  const missing = Object.entries(covers).map(([id, { digest }]) => [id, keptName(digest)]).filter(([id, name]) => index.get(id)?.name !== name);
  const isObsolete = deleted.length > 0 || missing.some(([id]) => index.has(id));
  const limit = await maximumTotal(index);
  let isFull = false;
  for (let start = 0; box.checked && !isFull && start < missing.length; start += batchSize) {
    show(index, missing.length - start);
    isFull = await storeBatch(missing.slice(start, start + batchSize), cache, index, limit);
  }
  await writeIndex(cache, index);
  if (isObsolete) await dropObsolete(cache, index);
  show(index, 0, isFull ? limit : undefined);
}

/** Removes the covers that the index does not name. */
async function dropObsolete(cache, index) {
  const names = new Set([...index.values()].map(({ name }) => name)).add(keptIndex);
  const obsolete = (await cache.keys()).filter(({ url }) => !names.has(url.split("/").at(-1)));
  await Promise.all(obsolete.map((request) => cache.delete(request)));
}

/** Covers that cannot be fetched are missing the next time. @returns {Promise<boolean>} whether the limit was reached */
async function storeBatch(covers, cache, index, limit) {
  let total = size(index), isFull = false;
  const outcomes = await Promise.allSettled(covers.map(async ([id, name]) => {
    const path = coverPath(name), response = await fetch(path, { priority: "low" });
    if (!response.ok || response.redirected) return;
    const stored = response.clone(), { size: bytes } = await response.blob(), grown = total + bytes - (index.get(id)?.bytes ?? 0);
    if (grown > limit) return void (isFull = true);
    total = grown;
    await cache.put(path, stored);
    index.set(id, { name, bytes });
  }));
  await writeIndex(cache, index);
  if (outcomes.some(({ reason }) => reason?.name === "QuotaExceededError")) throw new Error("this browser has no more room");
  return isFull;
}

/** How many bytes may be kept in all: a fifth of the free room stays free. */
async function maximumTotal(index) {
  const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  return Math.min(maximumSize, size(index) + 0.8 * Math.max(0, quota - usage));
}

function writeIndex(cache, index) {
  return cache.put(keptIndex, new Response(JSON.stringify([...index])));
}

function size(index) {
  let sum = 0;
  for (const { bytes } of index.values()) sum += bytes;
  return sum;
}

async function showKept() { show(await keptCovers(), 0); }

/** @param {number} left how many are still to be stored @param {number} [limit] the limit in bytes, if it was reached */
function show(index, left, limit) {
  const all = library.coverCount;
  const kept = `${formatNumber(index.size)} of ${formatNumber(all)} covers, ${formatBytes(size(index))}.`;
  bar.hidden = !left;
  [bar.max, bar.value] = [Math.max(1, all), index.size];
  remove.hidden = !index.size;
  if (left) say(`Keeping: ${kept}`);
  else if (limit) say(`Kept: ${kept} No more than ${formatBytes(limit)} fit in this browser.`);
  else if (box.checked && index.size < all) say(`Kept: ${kept} ${formatNumber(all - index.size)} not in Sleeve’s cache yet.`);
  else say(index.size ? `Kept: ${kept}` : "");
}

function say(text) {
  if (state.textContent !== text) state.textContent = sentence(text);
}

function showSize() {
  if (box.disabled) return;
  const all = library.coverCount * meanSize;
  const limited = all > maximumSize ? `; at most ${formatBytes(maximumSize)} are kept` : "";
  hint.textContent = `For seeing the whole library when Sleeve isn’t running. Takes about ${formatBytes(all)} on this device${limited}.`;
}
