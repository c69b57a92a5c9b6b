// The filter, in the menu: albums whose covers need attention.

import { byID } from "./helpers.js";

const select = byID("show");

/** @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery @param {(problem: Error) => void} showProblem */
export function setUpFilters(library, gallery, showProblem) {
  let latest = null;
  /**
   * Shows the list of a filter when it has come; where another one was asked for meanwhile, that one.
   * @param {Promise<boolean>} filtered @param {() => void} [show] by default as another list
   */
  const apply = (filtered, show = () => gallery.reopen()) => {
    const run = (async () => {
      try {
        if (!(await filtered)) return run === latest ? undefined : latest;
      } catch (problem) {
        showProblem(problem);
      }
      follow();
      library.arrange();
      show();
    })();
    return (latest = run);
  };
  const follow = () => {
    select.value = library.filter?.name ?? "";
    byID("menu-toggle").classList.toggle("on", Boolean(library.filter));
  };
  const choose = (name) => {
    gallery.leaves();
    apply(library.filterBy(name));
  };
  const clear = () => {
    if (!library.filter) return false;
    choose("");
    return true;
  };
  select.addEventListener("change", () => (byID("menu").hidePopover(), choose(select.value)));
  byID("clear-filter").addEventListener("click", () => (clear(), gallery.focus()));
  follow();
  const renew = () => library.filter && apply(library.renewFilter(), () => gallery.refresh());
  return { choose, clear, follow, renew };
}
