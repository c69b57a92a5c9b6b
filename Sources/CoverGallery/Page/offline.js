// The notice that the server is away, and the service worker that stores the page and the covers that were seen.

import { byID, whenIdle } from "./helpers.js";

const workers = navigator.serviceWorker; // undefined over plain HTTP from another machine
const seen = new Set();
/** Milliseconds after the last new address before the worker stores them: not while the user scrolls. */
const storeDelay = 1000;
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
  try {
    await workers.register(scriptAddress("/service-worker.js"), { updateViaCache: "none" });
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

function schedule() {
  if (!seen.size || !workers.controller) return;
  clearTimeout(timer);
  timer = setTimeout(() => whenIdle(send), storeDelay);
}

function send() {
  workers.controller?.postMessage({ seen: [...seen] });
  seen.clear();
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
