// Sorting and searching. Ten thousand albums are sorted in some tens of milliseconds, once, and searched in two or three.

const collator = new Intl.Collator(undefined, { sensitivity: "base", numeric: true });

/** Letters without their marks, in lower case: “emile” finds “Émile”. */
const plain = (text) => text.normalize("NFD").replace(/\p{M}+/gu, "").toLowerCase();

/** What an album is sorted by, the most important first. Undated albums come last. */
const keys = {
  title: (album) => [album.title, album.artist],
  artist: (album) => [album.artist, String(album.year || "9999"), album.title],
  year: (album) => [String(album.year || "9999"), album.artist, album.title],
};

/** @param {import("./library.js").Album[]} albums */
export function ordered(albums, sort) {
  const key = keys[sort];
  if (!key) return albums;
  const rows = albums.map((album) => ({ album, parts: key(album) }));
  rows.sort((one, other) => {
    for (let n = 0; n < one.parts.length; n++) {
      // Most neighbours are told apart, or found equal, without asking the collator, which is the slow part.
      if (one.parts[n] === other.parts[n]) continue;
      const way = collator.compare(one.parts[n], other.parts[n]);
      if (way) return way;
    }
    return 0;
  });
  return rows.map((row) => row.album);
}

/** What each album is found by. */
export function haystacks(albums) {
  return new Map(albums.map((album) => [album, plain(`${album.title}\n${album.artist}\n${album.genre}\n${album.year}`)]));
}

/** The albums that have every word of a query somewhere. */
export function matching(albums, haystack, query) {
  const words = plain(query).split(/\s+/).filter(Boolean);
  return albums.filter((album) => {
    const text = haystack.get(album);
    return words.every((word) => text.includes(word));
  });
}
