// Everything around the covers: the stream of events, search, edits, the panel, keys, and being without the server. None
// of it is needed to show the first covers, so it is loaded after them.

import { Events } from "./events.js";
import { Edits } from "./edits.js";
import { setUpPanel, setPanelAway, showCache, showPrefetch, showRemote } from "./panel.js";
import { setUpSearch } from "./search.js";
import { listen } from "./shortcuts.js";
import { keepSoon, learnSizes, setUpKeeping } from "./keeping.js";
import { keepOffline, keepSeen, showOffline } from "./offline.js";
import { say } from "./toast.js";

const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
const complain = (problem) => say(problem.message, { kind: "problem" });

/**
 * @param {object} page
 * @param {import("./library.js").Library} page.library
 * @param {import("./covers.js").Covers} page.covers
 * @param {import("./gallery.js").Gallery} page.gallery
 * @param {boolean} page.isStuck the albums could not be had
 * @param {() => Promise<boolean>} page.open opens the gallery if it is not open yet
 */
export function setUpTools({ library, covers, gallery, isStuck, open }) {
  const edits = new Edits(library, gallery, complain);
  const search = setUpSearch(library, gallery);
  let connected = false;

  new Events({
    cover: ({ id, version, at }) => (covers.arrived(id, version, at), keepSoon()),
    failure: ({ id, reason, cause }) => covers.failed(id, reason, cause),
    library: ({ version }) => version !== library.version && refresh(),
    prefetch: (told) => (showPrefetch(told), told.running || keepSoon()),
    cache: (told) => (showCache(told), learnSizes(told)),
    remote: showRemote,
    online: () => setAway(false),
    offline: () => setAway(true),
  });
  library.coversChanged = (ids) => covers.forget(ids);
  setUpPanel(complain);
  setUpKeeping(library);
  listen({
    search: () => search.focus(),
    undo: () => edits.undo(),
    redo: () => edits.redo(),
    remove: () => edits.remove(),
    retry: () => gallery.retry(),
    back: () => search.back(),
    move: (event) => gallery.key(event),
  });
  edits.update();
  showRemote(library.remote);
  covers.seen = keepSeen;
  for (const address of ["/api/library", ...covers.addresses]) keepSeen(address);
  keepOffline(() => say("There is a newer version of this page.", { action: { label: "Reload", run: () => location.reload() } }));
  whenIdle(() => library.prepareSearch());

  /** Fetches the albums again, because somebody, perhaps another page, has changed them. */
  async function refresh() {
    try {
      const changed = await library.load();
      keepSeen("/api/library");
      keepSoon();
      if (await open()) search.follow();
      else if (changed) gallery.refresh();
      edits.update();
    } catch (problem) {
      if (!problem.away) complain(problem);
    }
  }

  function setAway(gone) {
    showOffline(gone);
    edits.setAway(gone);
    setPanelAway(gone, "Sleeve isn’t running.");
    if (gone) return covers.setAway(true);
    // Arrivals may have fallen between the first question and the opening of the stream; and whoever was away, or asleep
    // in the background, has missed what was told meanwhile.
    covers.setAway(false);
    keepSoon();
    if (connected || isStuck) refresh();
    connected = true;
  }
}
