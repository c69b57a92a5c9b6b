// The albums on the wall or on the stage, two views of one list, and the parts of the page that follow the chosen album.

import { Stage } from "./stage.js";
import { Wall } from "./wall.js";
import { canRetry, showAlbum, showCount, showCoverState } from "./details.js";
import { emptyButton, showEmpty } from "./empty.js";
import { byID } from "./helpers.js";
import { grow } from "./transition.js";

const hosts = { stage: byID("covers"), wall: byID("wall") };
/** Jumps in quick succession, such as those of a finger on the rail, are one for the browser's Back button, in milliseconds. */
const jumpPause = 1500;
/** Sizes of covers on the wall beside the usual one, in pixels: small and large. */
const sizes = [88, 240];
/** How many albums on each side of those in view are near: as many as are in view, within these bounds. */
const leastNear = 16, mostNear = 100;
/** Whether the user's last act was by a key: only then the focus is seen. */
let isKeyed = false;
for (const type of ["keydown", "pointerdown"]) addEventListener(type, () => (isKeyed = type === "keydown"), true);

export class Gallery {
  #library;
  #covers;
  #views;
  /** The view that is shown: a `Stage` or a `Wall`; null before the first list. */
  #view = null;
  /** Its name: "stage" or "wall". */
  name = "wall";
  #tile = 0;
  #chosen = null; // the chosen album's id
  #lastChosen = null; // the same; kept while nothing is found
  #jumpedAt = -Infinity;
  /** The choice or the position changed. */
  changed = () => {};
  /** Called before the view, the order or the list changes, or before a jump. */
  leaves = () => {};
  /** The view, the list or the chosen album changed. */
  selected = () => {};
  /** @type {() => void} called when the chosen album's cover has changed */
  coverChanged = () => {};
  /** The user moves the view. */
  moved = () => {};
  /** The covers on the wall are to have another size. */
  resized = () => {};
  /** Shows the chosen album's picture in its own pixels. */
  zoom = () => {};

  constructor(library, covers) {
    this.#library = library;
    this.#covers = covers;
    /** @type {import("./views.js").List} */
    const list = {
      count: () => library.shown.length,
      keyAt: (index) => library.shown[index].id,
      marks: () => library.marks,
      viewAt: (index, recycled) => covers.viewFor(library.shown[index], recycled),
      release: (view) => covers.release(view),
      didSelect: (index) => this.#select(library.shown[index]),
      didShow: (first, last) => this.#setVisible(first, last),
      didTap: () => this.enlarge(),
      didMove: () => this.moved(),
      didRest: () => this.changed(),
      didResize: (pixels) => covers.resize(pixels),
    };
    this.#views = { stage: new Stage(hosts.stage, list), wall: new Wall(hosts.wall, list) };
    library.changed = () => this.refresh();
    covers.changed = (id) => id === this.#chosen && (this.#showCover(), this.coverChanged());
    byID("retry").addEventListener("click", () => this.retry());
    for (const host of Object.values(hosts)) host.addEventListener("keydown", (event) => this.key(event));
    // A place is one in rows: the window may have another width when the user comes back.
    history.scrollRestoration = "manual";
  }

