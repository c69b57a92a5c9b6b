// The list of search results below the search field: the best albums, and the artists, genres and years to go to. The arrow keys go
// through it while the field keeps the focus.

import { byID, formatNumber } from "./helpers.js";
import { placesFor } from "./found.js";
import { coverPath } from "./stored-covers.js";

const field = byID("search"), list = byID("results");
const maximumAlbums = 6;

/**
 * @param {import("./library.js").Library} library @param {import("./covers.js").Covers} covers
 * @param {object} go
 * @param {(id: string) => void} go.album @param {(sort: string, value: string) => void} go.place
 * @param {() => void} go.done a result was taken
 */
export function setUpResults(library, covers, go) {
  let rows = [], at = -1;

  const hide = () => {
    list.hidden = true;
    list.replaceChildren();
    rows = [];
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (index) => {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = index;
    list.children[at]?.setAttribute("aria-selected", "true");
    if (list.children[at]) field.setAttribute("aria-activedescendant", list.children[at].id);
    else field.removeAttribute("aria-activedescendant");
  };
  const show = () => {
    if (!library.query.trim() || document.activeElement !== field) return hide();
    const albums = library.shown.slice(0, maximumAlbums).map(({ id, title, artist, year }) => (
      { id, title: title || "Untitled", more: [artist, year].filter(Boolean).join(" · "), run: () => go.album(id) }));
    const places = placesFor(library.prepareSearch(), library.query).map(({ sort, value, count }) => (
      { title: value, more: `${sort} · ${count === 1 ? "1 album" : `${formatNumber(count)} albums`}`, isPlace: true, run: () => go.place(sort, value) }));
    rows = [...albums, ...places];
    if (!rows.length) return hide();
    list.replaceChildren(...rows.map(element));
    for (const { id } of albums) paint(id);
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
    mark(albums.length ? 0 : -1); // the best match is chosen already
  };

  /** Shows the cover of an album that is listed, once it is known. */
  const paint = (covers.known = (id) => {
    const index = rows.findIndex((row) => row.id === id), name = index >= 0 && covers.smallestOf(id);
    if (name) list.children[index].querySelector("img").src = coverPath(name);
  });

  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      mark((at + step + rows.length) % rows.length);
      if (!rows[at].isPlace) rows[at].run();
    } else if (event.key === "Enter" && rows[at]) {
      event.preventDefault();
      take(rows[at]);
    }
  });
  const take = (row) => {
    row.run();
    hide();
    go.done();
  };
  // Without the default the field keeps the focus.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const row = rows[[...list.children].indexOf(event.target.closest("li"))];
    if (row) take(row);
  });
  field.addEventListener("blur", hide);
  return { show, hide };
}

function element({ title, more, isPlace }, index, all) {
  const row = document.createElement("li"), second = document.createElement("span");
  row.id = `result-${index}`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  [row.ariaPosInSet, row.ariaSetSize] = [String(index + 1), String(all.length)];
  row.classList.toggle("place", Boolean(isPlace));
  row.dir = "auto";
  second.textContent = more;
  row.append(title, " ", second);
  if (!isPlace) row.append(Object.assign(document.createElement("img"), { alt: "" }));
  return row;
}
