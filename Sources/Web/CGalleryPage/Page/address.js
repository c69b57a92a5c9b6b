// The view and its place in the page's address, behind the number sign: `#sort=artist&tile=168&album=…` for the wall, `#/album/ID?sort=artist` for an
// album on the stage, and `#/artist/NAME?view=stage&album=…` among the albums of an artist or a genre alone. An address leads to its place, whatever this browser has saved, and the browser's Back button leads to the place before a change of view, a search or
// a jump. How far the view is scrolled is in the entry of the browser's history, which also outlives a reload.

import { choicesOf } from "./menus.js";

/**
 * @typedef {{view: string, sort: string, tile: number, album: string | null, index: number, position: number, show?: string, q: string, page?: Page | null}} Place
 *   index: the album's, in the library; position: of the view, as it gives it; show: the filter; q: the search
 * @typedef {{field: "artist" | "genre", value: string}} Page whose albums alone are shown
 */
const initial = { view: "wall", sort: "library", show: "", q: "" };
/** An address may have any text. */
const isChoice = (name, value) => choicesOf(name).some((choice) => choice.value === value);

/** The part of a place that the address has. */
export function readAddress() {
  if (location.hash.length < 2) return {};
  const [, field, text = "", rest] = /^#(?:\/(artist|genre|album)\/([^?]*)\??)?(.*)$/.exec(location.hash) ?? [];
  const value = decoded(text), { tile, ...named } = Object.fromEntries(new URLSearchParams(rest));
  if (field === "album") Object.assign(named, { view: "stage", album: value });
  const page = field && field !== "album" ? { field, value } : null;
  const usual = initialOf(page), { view, sort, show, q, album } = { ...usual, ...named };
  const position = history.state?.position;
  return { view, sort: isChoice("sort", sort) ? sort : usual.sort, show: isChoice("show", show) ? show : "", q, page, album, position, ...(Number(tile) > 0 && { tile: Number(tile) }) };
}

/** The albums of a page are in the order of their years. */
const initialOf = (page) => (page ? { ...initial, sort: "year" } : initial);

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by a person
  }
}

export function writeAddress(place) {
  const hash = hashOf(place), { position } = place;
  if (hash !== location.hash || position !== history.state?.position) history.replaceState({ ...history.state, position }, "", hash);
}

/** Begins a new entry of the browser's history. The former one keeps this place. `isOverWall`: Back closes the album that it shows. */
export function addStep(place, isOverWall = false) {
  if (!place) return;
  writeAddress(place);
  history.pushState({ ...history.state, isOverWall }, "", hashOf(place));
}

/** The address of all albums in the view and the order in which they were shown last. */
export function hashOfAll(place) {
  const { view, sort } = document.body.dataset;
  return hashOf({ view, sort, ...place });
}

/** The address of a place, for a link. */
export function hashOf({ view, sort, show, q, page, tile, album }) {
  const isAlbum = view === "stage" && album && !page, named = isAlbum ? {} : { view, album };
  const all = { ...named, sort, show, q, tile: view === "wall" ? tile : "" }, usual = initialOf(page);
  const rest = new URLSearchParams(Object.entries(all).filter(([name, value]) => value && value !== usual[name]));
  if (isAlbum) return `#/album/${encodeURIComponent(album)}${rest.size ? `?${rest}` : ""}`;
  return page ? `#/${page.field}/${encodeURIComponent(page.value)}?${rest}` : `#${rest}`;
}
