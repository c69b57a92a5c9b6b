// The marks of a sorted list: where each letter or decade begins.

import { keyOf, plain } from "./order.js";

/**
 * @param {import("./library.js").Album[]} albums in order @param {string} sort
 * @returns {{label: string, index: number}[]} the first album's index; empty if the list has no such order
 */
export function marksOf(albums, sort) {
  if (sort === "library") return [];
  const marks = [], values = albums.map((album) => markOf(keyOf(album, sort), sort));
  // The few in scripts without cases are one group; of Chinese characters each would be one.
  const isFew = values.filter(isCaseless).length < albums.length / 2;
  for (const [index, value] of values.entries()) {
    const label = /\p{sc=Han}/u.test(value) || (isFew && isCaseless(value)) ? "…" : value;
    const known = marks.findLastIndex((mark) => mark.label === label);
    // A letter that is sorted among another's, as Æ among those of A, is no group.
    if (known >= 0) marks.length = known + 1;
    else marks.push({ label, index });
  }
  return marks;
}

const isCaseless = (mark) => /\p{Lo}/u.test(mark);

/** The mark of a title or a name: its first letter without diacritics, or # for digits and signs. Of a year: its decade. */
function markOf(value, sort) {
  if (sort === "year") return Number.parseInt(value, 10) ? `${Math.floor(Number.parseInt(value, 10) / 10)}0` : "–";
  const [first = "–"] = plain(String(value).trim().slice(0, 4));
  return /\p{L}/u.test(first) ? first.toUpperCase() : first === "–" ? first : "#";
}
