// Puts the page together. The albums and the state are on their way already; here the stream of events joins them.

import { firstLibrary, firstState } from "./first.js";
import { Events } from "./events.js";
import { Library } from "./library.js";
import { Covers } from "./covers.js";
import { Memento } from "./memento.js";
import { Gallery } from "./gallery.js";
import { Edits } from "./edits.js";
import { setUpPanel, setPanelAway, showCache, showPrefetch, showRemote } from "./panel.js";
import { setUpSearch } from "./search.js";
import { listen } from "./shortcuts.js";
import { keepOffline, showOffline } from "./offline.js";
import { say } from "./toast.js";

const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
const complain = (problem) => say(problem.message, { kind: "problem" });
const library = new Library();
const covers = new Covers();
const gallery = new Gallery(library, covers);
const edits = new Edits(library, gallery, complain);
const memento = new Memento(() => gallery.memento);
let open = false, connected = false, stuck = false;

gallery.changed = () => memento.changed();

new Events({
  cover: ({ id, version, at }) => covers.arrived(id, version, at),
  failure: ({ id, reason }) => covers.failed(id, reason),
  library: ({ version }) => version !== library.version && refresh(),
  prefetch: showPrefetch,
  cache: showCache,
  remote: showRemote,
  online: () => setAway(false),
  offline: () => setAway(true),
});

const search = setUpSearch(library, gallery);
setUpPanel(complain);
listen({
  search: () => search.focus(),
  undo: () => edits.undo(),
  redo: () => edits.redo(),
  remove: () => edits.remove(),
  retry: () => gallery.retry(),
  move: (event) => gallery.key(event),
});

try {
  await library.load(firstLibrary);
  start((await firstState)?.memento ?? null);
} catch (problem) {
  stuck = true;
  gallery.showNothing("away", problem.away ? undefined : problem.message);
}
keepOffline(() => covers.addresses);

function start(remembered) {
  open = true;
  search.setSort(remembered?.sort);
  gallery.open(remembered?.album);
  edits.update();
  showRemote(library.remote);
  document.documentElement.dataset.ready = "true";
  whenIdle(() => library.prepareSearch());
}

/** Fetches the albums again, because somebody, perhaps another page, has changed them. */
async function refresh() {
  try {
    const changed = await library.load();
    if (!open) start((await firstState)?.memento ?? null);
    else if (changed) gallery.refresh();
    edits.update();
  } catch (problem) {
    if (!problem.away) complain(problem);
  }
}

function setAway(gone) {
  showOffline(gone);
  edits.setAway(gone);
  setPanelAway(gone, "The server is away.");
  if (gone && open) covers.setAway(true);
  if (gone) return;
  // Arrivals may have fallen between the first question and the opening of the stream; and whoever was away, or asleep in
  // the background, has missed what was told meanwhile.
  covers.setAway(false);
  if (connected || stuck) refresh();
  connected = true;
}
