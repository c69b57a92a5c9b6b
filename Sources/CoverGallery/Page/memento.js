// Saves the view, its place and the sort order at the server, so that the page opens there again; in the browser's storage, for when
// the server is away; and in the page's address.

import { ask } from "./api.js";
import { addStep, writeAddress } from "./address.js";
import { readStored, store } from "./helpers.js";

const storageName = "sleeve-memento";
const saveDelay = 500; // milliseconds without a change

export class Memento {
  #read;
  #saved = "";
  #timer = 0;

  /** @param {() => import("./address.js").Place | null} read */
  constructor(read) {
    this.#read = read;
    addEventListener("pagehide", () => this.#save(true));
    document.addEventListener("visibilitychange", () => document.hidden && this.#save(true));
  }

  changed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(false), saveDelay);
  }

  /** The user goes somewhere else: the browser's Back button leads to the present place. */
  step() {
    addStep(this.#read());
  }

  async #save(isLeaving) {
    clearTimeout(this.#timer);
    const place = this.#read();
    if (!place) return;
    writeAddress(place);
    const { show, ...memento } = place, text = JSON.stringify(memento); // a filter is not remembered
    if (text === this.#saved) return;
    this.#saved = text;
    store(storageName, text);
    try {
      // `keepalive`: the request outlives the page.
      await ask("PUT", "api/memento", memento, { keepalive: isLeaving });
    } catch {
      this.#saved = ""; // saved with the next change
    }
  }
}

/** The memento in the browser's storage, or null. */
export function storedMemento() {
  try {
    return JSON.parse(readStored(storageName));
  } catch {
    return null;
  }
}