  /** The chosen album, or null. */
  get album() { return this.#library.shown[this.#view?.index ?? -1] ?? null; }

  /** The index of the chosen album or, if it is out of view, of one in view. */
  get place() { return this.#view?.place ?? 0; }

  /** Null before the first list is shown. @returns {import("./address.js").Place | null} */
  get memento() {
    if (!this.#view) return null;
    const { query, filter, page, sort } = this.#library, album = this.#chosen ?? this.#lastChosen, index = this.#library.indexOf(album);
    const position = Math.round(this.#view.position * 1000) / 1000;
    return { album, index, position, sort, view: this.name, tile: this.tile, show: filter?.name, q: query.trim(), page };
  }

  /** The least size of a cover on the wall, in pixels: one of three, of which 0 is the usual one. */
  get tile() { return this.#tile; }
  set tile(pixels) {
    this.#tile = sizes.reduce((one, other) => (Math.abs(other - pixels) < Math.abs(one - pixels) ? other : one), 0);
    this.#views.wall.tile = this.#tile;
    this.resized();
    this.changed();
  }

  /**
   * Shows a view of the list, on an album: by default the chosen one.
   * @param {string} [name] @param {{id?: string, position?: number}} [at] position: the view's, as it was
   */
  open(name = this.name, { id, position } = {}) {
    // What leads back from the stage leads to the album that is shown there by now.
    const shown = this.name === "stage" && name === "wall" && this.#library.shownIndexOf(this.#chosen) >= 0 ? this.#chosen : null;
    const hasMovedOn = Boolean(shown && id && shown !== id);
    if (hasMovedOn) id = shown;
    if (this.#view !== this.#views[name]) this.#view?.close();
    this.name = document.body.dataset.view = name;
    this.#view = this.#views[name];
    const index = Math.max(0, this.#library.shownIndexOf(id ?? this.#chosen ?? this.#lastChosen));
    this.#showOrHideEmpty();
    this.#select(this.#library.shown[index]);
    this.#view.open(index, position);
    if (hasMovedOn) this.#view.choose(index);
    hosts.stage.removeAttribute("aria-busy");
    this.changed();
  }

  /** Shows the changed list of albums. Stays at the preferred album or, if it is gone, at its index. */
  refresh(preferred = this.#chosen ?? this.#lastChosen) {
    if (!this.#view) return;
    const found = this.#library.shownIndexOf(preferred), last = this.#library.shown.length - 1;
    this.#showOrHideEmpty();
    this.#view.reload(Math.max(0, found >= 0 ? found : Math.min(this.#view.index, last)));
    if (!this.album) this.#select(null);
  }

  /** Shows another list, or one in another order: the chosen album if it has that, else its beginning. */
  reopen() { if (this.#view) this.open(); }

  /** Jumps to a place in the list. */
  goTo(index) {
    const now = performance.now();
    if (now - this.#jumpedAt > jumpPause) this.leaves();
    this.#jumpedAt = now;
    this.#view?.choose(index, { toTop: true });
  }

  /** Changes the view of the list. Its cover moves from its tile to the stage, and back. */
  async toggle() {
    this.leaves(this.name === "wall");
    await grow(() => this.open(this.name === "wall" ? "stage" : "wall"), () => this.#covers.viewOf(this.#chosen));
    this.focus();
  }

  /** Goes from the stage to all albums; false if they are shown. */
  close() {
    if (this.name === "wall") return false;
    // As the browser's Back does, where that leads there.
    if (history.state?.isOverWall) history.back();
    else this.toggle();
    return true;
  }

  /** Chooses an album by its id; false if it is not shown. */
  choose(id) {
    const index = this.#library.shownIndexOf(id);
    if (index < 0) return false;
    if (id !== this.#chosen) this.#view.choose(index);
    return true;
  }

  /** Goes on to the next album, from the last one to the first. */
  next() { this.#view?.choose((this.#view.index + 1) % this.#library.shown.length); }

  /** Whether it can be seen which album is chosen: on the wall that is the keyboard's. */
  get isMarked() { return this.name === "stage" || hosts.wall.matches(":focus-visible"); }

  /** Retries the chosen album's cover; false if it has not failed. */
  retry() {
    if (!this.#chosen || this.name === "wall" || !canRetry(this.#covers.stateOf(this.#chosen))) return false;
    this.#covers.retry(this.#chosen);
    this.focus(); // the pressed button disappears
    return true;
  }

  /** Shows the chosen album: on the stage, and there in its own pixels; false if there is none. */
  enlarge() {
    if (!this.album) return false;
    if (this.name === "wall") this.toggle();
    else this.zoom();
    return true;
  }

  /** Handles keys that move the choice, in both views; true if `event` is one. */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return false;
    const to = this.#view?.target(event.key);
    if (to === undefined) return false;
    event.preventDefault();
    // On the wall, the focus marks what is chosen. A press had hidden it.
    if (document.activeElement === hosts[this.name] && !hosts[this.name].matches(":focus-visible")) hosts[this.name].blur();
    if (document.activeElement === document.body) this.focus();
    this.#view.choose(to);
    return true;
  }

  focus() { (emptyButton() ?? hosts[this.name]).focus({ preventScroll: true, focusVisible: isKeyed }); }

  /** @param {"none" | "unfound" | "elsewhere" | "bare" | "filtered" | "away"} kind @param {string} [detail] */
  showNothing(kind, detail) {
    showEmpty(kind, detail);
    this.#showHost(null);
    showAlbum(null);
    showCount(this.#library, -1);
  }

  #showOrHideEmpty() {
    const { shown, albums, query, filter, page } = this.#library, isSearch = Boolean(query.trim());
    byID("bare").hidden = !albums.length || albums.some(({ hasCover }) => hasCover);
    if (!shown.length) {
      return this.showNothing(!albums.length ? "none" : filter && !isSearch ? "filtered" : page ? (isSearch ? "elsewhere" : "bare") : "unfound");
    }
    showEmpty(null);
    this.#showHost(this.name);
  }

  #showHost(shown) {
    for (const [name, host] of Object.entries(hosts)) host.hidden = name !== shown;
  }

  /** Passes on which covers are in view and which are near, each list from the centre outwards. */
  #setVisible(first, last) {
    const { shown } = this.#library, { centre } = this.#view, reach = Math.max(leastNear, Math.min(mostNear, last - first + 1));
    const from = Math.max(0, first - reach), around = [...shown.slice(from, last + 1 + reach).keys()].map((offset) => from + offset)
      .sort((one, other) => Math.abs(one - centre) - Math.abs(other - centre));
    const { inView = [], near = [] } = Object.groupBy(around, (index) => (index >= first && index <= last ? "inView" : "near"));
    this.#covers.setVisible(...[inView, near].map((indices) => indices.map((index) => shown[index].id)));
  }

  #select(album) {
    this.#chosen = album?.id ?? null;
    this.#lastChosen = this.#chosen ?? this.#lastChosen;
    showAlbum(album ?? null);
    showCount(this.#library, this.#library.shownIndexOf(this.#chosen));
    this.#showCover();
    this.selected();
    this.changed();
  }

  #showCover() {
    if (!this.#chosen) return;
    const state = this.#covers.stateOf(this.#chosen);
    showCoverState(this.#chosen, state, { name: this.#covers.nameOf(this.#chosen), isDoubtful: this.#covers.doubtful.has(this.#chosen) });
    // The former glow stays while a cover loads, so that it does not flicker.
    if (!state.waiting) hosts.stage.style.setProperty("--tint", state.color ?? "transparent");
  }
}
