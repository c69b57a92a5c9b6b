// Keeps the page, the albums and the covers that were seen, for when the server is away. While it is there the page and
// the albums always come from it: a newer server gets its newer page, and nothing here can be in its way.

const shellCache = "sleeve-shell", coverCache = "sleeve-covers";
const shell = [
  "/", "/style.css",
  "/add-form.js", "/ambient.js", "/api.js", "/app.js", "/cover-view.js", "/covers.js", "/details.js", "/edits.js",
  "/events.js", "/first.js", "/gallery.js", "/keyboard.js", "/library.js", "/memento.js", "/motion.js", "/offline.js", "/order.js",
  "/panel.js", "/plot.js", "/scroller.js", "/scroller-drag.js", "/scroller-views.js", "/search.js", "/shortcuts.js",
  "/toast.js", "/tools.js", "/icon.svg", "/icon-maskable.svg", "/manifest.webmanifest",
];
const reads = ["/api/library"];
/** A server that says nothing for so long, in milliseconds, is away as far as somebody who waits is concerned. */
const patience = 2500;
const mostCovers = 2000, trimEvery = 100;
let stored = 0;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  // Browsers that can ask the server while this worker is being started do.
  const racing = [...shell, ...reads].map((pathname) => ({ condition: { urlPattern: new URLPattern({ pathname }) }, source: "race-network-and-fetch-handler" }));
  if (event.addRoutes) event.waitUntil(event.addRoutes(racing).catch(() => {}));
  // One by one: a file that a newer server no longer has must not keep the others away.
  const keep = async (cache, path) => {
    const response = await fetch(path, { cache: "no-cache" });
    if (response.status >= 502 && response.status <= 504) throw new TypeError("A gateway stands in for the server.");
    if (response.ok && !response.redirected) await cache.put(path, withoutLinks(response));
  };
  event.waitUntil(caches.open(shellCache).then((cache) => Promise.allSettled(shell.map((path) => keep(cache, path)))));
});

self.addEventListener("activate", (event) => {
  // The page is asked for while this worker is still being started.
  event.waitUntil(Promise.all([self.clients.claim(), self.registration.navigationPreload?.enable()]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/covers/")) return event.respondWith(cover(event, url));
  // What is not known here, the event stream above all, is left to the browser.
  if (request.mode === "navigate" ? url.pathname === "/" : shell.includes(url.pathname) || reads.includes(url.pathname)) {
    event.respondWith(networkFirst(event, url.pathname));
  }
});

async function networkFirst(event, path) {
  const answer = ask(event).then((response) => {
    if (response.status >= 502 && response.status <= 504) throw new TypeError("A gateway stands in for the server.");
    if (response.ok && !response.redirected) event.waitUntil(keepAnswer(path, response.clone()));
    return response;
  });
  event.waitUntil(answer.catch(() => {}));
  const late = new Promise((resolve) => setTimeout(resolve, patience));
  const inTime = await Promise.race([answer.catch(() => null), late]);
  if (inTime) return inTime;
  const cache = await caches.open(shellCache);
  return (await cache.match(path)) ?? answer.catch(() => fetch(event.request));
}

async function ask(event) {
  return (await event.preloadResponse) ?? fetch(event.request);
}

async function keepAnswer(path, response) {
  const cache = await caches.open(shellCache);
  const tag = response.headers.get("ETag"), kept = tag && (await cache.match(path));
  if (kept?.headers.get("ETag") === tag) return response.body?.cancel();
  await cache.put(path, withoutLinks(response));
}

/** The page's head names covers to load at once, which pass by this worker: without the server they would be broken. */
function withoutLinks(response) {
  if (!response.headers.has("Link")) return response;
  const { status, statusText } = response, headers = new Headers(response.headers);
  headers.delete("Link");
  return new Response(response.body, { status, statusText, headers });
}

/** A cover whose version is here is what it says, for ever; any version will do when the server is away. */
async function cover(event, url) {
  const cache = await caches.open(coverCache);
  const kept = url.searchParams.has("v") && (await cache.match(event.request));
  if (kept) return kept;
  let response;
  try {
    response = await fetch(event.request);
  } catch (error) {
    const older = await cache.matchAll(event.request, { ignoreSearch: true });
    if (older.length) return older.at(-1);
    throw error;
  }
  if (response.ok && url.searchParams.has("v")) event.waitUntil(keepCover(cache, event.request, response.clone()));
  return response;
}

async function keepCover(cache, request, response) {
  await cache.put(request, response);
  if (++stored % trimEvery) return;
  // Kept in the order in which they came: the last are the newest, of all covers and of each one's versions.
  const newest = new Set();
  for (const old of (await cache.keys()).reverse()) {
    const { pathname } = new URL(old.url);
    if (newest.has(pathname) || newest.size >= mostCovers) await cache.delete(old);
    else newest.add(pathname);
  }
}
