// Puts the page together: first the covers, then, once they are on their way, everything around them.

import { firstLibrary, firstState } from "./first.js";
import { Library } from "./library.js";
import { Covers } from "./covers.js";
import { Memento, lastPlace } from "./memento.js";
import { Gallery } from "./gallery.js";

const library = new Library();
const covers = new Covers();
const gallery = new Gallery(library, covers);
const memento = new Memento(() => gallery.memento);
let open = false;

gallery.changed = () => memento.changed();

let problem = null;
try {
  await library.load(firstLibrary);
  start((await firstState) ?? { memento: lastPlace() });
} catch (caught) {
  problem = caught;
  gallery.showNothing("away", problem.away ? undefined : problem.message);
}
// What is around the covers would keep the browser from showing them.
if (open) await Promise.race([covers.opened, new Promise((resolve) => setTimeout(resolve, 400))]);
const { setUpTools } = await import("./tools.js");
setUpTools({ library, covers, gallery, isStuck: Boolean(problem) || library.isKept, open: ensureOpen });
if (open) document.documentElement.dataset.ready = "true";

/** @param {{memento: object | null, covers?: object} | null} state */
function start(state) {
  open = true;
  covers.foresee(state?.covers ?? {});
  library.sort = state?.memento?.sort ?? "library";
  library.arrange();
  gallery.open(state?.memento?.album);
}

/** For a page that was opened without its server: the albums have come. True if they had not been there before. */
async function ensureOpen() {
  if (open) return false;
  start((await firstState) ?? { memento: lastPlace() });
  document.documentElement.dataset.ready = "true";
  return true;
}
