// Searching. It tolerates one mistake: a letter that is wrong, missing, too much, or exchanged with the next one.

import { plain } from "./order.js";

/** @typedef {{title: string, artist: string, genre: string, year: string, text: string, words: string}} Row what is searched of an album */

/** The texts that `found` searches, by album. */
export function searchRows(albums) {
  return new Map(albums.map((album) => {
    const title = plain(album.title), artist = plain(album.artist), year = String(album.year);
    const genre = plain(album.genre), text = `${title} ${artist} ${genre}`;
    return [album, { title, artist, genre, year, text: `${text} ${year}`, words: ` ${text.replace(/[^\p{L}\p{N}]+/gu, " ")}` }];
  }));
}

/**
 * The albums that contain every word of a query, the best matches first, and after them those with one mistake. Equal matches keep
 * their order.
 * @param {Map<object, Row>} rows
 */
export function found(albums, rows, query) {
  const words = plain(query).split(/\s+/).filter(Boolean), phrase = words.join(" ");
  const ranks = Array.from({ length: 8 }, () => []), near = words.map(nearTest);
  for (const album of albums) {
    const row = rows.get(album), missing = words.flatMap((word, index) => (row.text.includes(word) ? [] : index));
    if (!missing.length) ranks[rank(row, words, phrase)].push(album);
    else if (missing.length === 1 && near[missing[0]](row)) ranks[7].push(album);
  }
  return ranks.flat();
}

/** 0: the title, 1: the beginning of the title, 2, 3: the same of the artist, 4: beginnings of words, 5: the year, 6: other matches. */
function rank({ title, artist, year, words: known }, words, phrase) {
  if (title.startsWith(phrase)) return title.length === phrase.length ? 0 : 1;
  if (artist.startsWith(phrase)) return artist.length === phrase.length ? 2 : 3;
  if (words.every((word) => known.includes(` ${word}`))) return 4;
  return year === phrase ? 5 : 6;
}

/** Whether a word of an album begins like the given one but for one mistake. A number has no mistakes, and a short word too many. */
function nearTest(word) {
  if (word.length < 4 || !/^\p{L}+$/u.test(word)) return () => false;
  const known = new Map(); // many albums share their words
  const isNearWord = (other) => {
    let is = known.get(other);
    if (is === undefined) known.set(other, (is = isNear(word, other)));
    return is;
  };
  return (row) => row.words.split(" ").some(isNearWord);
}

/** Whether one mistake makes `word` the beginning of `other`. */
export function isNear(word, other) {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same += 1;
  const rest = (from) => word.slice(same + from);
  return same === word.length || other.startsWith(rest(1), same + 1) || other.startsWith(rest(1), same) || other.startsWith(rest(0), same + 1)
    || (word[same] === other[same + 1] && word[same + 1] === other[same] && other.startsWith(rest(2), same + 2));
}

/**
 * The artists, genres and years that a query begins or names, those with the most albums first.
 * @returns {{sort: string, value: string, count: number}[]} at most two
 */
export function placesFor(rows, query) {
  const phrase = plain(query).trim(), places = new Map();
  if (phrase.length < 2) return [];
  for (const [album, row] of rows) {
    for (const sort of ["artist", "genre", "year"]) {
      if (!row[sort].startsWith(phrase)) continue;
      const key = `${sort} ${row[sort]}`, place = places.get(key);
      if (place) place.count += 1;
      else places.set(key, { sort, value: String(album[sort]), count: 1 });
    }
  }
  return [...places.values()].sort((one, other) => other.count - one.count).slice(0, 2);
}
