// The search field and the sort order.

import { byID } from "./helpers.js";
import { setUpResults } from "./results.js";

const field = byID("search"), sort = byID("sort");
let clear = () => {};

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery @param {import("./covers.js").Covers} covers */
export function setUpSearch(library, gallery, covers) {
  let start = null; // the album that was chosen when the search began

  /** Shows the matching albums. @param {() => string | null | undefined} choose the album to choose; by default the chosen one stays */
  const apply = (choose = () => undefined) => {
    if (field.value.trim() && !library.query.trim()) {
      start = gallery.album?.id ?? null;
      gallery.leaves();
    }
    library.query = field.value;
    library.sort = sort.value || "library";
    sort.value = library.sort;
    if (!library.version) return;
    library.arrange();
    gallery.refresh(choose() ?? undefined);
    results.show();
  };
  const results = setUpResults(library, covers, {
    album: (id) => gallery.show(id),
    place: (order, value) => {
      gallery.leaves();
      [field.value, sort.value, library.page] = ["", order, null];
      library.filterBy("");
      apply(() => library.shown.find((album) => String(album[order]) === value)?.id);
      gallery.goTo(library.shownIndexOf(gallery.album?.id));
    },
    done: () => gallery.focus(),
  });
  clear = () => {
    field.value = "";
    apply(() => start);
  };
  const back = () => {
    if (!field.value) return false;
    clear();
    return true;
  };
  field.addEventListener("focus", () => (library.prepareSearch(), results.show()));
  // A query chooses the best match. When the field is emptied by hand, the chosen album stays.
  field.addEventListener("input", () => {
    const here = gallery.album?.id ?? start;
    apply(() => (field.value.trim() ? library.shown[0]?.id : here));
  });
  field.addEventListener("keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== "Escape") || event.defaultPrevented) return;
    if (event.key === "Escape") back();
    gallery.focus();
    event.preventDefault();
  });
  sort.addEventListener("change", () => {
    gallery.leaves();
    apply();
    gallery.reopen(); // its position was one in the former order
  });
  byID("clear-search").addEventListener("click", () => (clear(), field.focus()));
  // The search stays.
  byID("leave-page").addEventListener("click", () => {
    gallery.leaves();
    leavePage(library);
    apply(() => (field.value.trim() ? library.shown[0]?.id : undefined));
    gallery.focus();
  });
  /** Shows the order and the search of the place. */
  const follow = () => {
    [sort.value, field.value] = [library.sort, library.query];
    if (sort.value !== library.sort) apply();
  };
  if (field.value) apply(); // typed while the page loaded
  follow();
  return { focus: () => (field.focus(), field.select()), back, follow };
}

/** Shows all albums, with the one chosen that was chosen before the search. */
export function clearSearch(library) {
  library.filterBy("");
  if (library.page) leavePage(library);
  clear();
}

/** From an artist's or a genre's albums to all, in the order that they had. */
function leavePage(library) {
  [library.page, sort.value] = [null, document.body.dataset.sort];
}
