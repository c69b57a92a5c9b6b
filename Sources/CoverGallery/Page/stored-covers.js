// The covers in the browser's storage: those that were seen, in the size that was shown, and all of them, in one size, if the user wants
// that. An index says which album has which, by its name: its digest, and `?w=300` for a smaller picture.

import { storageName } from "./helpers.js";

export const keptCache = storageName("sleeve-kept"), keptIndex = "kept";
const seenCache = storageName("sleeve-seen"), seenIndex = "seen";

/** The address of a cover, relative to the page's. */
export const coverPath = (name) => `covers/${name}`;
/** @param {HTMLImageElement} picture */
export const nameOf = (picture) => picture.currentSrc.split("/").at(-1);

/** The name of a kept cover: the step that the scroller shows, and a wall on a screen of twice the pixels. */
export const keptName = (digest) => `${digest}?w=600`;

/** The kept covers: id → {name, bytes}. */
export const keptCovers = () => readIndex(keptCache, keptIndex);

/** The names of all stored covers, by album id. */
export async function storedNames() {
  const [seen, kept] = await Promise.all([readIndex(seenCache, seenIndex), keptCovers()]);
  for (const [id, { name }] of kept) seen.set(id, name);
  return seen;
}

/** Empty if there is none, or the browser has no such storage. */
async function readIndex(cacheName, path) {
  const response = await globalThis.caches?.match(path, { cacheName }).catch(() => null);
  return new Map(await response?.json().catch(() => null) ?? []);
}
