// The notice that the server is away, and the service worker that stores the page and the covers that were seen.

import { byID, whenIdle } from "./helpers.js";

const workers = navigator.serviceWorker; // undefined over plain HTTP from another machine
const seen = new Set(); // addresses
/** The names of the covers that are on the page now, by album id; whether some are new. */
let shownCovers = () => [], hasNewCovers = true;
/** The worker stores new addresses within the sum of these, in milliseconds: together, in a pause of the page's work if there is one. */
const storeDelay = 1500, maximumIdleWait = 500;
let timer = 0;

export function showOffline(away) {
  byID("offline").hidden = !away;
}

/**
 * Registers the worker.
 * @param {() => [string, string][]} covers the names of the covers on the page, by album id
 * @param {() => void} updated called when a newer server has installed a newer page
 */
export async function registerWorker(covers, updated) {
  if (!workers) return;
  shownCovers = covers;
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

/** Has the worker store the covers that are on the page when the delay ends: to store all that a flick passes would slow it down. */
export function keepCovers() {
  if (!workers) return;
  hasNewCovers = true;
  schedule();
}

/** Starts the delay unless it runs: new addresses do not extend it, or a user who keeps browsing would store nothing. */
function schedule() {
  if ((seen.size || hasNewCovers) && workers.controller) timer ||= setTimeout(() => whenIdle(send, { timeout: maximumIdleWait }), storeDelay);
}

function send() {
  clearTimeout(timer);
  timer = 0;
  if (!(seen.size || hasNewCovers) || !workers.controller) return;
  workers.controller.postMessage({ seen: [...seen], covers: hasNewCovers ? shownCovers() : [] });
  seen.clear();
  hasNewCovers = false;
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
