// The notice that the server is away, and the service worker that stores the page and the covers that were seen.

import { byID, whenIdle } from "./helpers.js";

const workers = navigator.serviceWorker; // undefined over plain HTTP from another machine
const seen = new Set(), seenCovers = new Map(); // addresses; album id → name
/** The worker stores new addresses within the sum of these, in milliseconds: together, in a pause of the page's work if there is one. */
const storeDelay = 1500, maximumIdleWait = 500;
let timer = 0;

export function showOffline(away) {
  byID("offline").hidden = !away;
}

/** Registers the worker. @param {() => void} updated called when a newer server has installed a newer page */
export async function registerWorker(updated) {
  if (!workers) return;
  const former = workers.controller;
  workers.addEventListener("controllerchange", () => (former && updated(), schedule()));
  schedule();
  // The page may end while it is hidden, without another event.
  addEventListener("pagehide", send);
  document.addEventListener("visibilitychange", () => document.hidden && send());
  try {
    await workers.register(scriptAddress("service-worker.js"), { updateViaCache: "none" });
  } catch {
    // Refused, for example in a private window. The page works, but not without the server.
  }
}

/** Has the worker store the response at this address. */
export function keepSeen(address) {
  if (!workers) return;
  seen.add(address);
  schedule();
}

/** Has the worker store an album's cover. */
export function keepSeenCover(id, name) {
  if (!workers) return;
  seenCovers.set(id, name);
  schedule();
}

/** Starts the delay unless it runs: new addresses do not extend it, or a user who keeps browsing would store nothing. */
function schedule() {
  if (seen.size + seenCovers.size && workers.controller) timer ||= setTimeout(() => whenIdle(send, { timeout: maximumIdleWait }), storeDelay);
}

function send() {
  clearTimeout(timer);
  timer = 0;
  if (!(seen.size + seenCovers.size) || !workers.controller) return;
  workers.controller.postMessage({ seen: [...seen], covers: [...seenCovers] });
  seen.clear();
  seenCovers.clear();
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
