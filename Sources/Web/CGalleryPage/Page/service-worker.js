// Stores the page, and the albums and covers that were seen, for when the server is away.
//
// The page's own files always come from the cache: with static routes the browser need not even start this worker for them. The
// server writes its version and the files' paths into this file, so a newer server installs a newer worker with a newer page.
// They are in the browser's cache already if it has shown the page. So do covers that are stored: a cover's address has its digest, so its response never changes. Everything else goes to the server
// directly, such as a page's address with a token. Addresses from pages are relative to this file's folder, as in the pages.

const version = "VERSION";
const base = new URL("./", location).pathname;
// As `storageName` in helpers.js: all galleries of the origin, and other applications, share the browser's storage.
const suffix = base === "/" ? "" : ` ${base}`;
const shellCache = `sleeve-shell-${version}${suffix}`, seenCache = `sleeve-seen${suffix}`;
const shell = ["", "PATHS"].map((path) => base + path);
/** Where the seen covers' index is: the entries of a map of album id → name (see covers.js), those seen last at its end. */
const seenIndex = "seen", maximumSeen = 2000;
/** The latest change of the index; changes are made one after the other. */
let indexing = Promise.resolve();

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(Promise.all([storeShell(), addRoutes(event)]));
});

async function storeShell() {
  const cache = await caches.open(shellCache);
  await Promise.all(shell.map(async (path) => {
    const response = await fetch(path);
    if (!response.ok || response.redirected) throw new TypeError(`${path}: status ${response.status}`);
    await cache.put(path, response);
  }));
}

/** With static routes the browser finds the page's files and the covers without this worker. */
async function addRoutes(event) {
  const route = (pathname, search, source) => ({ condition: { urlPattern: new URLPattern({ pathname, search }), requestMethod: "GET" }, source });
  await event.addRoutes?.([
    ...shell.map((path) => route(path, "", { cacheName: shellCache })),
    route(`${base}covers/*`, "", "cache"),
    route(`${base}covers/*`, "w=*", "cache"),
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
  if (request.method !== "GET" || origin !== location.origin) return;
  const isCover = /^(\?w=\d+)?$/.test(search) && pathname.startsWith(`${base}covers/`), cacheName = isCover ? seenCache : shellCache;
  if (!isCover && (search || !shell.includes(pathname))) return;
  event.respondWith(caches.match(request.url, { cacheName }).then((response) => response ?? fetch(request)));
});

/** Pages send what they received: the library, and the covers they have shown. The browser's HTTP cache still has them. */
self.addEventListener("message", (event) => {
  const { hasLibrary, covers } = event.data;
  event.waitUntil(Promise.allSettled([hasLibrary && storeSeen("api/library"), storeCovers(covers)]));
});

/** @returns {Promise<boolean>} whether it is stored now */
async function storeSeen(address) {
  const response = await fetch(address);
  if (!response.ok || response.redirected) return false;
  await (await caches.open(seenCache)).put(address, response);
  return true;
}

/** @param {[string, string][]} covers the names by album id */
async function storeCovers(covers) {
  const cache = await caches.open(seenCache), stored = [];
  await Promise.allSettled(covers.map(async ([id, name]) => {
    const path = `covers/${name}`;
    if ((await cache.match(path)) || (await storeSeen(path))) stored.push([id, name]);
  }));
  indexing = indexing.then(() => index(cache, stored)).catch(() => {});
  await indexing;
}

/** Adds covers to the index, and removes the oldest and those that no album has any more. */
async function index(cache, covers) {
  const names = new Map(await (await cache.match(seenIndex))?.json() ?? []), obsolete = new Set();
  for (const [id, name] of covers) {
    obsolete.add(names.get(id));
    names.delete(id);
    names.set(id, name);
  }
  while (names.size > maximumSeen) {
    const [id, name] = names.entries().next().value;
    obsolete.add(name);
    names.delete(id);
  }
  await cache.put(seenIndex, new Response(JSON.stringify([...names])));
  const used = new Set(names.values());
  for (const name of obsolete) if (name && !used.has(name)) await cache.delete(`covers/${name}`);
}
