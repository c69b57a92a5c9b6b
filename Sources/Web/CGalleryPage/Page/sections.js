// The marks of a sorted list: where each letter or decade begins.

import { keyOf, plain } from "./order.js";

/**
 * @param {import("./library.js").Album[]} albums in order @param {string} sort
 * @returns {{label: string, index: number}[]} the first album's index; empty if the list has no such order
 */
export function marksOf(albums, sort) {
  if (sort === "library") return [];
  const marks = [];
  for (const [index, album] of albums.entries()) {
    const label = markOf(keyOf(album, sort), sort);
    if (label !== marks.at(-1)?.label) marks.push({ label, index });
  }
  return marks;
}

/** The mark of a title or a name: its first letter without diacritics, or # for digits and signs. Of a year: its decade. */
function markOf(value, sort) {
  if (sort === "year") return Number.parseInt(value, 10) ? `${Math.floor(Number.parseInt(value, 10) / 10)}0` : "–";
  const [first = "–"] = plain(String(value).trim());
  return /\p{L}/u.test(first) ? first.toUpperCase() : first === "–" ? first : "#";
}
