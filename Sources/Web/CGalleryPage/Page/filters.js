// The place, at the left of the wall's bar: all albums, or those whose covers need attention, with how many there are.

import { ask } from "./api.js";
import { byID, formatNumber, whenIdle } from "./helpers.js";
import { check, choicesOf, onChoice } from "./menus.js";

const [all, ...places] = choicesOf("show");
const tell = (place, count) => (place.lastChild.textContent = count === undefined ? "" : formatNumber(count));

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
    const name = library.filter?.name ?? "", place = places.find(({ value }) => value === name);
    check("show", name);
    byID("show").textContent = place ? place.firstChild.textContent : "Albums";
    tell(all, library.count);
    if (place) tell(place, library.total);
  };
  /** Asks how many albums the places have: early, and before a person chooses one. The one that is shown has those that are shown. */
  const count = async () => {
    const counts = await ask("GET", "api/filters", undefined, { cache: "no-store" }).catch(() => ({}));
    for (const place of places) if (place.value !== library.filter?.name) tell(place, counts[place.value]);
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
  onChoice("show", choose);
  byID("places").addEventListener("toggle", ({ newState }) => newState === "open" && count());
  whenIdle(count);
  follow();
  const renew = () => library.filter && apply(library.renewFilter(), () => gallery.refresh());
  return { clear, follow, renew };
}
