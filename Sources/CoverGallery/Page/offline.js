// The page without its server: the notice, and the service worker that keeps what was seen.

const notice = document.getElementById("offline");

export function showOffline(away) {
  notice.hidden = !away;
}

/** @param {() => string[]} seen the addresses of the covers on the page */
export async function keepOffline(seen) {
  const workers = navigator.serviceWorker; // none over plain HTTP from another machine
  if (!workers) return;
  const first = !workers.controller;
  workers.addEventListener("controllerchange", () => first && keepSeen(seen()), { once: true });
  try {
    await workers.register(scriptAddress("/service-worker.js"), { updateViaCache: "none" });
  } catch {
    // Private windows and the like; the page works all the same, only not without the server.
  }
}

/** What was loaded before the worker was there passes by it once more, from the browser's own cache. */
function keepSeen(addresses) {
  for (const address of ["/api/library", ...addresses]) fetch(address).catch(() => {});
}

function scriptAddress(path) {
  if (!window.trustedTypes) return path;
  return trustedTypes.createPolicy("sleeve", { createScriptURL: () => path }).createScriptURL(path);
}
