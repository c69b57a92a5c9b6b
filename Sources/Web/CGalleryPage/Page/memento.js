// Saves the view, its place and the sort order at the server, so that the page opens there again, and in the page's address.

import { ask } from "./api.js";
import { writeAddress } from "./address.js";
import { throttled } from "./helpers.js";

const saveDelay = 500; // milliseconds without a change

/** @param {() => import("./address.js").Place | null} read @returns {() => void} the place changed */
export function setUpMemento(read) {
  let saved = "", timer = 0;
  const write = () => {
    const place = read();
    if (place) writeAddress(place);
    return place;
  };
  /** Soon, as a page that ends cannot change its entry of the history, and seldom, as browsers refuse many changes. */
  const writeSoon = throttled(saveDelay, async () => write());
  const save = async (keepalive) => {
    clearTimeout(timer);
    const place = write();
    // That of an artist is in the address alone.
    if (!place || place.page) return;
    const { show, q, page, ...memento } = place;
    // Neither a filter nor a search is remembered, and the view's position is one among the albums of these.
    if (show || q) memento.position = memento.index;
    const text = JSON.stringify(memento);
    if (!memento.album || text === saved) return;
    saved = text;
    try {
      await ask("PUT", "api/memento", memento, { keepalive });
    } catch {
      saved = ""; // with the next change
    }
  };
  // The page may end, and a request that is kept alive outlives it.
  addEventListener("pagehide", () => save(true));
  document.addEventListener("visibilitychange", () => document.hidden && save(true));
  return () => {
    writeSoon();
    clearTimeout(timer);
    timer = setTimeout(() => save(false), saveDelay);
  };
}
