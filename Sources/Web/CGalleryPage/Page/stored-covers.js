// The covers in the browser's storage: those that were seen, in the size that was shown. The service worker's index says which album has
// which, by its name: its digest, and `?w=300` for a smaller picture.

import { storageName } from "./helpers.js";

/** The address of a cover, relative to the page's. */
export const coverPath = (name) => `covers/${name}`;
/** @param {HTMLImageElement} picture */
export const nameOf = (picture) => picture.currentSrc.split("/").at(-1);

/** The names of the stored covers, by album id. Empty if there are none, or the browser has no such storage. */
export async function storedNames() {
  const response = await globalThis.caches?.match("seen", { cacheName: storageName("sleeve-seen") }).catch(() => null);
  return new Map(await response?.json().catch(() => null) ?? []);
}
