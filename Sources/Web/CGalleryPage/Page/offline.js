// The service worker, which stores the page and the covers that were seen.

import { whenIdle } from "./helpers.js";

const workers = navigator.serviceWorker; // undefined over plain HTTP from another machine
/** What is new since the worker was told: "covers", "library". */
const news = new Set(["covers"]);
/** The names of the covers that are on the page now, by album id. */
let shownCovers = () => [];
/** The worker stores what is new within the sum of these, in milliseconds: together, in a pause of the page's work if there is one. */
const storeDelay = 1500, maximumIdleWait = 500;
let timer = 0;

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
  // The page may end while it is hidden, without another event.
  addEventListener("pagehide", send);
  document.addEventListener("visibilitychange", () => document.hidden && send());
  try {
    await workers.register(scriptAddress("service-worker.js"), { updateViaCache: "none" });
  } catch {
    // Refused, for example in a private window. The page works, but not without the server.
  }
}

/**
 * Has the worker store the library, or the covers that are on the page when the delay ends: to store all that a flick passes would slow it.
 * @param {"library" | "covers"} what
 */
export function keep(what) {
  news.add(what);
  schedule();
}

/** Starts the delay unless it runs: what is new does not extend it, or a user who keeps browsing would store nothing. */
function schedule() {
  if (news.size && workers?.controller) timer ||= setTimeout(() => whenIdle(send, { timeout: maximumIdleWait }), storeDelay);
}

function send() {
  clearTimeout(timer);
  timer = 0;
  if (!news.size || !workers.controller) return;
  workers.controller.postMessage({ hasLibrary: news.has("library"), covers: news.has("covers") ? shownCovers() : [] });
  news.clear();
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
