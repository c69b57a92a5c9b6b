// The albums as the server last sent them, and those that are shown: sorted and searched.

import { ask, idsOf } from "./api.js";
import { found, searchRows } from "./found.js";
import { marksOf, ordered } from "./order.js";

/**
 * @typedef {{id: string, title: string, artist: string, genre: string, year: string | number, hasCover: boolean, cover?: string, problem?: string, cause?: string}} Album
 */
export class Library {
  /** @type {Album[]} in the library's order */
  albums = [];
  /** How many the library has. Until all are here, `albums` are the first of them. */
  count = 0;
  /** @type {Album[]} sorted and searched */
  shown = [];
  version = null;
  undo = null;
  redo = null;
  /** The number of the latest edit, undo or redo. */
  edit = null;
  remote = null;
  sort = "library";
  /** The server is away, and the albums are from the browser's storage. */
  isStored = false;
  query = "";
  /** @type {{name: string, ids: Set<string>} | null} of these albums alone */
  filter = null;
  /** @type {import("./address.js").Page | null} an artist or a genre whose albums alone are shown */
  page = null;
  #orders = new Map(); // sort → albums
  #formerOrders = new Map(); // the same, before the last change
  #searchRows = null;
  #indices = null; // id → index in `shown`
  #marks = null;
  #unsearched = 0; // how many are shown without the query
  /** @type {(ids: string[]) => void} these albums have new covers */
  coversChanged = () => {};
  /** @type {() => void} `shown` was replaced. Called in the same step, so that no index is used with the albums of another list. */
  changed = () => {};
  #filterCount = 0;
  #wanted = ""; // the filter that was chosen last, while its albums may be on their way
  #requestCount = 0;
  #lastResponse = 0;

  /** How many albums there are to search: all, or those of the page or the filter. */
  get total() { return this.page || this.filter ? this.#unsearched : this.count; }

  /** Shows the first albums of `count` until `load` has all of them. */
  begin(albums, count) {
    Object.assign(this, { albums, count });
    this.arrange();
  }

  /** Fetches the albums. */
  async load() {
    const number = ++this.#requestCount;
    let answer, isStored = false;
    try {
      answer = await ask("GET", "api/library");
    } catch (problem) {
      answer = !this.version && problem.away ? await storedLibrary() : null;
      if (!answer) throw problem;
      isStored = true;
    }
    if (number < this.#lastResponse) return; // a later request was answered first
    this.#lastResponse = number;
    this.isStored = isStored;
    const changed = answer.version !== this.version;
    Object.assign(this, { version: answer.version, undo: answer.undo, redo: answer.redo, edit: answer.edit, remote: answer.remote });
    if (!changed) return;
    const covers = new Map(this.albums.map((album) => [album.id, album.cover]));
    this.albums = answer.albums;
    this.count = this.albums.length;
    const others = this.albums.filter(({ id, cover }) => covers.has(id) && covers.get(id) !== cover);
    if (others.length) this.coversChanged(others.map((album) => album.id));
    this.#formerOrders = this.#orders;
    this.#orders = new Map();
    this.#searchRows = null;
    this.arrange();
    this.changed();
  }

  /**
   * Lists the albums of a filter alone, or all without a name. The server decides which these are; they stay until `renewFilter`, so that
   * none disappears while its cover arrives. @returns {Promise<boolean>} false: another one was chosen meanwhile
   */
  async filterBy(name) {
    const number = ++this.#filterCount;
    this.#wanted = name;
    try {
      const ids = name && new Set(await idsOf(name));
      if (number === this.#filterCount) this.filter = name ? { name, ids } : null;
    } catch (problem) {
      if (number !== this.#filterCount) return false;
      this.#wanted = this.filter?.name ?? "";
      throw problem;
    }
    return number === this.#filterCount;
  }

  /** After an edit, an album may not belong to the filter any more. */
  renewFilter() { return this.filterBy(this.#wanted); }

  /** Updates `shown` after a change of `sort`, `query`, `page` or `filter`. */
  arrange() {
    let order = this.#orders.get(this.sort);
    if (!order) this.#orders.set(this.sort, (order = ordered(this.albums, this.sort, this.#formerOrders.get(this.sort))));
    if (this.page) order = order.filter((album) => album[this.page.field] === this.page.value);
    if (this.filter) order = order.filter(({ id }) => this.filter.ids.has(id));
    this.#unsearched = order.length;
    if (this.query.trim()) order = found(order, this.prepareSearch(), this.query);
    this.shown = order;
    this.#indices = this.#marks = null;
  }

  /** Builds the search rows; called early, so that the first letter typed need not wait for them. */
  prepareSearch() { return (this.#searchRows ??= searchRows(this.albums)); }

  /** Where each letter or decade of `shown` begins; of all albums alone, as the others are few. */
  get marks() { return (this.#marks ??= this.query.trim() || this.page ? [] : marksOf(this.shown, this.sort)); }

  /** An album's index among those shown, or -1. */
  shownIndexOf(id) {
    this.#indices ??= new Map(this.shown.map((album, index) => [album.id, index]));
    return this.#indices.get(id) ?? -1;
  }

  /** An album's index in the library, or -1. */
  indexOf(id) { return this.albums.findIndex((album) => album.id === id); }
}

/** The library as the service worker stored it; null if it did not. */
async function storedLibrary() {
  const response = await globalThis.caches?.match("api/library").catch(() => null);
  return response?.json().catch(() => null) ?? null;
}
