// What is shown instead of the covers when there are none.

import { byID } from "./helpers.js";

const empty = byID("empty");
const texts = {
  none: ["No albums yet", "Sleeve finds the covers of a folder of music, of a list of albums, or of one album that you add."],
  unfound: ["Nothing found", "No title, artist, genre or year has all of these words."],
  elsewhere: ["Nothing found here", "None of these albums has all of these words."],
  bare: ["No albums", "The library has none of this name."],
  filtered: ["All done", "No cover needs your attention here."],
  away: ["Sleeve isn’t running", "Start it, or check your connection. The albums appear as soon as it answers."],
};

/** @param {keyof typeof texts | null} kind null: there are covers @param {string} [detail] instead of the usual text */
export function showEmpty(kind, detail) {
  empty.hidden = !kind;
  document.body.dataset.empty = kind ?? "";
  if (!kind) return;
  const [title, text] = texts[kind];
  empty.querySelector("h2").textContent = title;
  empty.querySelector("p").textContent = detail ?? text;
}

/** The button that gets the focus; null if there is none. */
export function emptyButton() {
  return empty.hidden ? null : [...empty.querySelectorAll("button")].find((button) => button.checkVisibility()) ?? null;
}
