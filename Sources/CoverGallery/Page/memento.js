// Saves the chosen album and the sort order at the server, so that the page opens there again, and in the browser's storage, for
// when the server is away.

import { ask } from "./api.js";
import { readStored, store } from "./helpers.js";

const storageName = "sleeve-memento";
const saveDelay = 500; // milliseconds without a change

export class Memento {
  #read;
  #saved = "";
  #timer = 0;

  /** @param {() => {album: string | null, index: number, position: number, sort: string} | null} read */
  constructor(read) {
    this.#read = read;
    addEventListener("pagehide", () => this.#save(true));
    document.addEventListener("visibilitychange", () => document.hidden && this.#save(true));
  }

  changed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(false), saveDelay);
  }

  async #save(isLeaving) {
    clearTimeout(this.#timer);
    const memento = this.#read(), text = JSON.stringify(memento);
    if (!memento || text === this.#saved) return;
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
