// The server's events. Browsers allow six connections to one server, so the tabs of a browser share one stream: the tab that was shown last
// has it, and passes the events on. It reconnects for ever. Over plain HTTP from another machine, or if the user forbids storage, a browser
// has no locks: there each tab has a stream while it is shown.

import { ask, pageID } from "./api.js";
import { storageName } from "./helpers.js";

const kinds = ["cover", "failure", "library", "prefetch", "cache", "remote", "run"];
/** How long the stream may be interrupted before the server counts as away, in milliseconds. */
const awayDelay = 600;
const retryDelay = 2000; // milliseconds
const name = storageName("sleeve-events");

export class Events {
  #source = null;
  #handlers;
  #tabs = channel(); // null if tabs cannot share
  #end = () => {}; // gives the stream up
  #waiting = null; // for the stream
  #isOnline = null;
  #awayTimer = 0;
  #retryTimer = 0;

  /** @param {Record<string, (data: any) => void> & {online(): void, offline(): void}} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#tabs?.addEventListener("message", ({ data: [kind, data] }) => handlers[kind]?.(data));
    this.#join();
    document.addEventListener("visibilitychange", () => this.#follow());
    addEventListener("online", () => this.#source && this.#open());
    // A page in the browser's back/forward cache would keep its connection.
    addEventListener("pagehide", () => {
      this.#waiting?.abort();
      this.#end();
      this.#close();
    });
    addEventListener("pageshow", (event) => event.persisted && this.#join());
  }

  get hasStream() { return Boolean(this.#source); }

  /** Takes part: a tab that is shown takes the stream, and every tab waits for it. */
  async #join() {
    this.#follow();
    const { signal } = (this.#waiting = new AbortController());
    while (this.#tabs && !signal.aborted) await this.#hold({ signal });
  }

  /** The tab is shown, or hidden. */
  #follow() {
    if (!this.#tabs && document.hidden) this.#close();
    else if (document.hidden || this.#source) return;
    else if (this.#tabs) this.#hold({ steal: true });
    else this.#open();
  }

  /** Has the stream, from its turn on, until another tab is shown or this one ends. */
  async #hold(options) {
    let end = null;
    const turn = () => new Promise((resolve) => {
      this.#end = end = resolve;
      this.#open();
    });
    try {
      await navigator.locks.request(name, options, turn);
    } catch (problem) {
      if (end && end === this.#end) this.#close(); // not if this tab has taken it again
      if (problem.name === "AbortError") return;
      this.#tabs = null; // locks are forbidden
      this.#follow();
    }
  }

  #close() {
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#awayTimer);
    this.#awayTimer = 0;
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
    for (const kind of kinds) source.addEventListener(kind, (event) => this.#tell(kind, JSON.parse(event.data)));
  }

  #tell(kind, data) {
    this.#handlers[kind]?.(data);
    this.#tabs?.postMessage([kind, data]);
  }

  #setOnline() {
    clearTimeout(this.#awayTimer);
    this.#awayTimer = 0;
    this.#isOnline = true;
    this.#tell("online");
  }

  #setOfflineSoon() {
    if (this.#isOnline === false || this.#awayTimer) return;
    this.#awayTimer = setTimeout(() => {
      this.#awayTimer = 0;
      this.#isOnline = false;
      this.#tell("offline");
    }, awayDelay);
  }
}

function channel() {
  try {
    return navigator.locks ? new BroadcastChannel(name) : null;
  } catch {
    return null;
  }
}
