// The page of an artist or a genre: its name above its albums, and the way back to all albums.

import { hashOfAll } from "./address.js";
import { byID, counted } from "./helpers.js";

const head = byID("page");

export function setUpPage(library, gallery) {
  /** The list or the chosen album changed. */
  const follow = () => {
    const { page, albums } = library;
    head.hidden = !page;
    document.body.classList.toggle("of-page", Boolean(page));
    byID("leave-page").hidden = !library.query.trim();
    if (!page) document.body.dataset.sort = library.sort;
    document.body.dataset.caption = page?.field === "artist" || library.sort === "year" ? "year" : library.sort === "genre" ? "genre" : "artist";
    if (!page) return;
    const all = albums.filter((album) => album[page.field] === page.value);
    const years = all.map(({ year }) => Number.parseInt(year, 10)).filter(Boolean), [first, last] = [Math.min(...years), Math.max(...years)];
    const time = !years.length ? "" : first === last ? ` · ${first}` : ` · ${first}–${last}`;
    byID("page-name").textContent = page.value;
    byID("page-name").classList.toggle("long", page.value.length > 60);
    byID("page-count").textContent = counted(all.length, "album") + time;
  };
  /** Goes back to all albums; false if they are shown. */
  const leave = () => {
    if (!library.page) return false;
    location.hash = hashOfAll({ album: gallery.album?.id });
    gallery.focus();
    return true;
  };
  return { follow, leave };
}
