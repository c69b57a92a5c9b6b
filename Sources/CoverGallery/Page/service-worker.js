// Keeps the page, the albums and covers that were seen, and all covers where the person wants that, for when the server
// is away.
//
// The page's own files come from here whether the server is there or not: that is quicker, as this worker need not even be
// started for it. The server writes its version into this file, so a newer server brings a newer worker, and with it its
// page. Everything else goes to the server without passing by here.

const version = "VERSION";
const shellCache = `sleeve-shell-${version}`, seenCache = "sleeve-seen", keptCache = "sleeve-kept", keptIndex = "/kept";
const shell = [
  "/", "/style.css",
  "/album-form.js", "/ambient.js", "/api.js", "/app.js", "/cover-view.js", "/covers.js", "/details.js", "/edits.js",
  "/events.js", "/first.js", "/gallery.js", "/keeping.js", "/keyboard.js", "/library.js", "/memento.js", "/motion.js", "/offline.js",
  "/order.js", "/panel.js", "/scroller.js", "/scroller-drag.js", "/scroller-views.js", "/search.js",
  "/shortcuts.js", "/toast.js", "/tools.js", "/icon.svg", "/icon-maskable.svg", "/manifest.webmanifest",
];
const mostCovers = 2000, trimEvery = 100;
let stored = 0, keeping = Promise.resolve();

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(Promise.all([keepShell(), addRoutes(event)]));
});

async function keepShell() {
  const cache = await caches.open(shellCache);
  await Promise.all(shell.map(async (path) => {
    const response = await fetch(path, { cache: "no-cache" });
    if (!response.ok || response.redirected) throw new TypeError(`${path}: status ${response.status}`);
    await cache.put(path, withoutLinks(response));
  }));
}

/** The page's head names covers to load at once; those of another day would be asked for in vain. */
function withoutLinks({ body, headers, status }) {
  const kept = new Headers(headers);
  kept.delete("Link");
  return new Response(body, { status, headers: kept });
}

/** Browsers that know routes find the page's files themselves. */
async function addRoutes(event) {
  const route = (pathname, search, source) => ({ condition: { urlPattern: new URLPattern({ pathname, search }), requestMethod: "GET" }, source });
  await event.addRoutes?.([
    ...shell.map((path) => route(path, "", { cacheName: shellCache })),
    route("/covers/*", "v=*", "network"),
    route("/api/*", "*", "network"),
  ]).catch(() => {});
}

self.addEventListener("activate", (event) => {
  const isOld = (name) => ![shellCache, seenCache, keptCache].includes(name);
  const tidy = async () => Promise.all((await caches.keys()).filter(isOld).map((name) => caches.delete(name)));
  event.waitUntil(Promise.all([self.clients.claim(), tidy()]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || search) return;
  if (shell.includes(pathname)) event.respondWith(fromShell(request, pathname));
  // A page asks for a cover without its version when it could not be had with it.
  else if (pathname.startsWith("/covers/")) event.respondWith(anyVersion(request));
});

async function fromShell(request, path) {
  const cache = await caches.open(shellCache);
  return (await cache.match(path)) ?? fetch(request);
}

async function anyVersion(request) {
  try {
    return await fetch(request);
  } catch (error) {
    // Those that are all kept are found by their address at once; among those that were seen every one is looked at.
    const own = await caches.match(request, { cacheName: keptCache });
    if (own) return own;
    const cache = await caches.open(seenCache);
    const kept = await cache.matchAll(request, { ignoreSearch: true });
    if (kept.length) return kept.at(-1);
    throw error;
  }
}

/** Pages tell, when they have nothing better to do, what they have seen. The browser itself still has it. */
self.addEventListener("message", (event) => {
  if (event.data.keep) return event.waitUntil(keepAll(event.data.keep, event.ports[0]));
  event.waitUntil(Promise.allSettled((event.data.seen ?? []).map(keep)));
});

async function keep(address) {
  const cache = await caches.open(seenCache), isCover = address.startsWith("/covers/");
  if (isCover && (await cache.match(address))) return;
  const response = await fetch(address);
  if (!response.ok || response.redirected) return;
  await cache.put(address, response);
  if (isCover && ++stored % trimEvery === 0) await trim(cache);
}

async function trim(cache) {
  // Kept in the order in which they came: the last are the newest, of all covers and of each one's versions.
  const newest = new Set();
  for (const old of (await cache.keys()).reverse()) {
    const { pathname } = new URL(old.url);
    if (newest.has(pathname) || newest.size > mostCovers) await cache.delete(old);
    else newest.add(pathname);
  }
}

/**
 * Stores covers and drops others, one message after the other: each reads the index and writes it again. A cover that cannot
 * be had now is asked for again when the page opens the next time.
 */
function keepAll(message, port) {
  return (keeping = keeping.then(async () => {
    try {
      port.postMessage(await storeCovers(message));
    } catch (error) {
      port.postMessage({ problem: error.name === "QuotaExceededError" ? "this browser has no more room" : error.message });
    }
  }));
}

/** @param {{store: {id: string, version: string, bytes: number}[], drop: string[], limit: number}} wanted limit in bytes */
async function storeCovers({ store, drop, limit }) {
  const cache = await caches.open(keptCache), known = await cache.match(keptIndex);
  const index = new Map(known ? await known.json() : []);
  const path = (id) => `/covers/${encodeURIComponent(id)}`;
  for (const id of drop) if (index.delete(id)) await cache.delete(path(id));
  let size = [...index.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const fitting = store.filter(({ id, bytes }) => {
    const grown = size + bytes - (index.get(id)?.bytes ?? 0);
    if (grown <= limit) size = grown;
    return grown <= limit;
  });
  const outcomes = await Promise.allSettled(fitting.map(async ({ id, version, bytes }) => {
    const response = await fetch(`${path(id)}?v=${version}`);
    if (!response.ok || response.redirected) return;
    await cache.put(path(id), response);
    index.set(id, { version, bytes });
  }));
  await cache.put(keptIndex, new Response(JSON.stringify([...index])));
  const problem = outcomes.find(({ reason }) => reason?.name === "QuotaExceededError")?.reason;
  if (problem) throw problem;
  return { isFull: fitting.length < store.length };
}
