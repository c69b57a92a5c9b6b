// The filter: albums whose covers need attention. The server decides which these are; they stay listed until the albums change, so that
// none disappears while its cover arrives.

import { ask } from "./api.js";
import { byID } from "./helpers.js";

const select = byID("show");

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery @param {(problem: Error) => void} showProblem */
export function setUpFilters(library, gallery, showProblem) {
  /** Lists the albums of a filter, or all. @param {string} name @param {() => void} [show] by default as another list */
  const apply = async (name, show = () => gallery.reopen()) => {
    try {
      library.filter = name ? { name, ids: await idsOf(name) } : null;
    } catch (problem) {
      showProblem(problem);
    }
    follow();
    library.arrange();
    show();
  };
  const follow = () => {
    select.value = library.filter?.name ?? "";
    select.closest(".field").classList.toggle("on", Boolean(library.filter));
  };
  const clear = () => {
    if (!library.filter) return false;
    gallery.leaves();
    apply("");
    return true;
  };
  select.addEventListener("change", () => {
    gallery.leaves();
    apply(select.value);
  });
  byID("clear-filter").addEventListener("click", () => (clear(), gallery.focus()));
  follow();
  // After an edit, an album may not belong to the filter any more.
  const renew = () => library.filter && apply(library.filter.name, () => gallery.refresh());
  return { clear, follow, renew };
}

/** Whether there is a filter of this name: an address may have any. */
export const isFilter = (name) => [...select.options].some(({ value }) => value === name);

/** @returns {Promise<Set<string>>} */
export async function idsOf(name) {
  return new Set(Object.keys((await ask("GET", `api/filters/${encodeURIComponent(name)}`, undefined, { cache: "no-store" })).albums));
}
