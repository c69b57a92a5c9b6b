// Starts the page: the covers first, then, once they are loading, everything around them.

import { ask } from "./api.js";
import { Library } from "./library.js";
import { Covers } from "./covers.js";
import { Memento, storedMemento } from "./memento.js";
import { onBack, readAddress } from "./address.js";
import { Gallery } from "./gallery.js";

// The page's head has the browser preload both.
const firstLibrary = ask("GET", "api/library");
const firstState = ask("GET", "api/state").catch(() => null);

const library = new Library();
const covers = new Covers();
const gallery = new Gallery(library, covers);
const memento = new Memento(() => gallery.memento);
let open = false;

gallery.changed = () => memento.changed();
gallery.leaves = () => memento.step();

let problem = null;
try {
  await library.load(firstLibrary);
  await start();
} catch (caught) {
  problem = caught;
  gallery.showNothing("away", problem.away ? undefined : problem.message);
}
// The other modules would delay the first covers.
if (open) await Promise.race([covers.opened, new Promise((resolve) => setTimeout(resolve, 400))]);
const { setUpTools } = await import("./tools.js");
const tools = setUpTools({ library, covers, gallery, isStuck: Boolean(problem) || library.isStored, open: ensureOpen });
onBack((place) => open && go(place).then(tools.follow));
if (open) document.documentElement.dataset.ready = "true";

async function start() {
  const state = (await firstState) ?? { memento: storedMemento() };
  open = true;
  covers.addStates(state.covers ?? {});
  const { album, position, ...saved } = state.memento ?? {}, address = readAddress();
  gallery.tile = address.tile ?? saved.tile;
  const id = library.indexOf(address.album) < 0 ? album : address.album;
  await go({ ...saved, ...address, album: id, position: id === album && position });
}

/** @param {import("./address.js").Place} place */
async function go({ view, sort = "library", show, tile, album, position }) {
  library.sort = sort;
  // The filter that is shown stays, as a list that changed meanwhile would be another place.
  if (show !== library.filter?.name) library.filter = show ? await filtered(show) : null;
  library.arrange();
  if (tile) gallery.tile = tile;
  await gallery.open(view === "wall" ? view : "scroller", { id: album, position: position || undefined });
}

/** A filter; null if there is none of that name, or the server does not answer. */
async function filtered(name) {
  const { idsOf, isFilter } = await import("./filters.js");
  return isFilter(name) ? idsOf(name).then((ids) => ({ name, ids }), () => null) : null;
}

/** Opens the gallery of a page that was loaded without its server. False if it was open already. */
async function ensureOpen() {
  if (open) return false;
  await start();
  document.documentElement.dataset.ready = "true";
  return true;
}
