// The albums as the server last told them, and those of them that are shown: sorted and searched.

import { ask } from "./api.js";
import { ordered, found, haystacks } from "./order.js";

/**
 * @typedef {{id: string, title: string, artist: string, genre: string, year: string | number, hasCover: boolean, cover?: string, problem?: string, cause?: string}} Album
 */
export class Library {
  /** @type {Album[]} in the library's order */
  albums = [];
  /** @type {Album[]} sorted and searched */
  shown = [];
  version = null;
  undo = null;
  redo = null;
  remote = null;
  sort = "library";
  /** The albums are those of another day: the server is away. */
  isKept = false;
  query = "";
  #orders = new Map(); // sort → albums
  #before = new Map(); // the same, before the last change
  #haystacks = null;
  #places = null;
  /** @type {(ids: string[]) => void} these albums have another cover than before */
  coversChanged = () => {};
  #asked = 0;
  #told = 0;

  /** Fetches the albums, if nobody has yet; true if they are not the ones already here. */
  async load(asked = ask("GET", "/api/library")) {
    const turn = ++this.#asked;
    let told, isKept = false;
    try {
      told = await asked;
    } catch (problem) {
      told = !this.version && problem.away ? await kept() : null;
      if (!told) throw problem;
      isKept = true;
    }
    if (turn < this.#told) return false; // a later question was answered first
    this.#told = turn;
    this.isKept = isKept;
    const changed = told.version !== this.version;
    Object.assign(this, { version: told.version, undo: told.undo, redo: told.redo, remote: told.remote });
    if (!changed) return false;
    const covers = new Map(this.albums.map((album) => [album.id, album.cover]));
    this.albums = told.albums;
    const others = told.albums.filter(({ id, cover }) => covers.has(id) && covers.get(id) !== cover);
    if (others.length) this.coversChanged(others.map((album) => album.id));
    this.#before = this.#orders;
    this.#orders = new Map();
    this.#haystacks = null;
    this.arrange();
    return true;
  }

  /** How many albums have an address for their cover. */
  get coverCount() { return this.albums.reduce((count, album) => count + album.hasCover, 0); }

  /** Works out what is shown, after a change of `sort` or `query`. */
  arrange() {
    let order = this.#orders.get(this.sort);
    if (!order) this.#orders.set(this.sort, (order = ordered(this.albums, this.sort, this.#before.get(this.sort))));
    if (this.query.trim()) {
      this.prepareSearch();
      order = found(order, this.#haystacks, this.query);
    }
    this.shown = order;
    this.#places = null;
  }

  /** What searching needs, once per library; called early, so that the first letter typed finds it done. */
  prepareSearch() {
    this.#haystacks ??= haystacks(this.albums);
  }

  /** An album's place among those shown, or -1. */
  place(id) {
    this.#places ??= new Map(this.shown.map((album, index) => [album.id, index]));
    return this.#places.get(id) ?? -1;
  }

  /** An album's place in the library, or -1. */
  indexOf(id) {
    return this.albums.findIndex((album) => album.id === id);
  }
}

/** What the service worker has kept of the library; null if nothing. */
async function kept() {
  const response = await globalThis.caches?.match("/api/library").catch(() => null);
  return response?.json().catch(() => null) ?? null;
}
