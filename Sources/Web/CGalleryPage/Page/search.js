// The search field and the sort order.

import { byID } from "./helpers.js";
import { check, onChoice } from "./menus.js";

const field = byID("search");
let clear = () => {};

export function setUpSearch(library, gallery) {
  let start = null; // the album that was chosen when the search began

  /** Shows the matching albums. @param {() => string | undefined} choose the album to choose; by default the chosen one stays */
  const apply = (choose = () => undefined) => {
    if (field.value.trim() && !library.query.trim()) {
      start = gallery.album?.id ?? null;
      gallery.leaves();
    }
    library.query = field.value;
    check("sort", library.sort);
    if (!library.version) return;
    library.arrange();
    gallery.refresh(choose() ?? undefined);
  };
  clear = () => {
    field.value = "";
    apply(() => start);
  };
  const back = () => {
    if (!field.value) return false;
    clear();
    return true;
  };
  field.addEventListener("focus", () => library.prepareSearch());
  // A query chooses the best match. When the field is emptied by hand, the chosen album stays.
  field.addEventListener("input", () => {
    const here = gallery.album?.id ?? start;
    apply(() => (field.value.trim() ? library.shown[0]?.id : here));
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "ArrowDown", "Escape"].includes(event.key)) return;
    if (event.key === "Escape") back();
    gallery.focus();
    event.preventDefault();
  });
  onChoice("sort", (order) => {
    gallery.leaves();
    library.sort = order;
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
    field.value = library.query;
    check("sort", library.sort);
  };
  if (field.value) apply(); // typed while the page loaded
  follow();
  /** A search is the wall's. */
  const focus = () => {
    if (gallery.name === "stage") {
      gallery.leaves();
      gallery.open("wall");
    }
    field.focus();
    field.select();
  };
  return { focus, back, follow };
}

/** Shows all albums, with the one chosen that was chosen before the search. */
export function clearSearch(library) {
  library.filterBy("");
  if (library.page) leavePage(library);
  clear();
}

/** From an artist's or a genre's albums to all, in the order that they had. */
function leavePage(library) {
  [library.page, library.sort] = [null, document.body.dataset.sort];
}
