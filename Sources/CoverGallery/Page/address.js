// The view and its place in the page's address, behind the number sign: `#view=wall&sort=artist&tile=168&album=…`. An address leads
// to its place, whatever this browser has saved, and the browser's Back button leads to the place before a change of view or a jump.

/**
 * @typedef {{view: string, sort: string, tile: number, album: string | null, index: number, position: number, show?: string}} Place
 *   index: the album's, in the library; position: of the view, as it gives it; show: the filter
 */
const initial = { view: "scroller", sort: "library", show: "" };

/** The part of a place that the address has. @returns {Partial<Place>} */
export function readAddress() {
  if (location.hash.length < 2) return {};
  const { view = initial.view, sort = initial.sort, show = initial.show, tile, album } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return { view, sort, show, album, ...(Number(tile) > 0 && { tile: Number(tile) }) };
}

/** @param {Place} place */
export function writeAddress(place) {
  const hash = textOf(place);
  if (hash !== location.hash) history.replaceState(null, "", hash);
}

/** Begins a new entry of the browser's history. The former one keeps this place. @param {Place | null} place */
export function addStep(place) {
  if (!place) return;
  writeAddress(place);
  history.pushState(null, "", textOf(place));
}

/** @param {(place: Partial<Place>) => void} go the user went back or forth, or changed the address */
export function onBack(go) {
  addEventListener("popstate", () => go(readAddress()));
}

function textOf({ view, sort, show, tile, album }) {
  const all = { view, sort, show, tile: view === "wall" ? tile : "", album };
  return `#${new URLSearchParams(Object.entries(all).filter(([name, value]) => value && value !== initial[name]))}`;
}
