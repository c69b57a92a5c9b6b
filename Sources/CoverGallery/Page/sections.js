// The places in a sorted list: where each artist, genre or year begins, and the letters or decades of the rail.

import { plain } from "./order.js";

/** @typedef {{label: string, index: number, count: number}} Place the first album's index, and how many there are */

const fields = { artist: "artist", title: "title", genre: "genre", year: "year" };
const unnamed = { artist: "No artist", title: "Untitled", genre: "No genre", year: "No year" };

/**
 * @param {import("./library.js").Album[]} albums in order @param {string} sort
 * @returns {{marks: Place[], places: Place[]}} empty if the list has no such order
 */
export function sectionsOf(albums, sort) {
  const field = fields[sort];
  if (!field) return { marks: [], places: [] };
  const marks = runs(albums, (album) => markOf(album[field], sort));
  const places = sort === "title" ? marks : runs(albums, (album) => String(album[field]).trim() || unnamed[sort]);
  return { marks, places };
}

/** The mark of a title or a name: its first letter without diacritics, or # for digits and signs. Of a year: its decade. */
function markOf(value, sort) {
  if (sort === "year") return Number.parseInt(value, 10) ? `${Math.floor(Number.parseInt(value, 10) / 10)}0` : "–";
  const [first = "–"] = plain(String(value).trim());
  return /\p{L}/u.test(first) ? first.toUpperCase() : first === "–" ? first : "#";
}

/** Albums beside each other with the same label, whatever its case and diacritics. */
function runs(albums, labelOf) {
  const found = [];
  let last = null;
  for (const [index, album] of albums.entries()) {
    const label = labelOf(album);
    if (last && (label === last.label || plain(label) === last.key)) last.count += 1;
    else found.push((last = { label, key: plain(label), index, count: 1 }));
  }
  return found;
}
