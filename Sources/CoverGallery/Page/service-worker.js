// Stores the page, the albums and covers that were seen, and all covers if the user wants that, for when the server is away.
//
// The page's own files always come from the cache: with static routes the browser need not even start this worker for them. The
// server writes its version and the files' paths into this file, so a newer server installs a newer worker with a newer page.
// Everything else goes to the server directly. Addresses from pages are relative to this file's folder, as in the pages.

const version = "VERSION";
const base = new URL("./", location).pathname;
// As `storageName` in helpers.js: all galleries of the origin, and other applications, share the browser's storage.
const suffix = base === "/" ? "" : ` ${base}`;
const shellCache = `sleeve-shell-${version}${suffix}`, seenCache = `sleeve-seen${suffix}`, keptCache = `sleeve-kept${suffix}`;
const shell = ["", "PATHS"].map((path) => base + path);
const maximumSeen = 2000, trimInterval = 100;
let storedCount = 0;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(Promise.all([storeShell(), addRoutes(event)]));
});

async function storeShell() {
  const cache = await caches.open(shellCache);
  await Promise.all(shell.map(async (path) => {
    const response = await fetch(path, { cache: "no-cache" });
    if (!response.ok || response.redirected) throw new TypeError(`${path}: status ${response.status}`);
    await cache.put(path, withoutLinks(response));
  }));
}

/** Removes the `Link` field, which names covers to preload: they are outdated when the stored page opens. */
function withoutLinks({ body, headers, status }) {
  const kept = new Headers(headers);
  kept.delete("Link");
  return new Response(body, { status, headers: kept });
}

/** With static routes the browser finds the page's files without this worker. */
async function addRoutes(event) {
  const route = (pathname, search, source) => ({ condition: { urlPattern: new URLPattern({ pathname, search }), requestMethod: "GET" }, source });
  await event.addRoutes?.([
    ...shell.map((path) => route(path, "", { cacheName: shellCache })),
    route(`${base}covers/*`, "v=*", "network"),
    route(`${base}api/*`, "*", "network"),
  ]).catch(() => {});
}

self.addEventListener("activate", (event) => {
  const isObsolete = (name) => name !== shellCache && /^sleeve-shell-[^ ]+/.exec(name)?.[0] + suffix === name;
  const tidy = async () => Promise.all((await caches.keys()).filter(isObsolete).map((name) => caches.delete(name)));
  event.waitUntil(Promise.all([self.clients.claim(), tidy()]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || search) return;
  if (shell.includes(pathname)) event.respondWith(fromShell(request, pathname));
  // The page requests a cover without its version if the one with the version failed.
  else if (pathname.startsWith(`${base}covers/`)) event.respondWith(anyVersion(request));
});

async function fromShell(request, path) {
  const cache = await caches.open(shellCache);
  return (await cache.match(path)) ?? fetch(request);
}

async function anyVersion(request) {
  const response = await fetch(request).catch(() => Response.error());
  // A proxy answers 502 to 504 for a server that is away.
  if (response.ok || (response.status && response.status < 500)) return response;
  // The kept cover is found by its address; a seen one only by a search, as its address has a version.
  const own = await caches.match(request, { cacheName: keptCache });
  if (own) return own;
  const cache = await caches.open(seenCache);
  return (await cache.matchAll(request, { ignoreSearch: true })).at(-1) ?? response;
}

/** Pages send the addresses of responses that they received. The browser's HTTP cache still has them. */
self.addEventListener("message", (event) => event.waitUntil(Promise.allSettled(event.data.seen.map(storeSeen))));

async function storeSeen(address) {
  const cache = await caches.open(seenCache), isCover = address.startsWith("covers/");
  if (isCover && (await cache.match(address))) return;
  const response = await fetch(address);
  if (!response.ok || response.redirected) return;
  await cache.put(address, response);
  if (isCover && ++storedCount % trimInterval === 0) await trim(cache);
}

async function trim(cache) {
  // Keys are in the order of insertion: the last are the newest.
  const newest = new Set();
  for (const old of (await cache.keys()).reverse()) {
    const { pathname } = new URL(old.url);
    if (newest.has(pathname) || newest.size > maximumSeen) await cache.delete(old);
    else newest.add(pathname);
  }
}
