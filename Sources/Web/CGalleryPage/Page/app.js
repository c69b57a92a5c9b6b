// Starts the page: the covers first, then, once they are loading, everything around them.

import { ask } from "./api.js";
import { Library } from "./library.js";
import { Covers } from "./covers.js";
import { setUpMemento } from "./memento.js";
import { addStep, readAddress } from "./address.js";
import { Gallery } from "./gallery.js";
import { grow } from "./transition.js";

// The page's head has the browser preload it.
const firstState = ask("GET", "api/state").catch(() => null);

const library = new Library();
const covers = new Covers();
const gallery = new Gallery(library, covers);
let open = false;
/** Whether the address is that of an album which the library does not have. */
let isLost = false;

gallery.changed = setUpMemento(() => gallery.memento);
// The browser's Back button leads to the present place.
gallery.leaves = (isOverWall) => addStep(gallery.memento, isOverWall);

let problem = null;
try {
  const { albums = [], count = 0 } = (await firstState) ?? {};
  if (albums.length && isAmong(albums)) {
    library.begin(albums, count);
    await start();
    await firstCovers();
  }
  await library.load();
  if (!open) await start();
} catch (caught) {
  problem = caught;
  gallery.showNothing("away", problem.away ? undefined : problem.message);
}
if (open && library.count) await firstCovers();
const { setUpTools } = await import("./tools.js");
const tools = setUpTools({ library, covers, gallery, isStuck: Boolean(problem) || library.isStored, open: ensureOpen });
// The user went back or forth, or changed the address.
addEventListener("popstate", () => open && move(readAddress()).then(tools.follow));
if (open) document.documentElement.dataset.ready = "true";
if (isLost) tools.say("That album is no longer in the library.");

/** Whether these first albums are all that the page opens on. */
function isAmong(albums) {
  const { view = "wall", sort = "library", show, q, page, album, position = 0 } = readAddress();
  return view === "wall" && sort === "library" && !show && !q && !page && position === 0 && (!album || albums.some(({ id }) => id === album));
}

/** Waits for the covers in view, which all else would delay. */
function firstCovers() { return Promise.race([covers.opened, new Promise((resolve) => setTimeout(resolve, 1500))]); }

async function start() {
  const state = (await firstState) ?? {};
  open = true;
  covers.addStates(state.covers ?? {});
  const { album, ...saved } = state.memento ?? {}, address = readAddress();
  gallery.tile = address.tile ?? saved.tile;
  document.body.dataset.sort = saved.sort ?? "library";
  const isKnown = library.indexOf(address.album) >= 0, id = isKnown ? address.album : album;
  isLost = Boolean(address.album) && !isKnown;
  if (isLost) address.view = "wall";
  // The position of an address is that of its own view and order, if it has one.
  await go({ ...saved, ...address, album: id });
}

async function go({ view, sort = "library", show = "", q = "", page = null, tile, album, position }) {
  // The filter that is shown stays, as a list that changed meanwhile would be another place.
  const isLast = show === library.filter?.name || (await library.filterBy(show).catch(() => library.filterBy("")));
  if (!isLast) return;
  // The address of an album that is not, or no longer, of the filter shows it among all: nothing is decided about another one.
  if (view === "stage" && readAddress().album === album && library.filter?.ids.has(album) === false) await library.filterBy("");
  Object.assign(library, { sort, query: q, page });
  library.arrange();
  if (tile) gallery.tile = tile;
  gallery.open(view === "stage" ? view : "wall", { id: album, position });
}

/** Goes to a place of the browser's history. A cover moves between the wall and the stage. */
function move(place) {
  const isOther = (place.view === "stage") !== (gallery.name === "stage");
  return isOther ? grow(() => go(place), () => covers.viewOf(gallery.album?.id)).then(() => gallery.focus()) : go(place);
}

/** Opens the gallery of a page that was loaded without its server. False if it was open already. */
async function ensureOpen() {
  if (open) return false;
  await start();
  document.documentElement.dataset.ready = "true";
  return true;
}
