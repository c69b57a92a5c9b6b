// Searching. It tolerates one mistake: a letter that is wrong, missing, too much, or exchanged with the next one, or a missing space.

import { keyOf, plain } from "./order.js";

/**
 * @typedef {{title: string, artist: string, titleKey: string, artistKey: string, year: string, text: string, words: string,
 *   joined: string}} Row what is searched of an album; keys: without articles; words: without punctuation; joined: and without spaces
 */

const spaced = (text) => text.replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/** The texts that `found` searches, by album. */
export function searchRows(albums) {
  return new Map(albums.map((album) => {
    const title = plain(album.title), artist = plain(album.artist), year = String(album.year), genre = plain(album.genre);
    const titleKey = plain(keyOf(album, "title")), artistKey = plain(keyOf(album, "artist"));
    const fields = [title, artist, genre].map(spaced), joined = fields.map((field) => field.replaceAll(" ", "")).join(" ");
    return [album, { title, artist, titleKey, artistKey, year, text: `${title} ${artist} ${genre} ${year}`, words: ` ${fields.join(" ")}`, joined }];
  }));
}

/** The albums with every word of a query, the best matches first, after them those with one mistake. Equal matches keep their order. */
export function found(albums, rows, query) {
  const words = plain(query).split(/\s+/).filter(Boolean), phrase = words.join(" "), parts = words.map((word) => spaced(word) || word);
  const ranks = Array.from({ length: 8 }, () => []), near = words.map(nearTest);
  for (const album of albums) {
    const row = rows.get(album), isMissing = (word, index) => !row.text.includes(word) && !row.words.includes(parts[index]);
    const missing = words.flatMap((word, index) => (isMissing(word, index) ? index : []));
    if (!missing.length) ranks[rank(row, words, phrase)].push(album);
    else if (missing.length === 1 && near[missing[0]](row)) ranks[7].push(album);
  }
  return ranks.flat();
}

/** 0: the title, 1: the beginning of the title, 2, 3: the same of the artist, 4: beginnings of words, 5: the year, 6: other matches. */
function rank({ title, artist, titleKey, artistKey, year, words: known }, words, phrase) {
  if (title === phrase || titleKey === phrase) return 0;
  if (title.startsWith(phrase) || titleKey.startsWith(phrase)) return 1;
  if (artist === phrase || artistKey === phrase) return 2;
  if (artist.startsWith(phrase) || artistKey.startsWith(phrase)) return 3;
  if (words.every((word) => known.includes(` ${word}`))) return 4;
  return year === phrase ? 5 : 6;
}

/** Whether a word of an album begins like the given one but for one mistake. A number has no mistakes, and a short word too many. */
function nearTest(word) {
  if (word.length < 3 || !/^\p{L}+$/u.test(word)) return () => false;
  const known = new Map(); // many albums share their words
  const isNearWord = (other) => {
    let is = known.get(other);
    if (is === undefined) known.set(other, (is = isNear(word, other)));
    return is;
  };
  return (row) => row.words.split(" ").some(isNearWord) || (word.length > 3 && row.joined.includes(word));
}

/** Whether one mistake makes `word` the beginning of `other`; the whole of it if there are three letters, which many words begin with. */
export function isNear(word, other) {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same += 1;
  const fits = (from, at) => {
    const rest = word.slice(same + from);
    return other.startsWith(rest, same + at) && (word.length > 3 || other.length === same + at + rest.length);
  };
  return (same === word.length && word.length > 3) || fits(1, 1) || fits(1, 0) || fits(0, 1)
    || (word[same] === other[same + 1] && word[same + 1] === other[same] && fits(2, 2));
}
