// The server's event stream. It reconnects for ever.

import { ask, pageID } from "./api.js";

const kinds = ["cover", "failure", "library", "prefetch", "cache", "remote", "run"];
/** How long the stream may be interrupted before the server counts as away, in milliseconds. */
const awayDelay = 600;
/** A hidden page closes its stream after this, in milliseconds: browsers allow six connections to one server. */
const idleDelay = 60_000;
const retryDelay = 2000; // milliseconds

export class Events {
  #source = null;
  #handlers;
  #isOnline = null;
  #awayTimer = 0;
  #retryTimer = 0;
  #idleTimer = 0;

  /** @param {Record<string, (data: any) => void> & {online(): void, offline(): void}} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#open();
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#idleTimer);
      if (document.hidden) this.#idleTimer = setTimeout(() => this.#close(), idleDelay);
      else if (!this.#source) this.#open();
    });
    addEventListener("online", () => this.#open());
    // A page in the browser's back/forward cache would keep its connection.
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
    const source = (this.#source = new EventSource(`api/events?page=${pageID}`));
    source.addEventListener("open", () => this.#setOnline());
    source.addEventListener("error", () => {
      this.#setOfflineSoon();
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser does not reconnect after some responses, such as a proxy's 502.
      this.#retryTimer = setTimeout(() => this.#open(), retryDelay);
      // Unlike a stream of events, a request tells whether the server wants another token.
      ask("GET", "api/state", undefined, { cache: "no-store" }).catch(() => {});
    });
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => this.#handlers[kind]?.(JSON.parse(event.data)));
    }
  }

  #setOnline() {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = 0;
    this.#isOnline = true;
    this.#handlers.online();
  }

  #setOfflineSoon() {
    if (this.#isOnline === false || this.#awayTimer) return;
    this.#awayTimer = setTimeout(() => {
      this.#awayTimer = 0;
      this.#isOnline = false;
      this.#handlers.offline();
    }, awayDelay);
  }
}
