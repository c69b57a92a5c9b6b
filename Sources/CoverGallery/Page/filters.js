// The filter: albums whose covers need attention. The server decides which these are; they stay listed until the albums change, so that
// none disappears while its cover arrives.

import { ask } from "./api.js";
import { byID } from "./helpers.js";

const select = byID("show");

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery @param {(problem: Error) => void} showProblem */
export function setUpFilters(library, gallery, showProblem) {
  /** Shows the albums of a filter, or all. @param {string} name */
  const apply = async (name, choose = gallery.album?.id) => {
    try {
      library.filter = name ? { name, ids: await idsOf(name) } : null;
    } catch (problem) {
      showProblem(problem);
    }
    follow();
    library.arrange();
    gallery.refresh(choose ?? undefined);
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
  const renew = () => library.filter && apply(library.filter.name, null);
  return { clear, follow, renew };
}

/** @returns {Promise<Set<string>>} */
export async function idsOf(name) {
  return new Set(Object.keys((await ask("GET", `api/filters/${encodeURIComponent(name)}`, undefined, { cache: "no-store" })).albums));
}
