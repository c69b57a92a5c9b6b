// Remembers, at the server, where somebody was, so that the page opens there again; and here, for when the server is away.

import { ask } from "./api.js";

const place = "sleeve-memento";
const rest = 500; // milliseconds without a change before it is worth telling

export class Memento {
  #read;
  #told = "";
  #timer = 0;

  /** @param {() => {album: string | null, index: number, position: number, sort: string} | null} read */
  constructor(read) {
    this.#read = read;
    addEventListener("pagehide", () => this.#tell(true));
    document.addEventListener("visibilitychange", () => document.hidden && this.#tell(true));
  }

  changed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(false), rest);
  }

  async #tell(leaving) {
    clearTimeout(this.#timer);
    const memento = this.#read(), text = JSON.stringify(memento);
    if (!memento || text === this.#told) return;
    this.#told = text;
    keep(text);
    try {
      // `keepalive`: the request outlives the page.
      await ask("PUT", "/api/memento", memento, { keepalive: leaving });
    } catch {
      this.#told = ""; // nobody needs to know; the next change tells it
    }
  }
}

/** Where this browser was, as it knows itself. */
export function lastPlace() {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

function keep(text) {
  try {
    localStorage.setItem(place, text);
  } catch {
    // Storage is full or forbidden; the server knows.
  }
}
