// The page without its server: the notice, and the service worker that keeps what was seen.

const notice = document.getElementById("offline");
const workers = navigator.serviceWorker; // none over plain HTTP from another machine
const whenIdle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
const seen = new Set();
/** Milliseconds without anything new to see before what was seen is kept: nobody who scrolls waits for it. */
const rest = 1000;
let timer = 0;

export function showOffline(away) {
  notice.hidden = !away;
}

/** Starts the worker. @param {() => void} newer a newer server has brought a newer page */
export async function keepOffline(newer) {
  if (!workers) return;
  const former = workers.controller;
  workers.addEventListener("controllerchange", () => (former && newer(), plan()));
  plan();
  try {
    await workers.register(scriptAddress("/service-worker.js"), { updateViaCache: "none" });
  } catch {
    // Private windows and the like; the page works all the same, only not without the server.
  }
}

/** What is at this address is to be there without the server too. */
export function keepSeen(address) {
  if (!workers) return;
  seen.add(address);
  plan();
}

function plan() {
  if (!seen.size || !workers.controller) return;
  clearTimeout(timer);
  timer = setTimeout(() => whenIdle(tell), rest);
}

function tell() {
  workers.controller?.postMessage({ seen: [...seen] });
  seen.clear();
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
