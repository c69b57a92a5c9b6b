// The search field and the order of the albums.

const field = document.getElementById("search");
const sort = document.getElementById("sort");
let apply = () => {};

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery */
export function setUpSearch(library, gallery) {
  apply = () => {
    library.query = field.value;
    library.sort = sort.value || "library";
    sort.value = library.sort;
    if (!library.version) return;
    library.arrange();
    gallery.refresh();
  };
  field.addEventListener("focus", () => library.prepareSearch());
  field.addEventListener("input", apply);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) clearSearch();
    else if (event.key === "Enter" || event.key === "Escape") gallery.focus();
    else return;
    event.preventDefault();
  });
  sort.addEventListener("change", apply);
  document.getElementById("clear-search").addEventListener("click", () => (clearSearch(), field.focus()));
  /** Shows the order that was remembered; a browser may have put a word back into the field, or somebody typed one. */
  const follow = () => {
    sort.value = library.sort;
    if (sort.value !== library.sort || field.value) apply();
  };
  follow();
  return { focus: () => (field.focus(), field.select()), follow };
}

export function clearSearch() {
  field.value = "";
  apply();
}
