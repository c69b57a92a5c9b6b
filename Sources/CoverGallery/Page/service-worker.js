// Keeps the page, and the albums and covers that were seen, for when the server is away.
//
// The page's own files come from here whether the server is there or not: that is quicker, as this worker need not even be
// started for it. The server writes its version into this file, so a newer server brings a newer worker, and with it its
// page. Everything else goes to the server without passing by here.

const version = "VERSION";
const shellCache = `sleeve-shell-${version}`, seenCache = "sleeve-seen";
const shell = [
  "/", "/style.css",
  "/add-form.js", "/ambient.js", "/api.js", "/app.js", "/cover-view.js", "/covers.js", "/details.js", "/edits.js",
  "/events.js", "/first.js", "/gallery.js", "/keyboard.js", "/library.js", "/memento.js", "/motion.js", "/offline.js",
  "/order.js", "/panel.js", "/plot.js", "/scroller.js", "/scroller-drag.js", "/scroller-views.js", "/search.js",
  "/shortcuts.js", "/toast.js", "/tools.js", "/icon.svg", "/icon-maskable.svg", "/manifest.webmanifest",
];
const mostCovers = 2000, trimEvery = 100;
let stored = 0;

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
  const isOld = (name) => name !== shellCache && name !== seenCache;
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
    const cache = await caches.open(seenCache);
    const kept = await cache.matchAll(request, { ignoreSearch: true });
    if (kept.length) return kept.at(-1);
    throw error;
  }
}

/** Pages tell, when they have nothing better to do, what they have seen. The browser itself still has it. */
self.addEventListener("message", (event) => {
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
