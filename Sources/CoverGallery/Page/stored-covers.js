// The covers in the browser's storage: those that were seen, and all of them if the user wants that. A cover lies under its digest;
// an index says which album has which.

import { storageName } from "./helpers.js";

export const keptCache = storageName("sleeve-kept"), keptIndex = "kept";
const seenCache = storageName("sleeve-seen"), seenIndex = "seen";

/** The address of a cover, relative to the page's. */
export const coverPath = (digest) => `covers/${digest}`;

/** The kept covers: id → {digest, bytes}. */
export const keptCovers = () => readIndex(keptCache, keptIndex);

/** The digests of all stored covers: id → digest. */
export async function storedDigests() {
  const [seen, kept] = await Promise.all([readIndex(seenCache, seenIndex), keptCovers()]);
  for (const [id, { digest }] of kept) seen.set(id, digest);
  return seen;
}

/** Empty if there is none, or the browser has no such storage. */
async function readIndex(cacheName, path) {
  const response = await globalThis.caches?.match(path, { cacheName }).catch(() => null);
  return new Map(await response?.json().catch(() => null) ?? []);
}
