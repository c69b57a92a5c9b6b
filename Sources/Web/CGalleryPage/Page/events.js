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

/** @returns {() => boolean} whether the server's events come to this tab first */
export function listenToServer(handlers) {
  let source = null, tabs = channel(); // null if tabs cannot share
  let endTurn = () => {}, waiting = null; // for the stream
  let isOnline = null, awayTimer = 0, retryTimer = 0;

  /** Takes part: a tab that is shown takes the stream, and every tab waits for it. */
  async function join() {
    follow();
    const { signal } = (waiting = new AbortController());
    while (tabs && !signal.aborted) await hold({ signal });
  }

  /** The tab is shown, or hidden. */
  function follow() {
    if (!tabs && document.hidden) close();
    else if (document.hidden || source) return;
    else if (tabs) hold({ steal: true });
    else open();
  }

  /** Has the stream, from its turn on, until another tab is shown or this one ends. */
  async function hold(options) {
    let end = null;
    const turn = () => new Promise((resolve) => {
      endTurn = end = resolve;
      open();
    });
    try {
      await navigator.locks.request(name, options, turn);
    } catch (problem) {
      if (end && end === endTurn) close(); // not if this tab has taken it again
      if (problem.name === "AbortError") return;
      tabs = null; // locks are forbidden
      follow();
    }
  }

  function close() {
    source?.close();
    source = null;
    clearTimeout(retryTimer);
    clearTimeout(awayTimer);
    awayTimer = 0;
  }

  function open() {
    close();
    const mine = (source = new EventSource(`api/events?page=${pageID}`));
    mine.addEventListener("open", setOnline);
    mine.addEventListener("error", () => {
      setOfflineSoon();
      if (mine.readyState !== EventSource.CLOSED) return;
      // The browser does not reconnect after some responses, such as a proxy's 502.
      retryTimer = setTimeout(open, retryDelay);
      // Unlike a stream of events, a request tells whether the server wants another token.
      ask("GET", "api/state", undefined, { cache: "no-store" }).catch(() => {});
    });
    for (const kind of kinds) mine.addEventListener(kind, (event) => tell(kind, JSON.parse(event.data)));
  }

  function tell(kind, data) {
    handlers[kind]?.(data);
    tabs?.postMessage([kind, data]);
  }

  function setOnline() {
    clearTimeout(awayTimer);
    awayTimer = 0;
    isOnline = true;
    tell("online");
  }

  function setOfflineSoon() {
    if (isOnline === false || awayTimer) return;
    awayTimer = setTimeout(() => {
      awayTimer = 0;
      isOnline = false;
      tell("offline");
    }, awayDelay);
  }

  tabs?.addEventListener("message", ({ data: [kind, data] }) => handlers[kind]?.(data));
  join();
  document.addEventListener("visibilitychange", follow);
  addEventListener("online", () => source && open());
  // A page in the browser's back/forward cache would keep its connection.
  addEventListener("pagehide", () => {
    waiting?.abort();
    endTurn();
    close();
  });
  addEventListener("pageshow", (event) => event.persisted && join());
  return () => Boolean(source);
}

function channel() {
  try {
    return navigator.locks ? new BroadcastChannel(name) : null;
  } catch {
    return null;
  }
}
