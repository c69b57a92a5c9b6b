// The filter, in the bar of the wall: albums whose covers need attention, with how many there are.

import { ask } from "./api.js";
import { byID, formatNumber } from "./helpers.js";

const select = byID("show");
/** How long counts are as good as new, in milliseconds. */
const lifetime = 10_000;
for (const option of select.options) option.dataset.name = option.text;
const tell = (option, count) => (option.text = count === undefined ? option.dataset.name : `${option.dataset.name} ${formatNumber(count)}`);
let countedAt = -Infinity;

/** Asks how many albums each filter has, before a person chooses one. */
async function count() {
  if (performance.now() - countedAt < lifetime) return;
  countedAt = performance.now();
  for (const option of [...select.options].slice(1)) {
    const answer = await ask("GET", `api/filters/${option.value}`, undefined, { cache: "no-store" }).catch(() => null);
    tell(option, answer ? Object.keys(answer.albums).length : undefined);
  }
}
for (const event of ["pointerenter", "focus"]) select.addEventListener(event, count);

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
    tell(select.options[0], library.albums.length);
    if (library.filter) tell(select.selectedOptions[0], library.filter.ids.size);
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
  select.addEventListener("change", () => (countedAt = -Infinity, choose(select.value)));
  byID("clear-filter").addEventListener("click", () => (clear(), gallery.focus()));
  follow();
  const renew = () => library.filter && apply(library.renewFilter(), () => gallery.refresh());
  return { choose, clear, follow, renew };
}
