// Typing letters while the list has the focus chooses the next album that begins with them: its artist if the list is in the order of
// artists, else its title; else the other of both, else one of their words. The same letter again goes on to the next such album.

import { plain } from "./order.js";

/** A pause in typing begins a new word, in milliseconds. */
const pause = 1000;
const main = document.querySelector("main");

export function typeAhead(library, gallery) {
  let typed = "", timer = 0;

  /** False if the character is not taken. */
  return (character) => {
    if (!library.shown.length || (character === " " && !typed)) return false;
    typed += character;
    clearTimeout(timer);
    timer = setTimeout(() => {
      typed = "";
      delete main.dataset.typed;
    }, pause);
    main.dataset.typed = typed; // the style sheet shows it
    const index = next(library, gallery, plain(typed));
    if (index >= 0) gallery.choose(library.shown[index].id);
    return true;
  };
}

function next(library, gallery, text) {
  const { shown } = library, here = gallery.album ? library.shownIndexOf(gallery.album.id) : 0;
  const isRepeated = text.length > 1 && [...text].every((letter) => letter === text[0]);
  const rows = library.prepareSearch();
  const fields = library.sort === "artist" ? ["artist", "title"] : ["title", "artist"];
  // First as they are ordered, then with their articles.
  const tests = [...fields.map((field) => `${field}Key`), ...fields].map((field) => (start) => (row) => row[field].startsWith(start));
  tests.push((start) => (row) => row.words.includes(` ${start}`));
  /** The first match from here on, round the end of the list. */
  const find = (test, from) => {
    for (let n = 0; n < shown.length; n++) if (test(rows.get(shown[(from + n) % shown.length]))) return (from + n) % shown.length;
    return -1;
  };
  for (const test of tests) {
    // The album that is chosen may stay while its name is typed; a single letter goes on.
    const index = find(test(text), text.length === 1 ? here + 1 : here);
    if (index >= 0) return index;
    if (isRepeated && find(test(text[0]), here + 1) >= 0) return find(test(text[0]), here + 1);
  }
  return -1;
}
