// The search field and the order of the albums.

const field = document.getElementById("search");
const sort = document.getElementById("sort");
let clear = () => {};

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery */
export function setUpSearch(library, gallery) {
  let start = null; // the album that was chosen when the search began

  /** Shows what is wanted now. @param {() => string | null | undefined} choose the album to go to; else it stays */
  const apply = (choose = () => undefined) => {
    if (field.value.trim() && !library.query.trim()) start = gallery.album?.id ?? null;
    library.query = field.value;
    library.sort = sort.value || "library";
    sort.value = library.sort;
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
  // With words: to the best match. Emptied by hand: what was found stays chosen.
  field.addEventListener("input", () => {
    const here = gallery.album?.id ?? start;
    apply(() => (field.value.trim() ? library.shown[0]?.id : here));
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    if (event.key === "Escape") back();
    gallery.focus();
    event.preventDefault();
  });
  sort.addEventListener("change", () => apply());
  document.getElementById("clear-search").addEventListener("click", () => (clear(), field.focus()));
  /** Shows the order that was remembered; a browser may have put a word back into the field, or somebody typed one. */
  const follow = () => {
    sort.value = library.sort;
    if (sort.value !== library.sort || field.value) apply();
  };
  follow();
  return { focus: () => (field.focus(), field.select()), back, follow };
}

/** Shows all albums again, and the one that was chosen when the search began. */
export function clearSearch() {
  clear();
}
