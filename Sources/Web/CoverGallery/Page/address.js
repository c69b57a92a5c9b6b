// The view and its place in the page's address, behind the number sign: `#view=wall&sort=artist&tile=168&album=…`. An address leads
// to its place, whatever this browser has saved, and the browser's Back button leads to the place before a change of view, a search or
// a jump. How far the view is scrolled is in the entry of the browser's history, which also outlives a reload.

import { byID } from "./helpers.js";

/**
 * @typedef {{view: string, sort: string, tile: number, album: string | null, index: number, position: number, show?: string, q: string}} Place
 *   index: the album's, in the library; position: of the view, as it gives it; show: the filter; q: the search
 */
const initial = { view: "scroller", sort: "library", show: "", q: "" };
/** An address may have any filter. */
const isFilter = (name) => [...byID("show").options].some(({ value }) => value === name);

/** The part of a place that the address has. @returns {Partial<Place>} */
export function readAddress() {
  if (location.hash.length < 2) return {};
  const { tile, ...named } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const { view, sort, show, q, album } = { ...initial, ...named };
  const position = history.state?.position;
  return { view, sort, show: isFilter(show) ? show : "", q, album, position, ...(Number(tile) > 0 && { tile: Number(tile) }) };
}

/** @param {Place} place */
export function writeAddress(place) {
  const hash = textOf(place), { position } = place;
  if (hash !== location.hash || position !== history.state?.position) history.replaceState({ position }, "", hash);
}

/** Begins a new entry of the browser's history. The former one keeps this place. @param {Place | null} place */
export function addStep(place) {
  if (!place) return;
  writeAddress(place);
  history.pushState(history.state, "", textOf(place));
}

/** @param {(place: Partial<Place>) => void} go the user went back or forth, or changed the address */
export function onBack(go) {
  addEventListener("popstate", () => go(readAddress()));
}

function textOf({ view, sort, show, q, tile, album }) {
  const all = { view, sort, show, q, tile: view === "wall" ? tile : "", album };
  return `#${new URLSearchParams(Object.entries(all).filter(([name, value]) => value && value !== initial[name]))}`;
}
