// Everything around the covers: events, search, edits, activity, shortcuts, offline use. The first covers do not need it, so it is
// loaded after them.

import { listenToServer } from "./events.js";
import { setUpEdits } from "./edits.js";
import { setActivityAway, setUpActivity, showCache, showPrefetch, showRemote, showRun } from "./activity.js";
import { setUpSearch } from "./search.js";
import { setUpDoubtful } from "./doubtful.js";
import { setUpFilters } from "./filters.js";
import { check, onChoice, setUpMenus } from "./menus.js";
import { setUpPage } from "./artist-page.js";
import { typeAhead } from "./type-ahead.js";
import { setUpPlaces } from "./places.js";
import { setUpSeveral } from "./several.js";
import { listen } from "./shortcuts.js";
import { keep, registerWorker } from "./offline.js";
import { byID, counted, whenIdle } from "./helpers.js";
import { say } from "./toast.js";
import { Overlay } from "./overlay.js";
import { setUpZoom } from "./zoom.js";

const showProblem = (problem) => say(problem.message, { kind: "problem" });

/**
 * @param {boolean} page.isStuck the albums could not be loaded from the server
 * @param {() => Promise<boolean>} page.open opens the gallery if it is not open yet
 */
export function setUpTools({ library, covers, gallery, isStuck, open }) {
  const edits = setUpEdits(library, gallery, showProblem, () => (doubtful.renew(), filters.renew()));
  const search = setUpSearch(library, gallery);
  const filters = setUpFilters(library, gallery, showProblem);
  const doubtful = setUpDoubtful(library, gallery, covers, edits.review);
  const page = setUpPage(library, gallery);
  const places = setUpPlaces(library, gallery), several = setUpSeveral(library, gallery, covers, { remove: edits.remove, retry });
  const follow = [places, filters.follow, doubtful.follow, page.follow, several.follow];
  byID("view").addEventListener("click", () => gallery.close() || page.leave());
  byID("clear-filter").addEventListener("click", () => (filters.clear() ? gallery.focus() : page.leave()));
  setUpMenus();
  onChoice("tile", (size) => (gallery.tile = Number(size)));
  gallery.resized = () => check("tile", String(gallery.tile));
  gallery.selected = () => follow.forEach((each) => each());
  gallery.selected();
  gallery.coverChanged = doubtful.showPresent;
  gallery.resized();
  Overlay.left = () => gallery.changed();
  let connected = false;

  covers.hasStream = listenToServer({
    cover: ({ id, at, ...state }) => covers.arrived(id, state, at),
    failure: ({ id, reason, cause }) => covers.arrived(id, { failure: reason, cause }),
    library: ({ version }) => version === library.version ? keep("library") : refresh(),
    prefetch: showPrefetch,
    cache: showCache,
    remote: showRemote,
    run: (state) => {
      const outcome = showRun(state);
      if (outcome) say(outcome), doubtful.renew();
    },
    online: () => setAway(false),
    offline: () => setAway(true),
  });
  library.coversChanged = (ids) => covers.forget(ids);
  gallery.zoom = setUpZoom(gallery, covers);
  setUpActivity(library, showProblem, retry);
  listen({
    search: () => search.focus(),
    add: () => edits.add(),
    undo: edits.undo,
    redo: edits.redo,
    remove: () => (covers.picked.size ? byID("several-delete").click() : gallery.isMarked && edits.remove()),
    accept: doubtful.accept,
    refuse: doubtful.refuse,
    retry: () => gallery.retry(),
    enlarge: () => gallery.enlarge(),
    back: () => several.clear() || gallery.close() || search.back() || filters.clear() || page.leave(),
    type: typeAhead(library, gallery),
    move: (event) => gallery.key(event),
  });
  edits.update();
  showRemote(library.remote);
  covers.seen = () => keep("covers");
  keep("library");
  registerWorker(() => covers.names, () => say("There is a newer version of this page.", { action: { label: "Reload", run: () => location.reload() } }));
  whenIdle(() => library.prepareSearch());

  /** Fetches the albums again after they changed, here or elsewhere. */
  async function refresh() {
    try {
      const { version } = library;
      await library.load();
      if (version !== library.version) doubtful.renew(), filters.renew();
      keep("library");
      if (await open()) search.follow();
      doubtful.follow();
      edits.update();
    } catch (problem) {
      if (!problem.away) showProblem(problem);
    }
  }

  function retry(ids) {
    for (const id of ids) covers.retry(id);
    say(`Asking for ${ids.length === 1 ? "a cover" : counted(ids.length, "cover")} again…`);
  }

  function setAway(away) {
    byID("offline").hidden = !away;
    edits.setAway(away);
    setActivityAway(away);
    covers.setAway(away);
    if (away) return;
    // Events were missed before the stream opened, and while it was closed.
    if (connected || isStuck) refresh();
    connected = true;
  }

  return { follow: () => (search.follow(), filters.follow()), say };
}
