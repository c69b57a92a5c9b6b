// Saves the view, its place and the sort order at the server, so that the page opens there again, and in the page's address.

import { ask } from "./api.js";
import { addStep, writeAddress } from "./address.js";
import { Throttle } from "./throttle.js";

const saveDelay = 500; // milliseconds without a change

export class Memento {
  #read;
  #saved = "";
  #timer = 0;
  /** Soon, as a page that ends cannot change its entry of the history, and seldom, as browsers refuse many changes. */
  #address = new Throttle(saveDelay, async () => this.#writeAddress());

  /** @param {() => import("./address.js").Place | null} read */
  constructor(read) {
    this.#read = read;
    addEventListener("pagehide", () => this.#save(true));
    document.addEventListener("visibilitychange", () => document.hidden && this.#save(true));
  }

  changed() {
    this.#address.ask();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(false), saveDelay);
  }

  /** The user goes somewhere else: the browser's Back button leads to the present place. */
  step(isOverWall) {
    addStep(this.#read(), isOverWall);
  }

  #writeAddress() {
    const place = this.#read();
    if (place) writeAddress(place);
    return place;
  }

  async #save(isLeaving) {
    clearTimeout(this.#timer);
    const place = this.#writeAddress();
    // That of an artist is in the address alone.
    if (!place || place.page) return;
    const { show, q, page, ...memento } = place;
    // Neither a filter nor a search is remembered, and the view's position is one among the albums of these.
    if (show || q) memento.position = memento.index;
    const text = JSON.stringify(memento);
    if (!memento.album || text === this.#saved) return;
    this.#saved = text;
    try {
      // `keepalive`: the request outlives the page.
      await ask("PUT", "api/memento", memento, { keepalive: isLeaving });
    } catch {
      this.#saved = ""; // saved with the next change
    }
  }
}
