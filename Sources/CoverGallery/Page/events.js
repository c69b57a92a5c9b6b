// What the server tells by itself. The stream reconnects for ever: a page left open finds its server again without help.

import { pageID } from "./api.js";

const kinds = ["cover", "failure", "library", "prefetch", "cache", "remote"];
/** A stream that breaks and is back within this time, in milliseconds, was never gone for anybody. */
const patience = 600;
/** A page in the background gives its connection back after this time: browsers allow six to one server. */
const idle = 60_000;

export class Events {
  #source = null;
  #hear;
  #here = null;
  #goneTimer = 0;
  #retryTimer = 0;
  #idleTimer = 0;

  /** @param {Record<string, (data: any) => void> & {online(): void, offline(): void}} hear */
  constructor(hear) {
    this.#hear = hear;
    this.#open();
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#idleTimer);
      if (document.hidden) this.#idleTimer = setTimeout(() => this.#close(), idle);
      else if (!this.#source) this.#open();
    });
    addEventListener("online", () => this.#open());
    // Browsers keep a page that was left, for the way back, and its connection with it.
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => event.persisted && this.#open());
  }

  #close() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retryTimer);
  }

  #open() {
    this.#close();
    const source = (this.#source = new EventSource(`/api/events?page=${pageID}`));
    source.addEventListener("open", () => this.#came());
    source.addEventListener("error", () => {
      this.#left();
      // Browsers give up on some answers, a proxy's “bad gateway” for one.
      if (source.readyState === EventSource.CLOSED) this.#retryTimer = setTimeout(() => this.#open(), 2000);
    });
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => this.#hear[kind]?.(JSON.parse(event.data)));
    }
  }

  #came() {
    clearTimeout(this.#goneTimer);
    this.#goneTimer = 0;
    this.#here = true;
    this.#hear.online();
  }

  #left() {
    if (this.#here === false || this.#goneTimer) return;
    this.#goneTimer = setTimeout(() => {
      this.#goneTimer = 0;
      this.#here = false;
      this.#hear.offline();
    }, patience);
  }
}
