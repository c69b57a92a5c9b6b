// The albums in the scroller, and everything on the page that follows the chosen one.

import { Scroller } from "./scroller.js";
import { onPosition, onRetry, showAlbum, showCoverState, showPosition } from "./details.js";
import { postponeTint, tintFrom } from "./ambient.js";

const host = document.getElementById("covers");
const empty = document.getElementById("empty");
const words = {
  none: ["No albums yet", "Add the first one; its cover comes by itself."],
  unfound: ["Nothing found", "No title, artist, genre or year has all of these words."],
  away: ["Sleeve isn’t running", "Start it, or check your connection. The albums appear as soon as it answers."],
};
/** Covers beyond those in sight that the server is told of, on each side: a few flicks' worth. */
const ahead = 16;

export class Gallery {
  #library;
  #covers;
  #scroller = null;
  #chosen = null; // the chosen album's id
  #before = null; // the same, or the last that was, for when nothing is found
  #start = 0;
  /** @type {() => void} the choice or the position changed */
  changed = () => {};

  /** @param {import("./library.js").Library} library @param {import("./covers.js").Covers} covers */
  constructor(library, covers) {
    this.#library = library;
    this.#covers = covers;
    covers.changed = (id) => id === this.#chosen && this.#showCover();
    onRetry(() => this.retry());
    onPosition((index) => this.#scroller?.choose(index, { animate: false }));
    host.addEventListener("pointerdown", postponeTint);
  }

  /** The chosen album, if there is one. */
  get album() { return this.#library.shown[this.#scroller?.index ?? -1] ?? null; }

  get memento() {
    if (!this.album) return null;
    const index = this.#library.indexOf(this.#chosen);
    // A search is not remembered, so neither is a position within what it found.
    const position = this.#library.query ? index : Math.round(this.#scroller.position * 1000) / 1000;
    return { album: this.#chosen, index, position, sort: this.#library.sort };
  }

  /** Opens the scroller on an album. */
  open(id) {
    this.#start = Math.max(0, this.#library.place(id));
    this.#showEmptiness();
    this.#scroller = new Scroller(host, {
      dataSource: {
        count: () => this.#library.shown.length,
        keyAt: (index) => this.#library.shown[index].id,
        viewAt: (index, recycled) => this.#covers.viewFor(this.#library.shown[index], recycled),
      },
      delegate: {
        initialIndex: () => this.#start,
        didSelect: (index) => this.#select(this.#library.shown[index]),
        didShow: (first, last) => this.#see(first, last),
        didMove: postponeTint,
        didRest: () => this.changed(),
      },
    });
    host.removeAttribute("aria-busy");
    if (!this.album) this.#select(null);
  }

  /** The albums shown are others, or in another order. Stays at the chosen album or, if it is gone, where it was. */
  refresh(preferred = this.#chosen ?? this.#before) {
    const shown = this.#library.shown;
    const place = this.#library.place(preferred);
    const index = place >= 0 ? place : Math.min(this.#scroller.index, shown.length - 1);
    this.#showEmptiness();
    this.#scroller.reload(Math.max(0, index));
    if (!this.album) this.#select(null);
  }

  /** Chooses an album by its id; false if it is not among those shown. */
  choose(id) {
    const place = this.#library.place(id);
    if (place < 0) return false;
    if (id !== this.#chosen) this.#scroller.choose(place);
    return true;
  }

  /** Tries a failed cover again; false if there is nothing to try. */
  retry() {
    const state = this.#chosen && this.#covers.stateOf(this.#chosen);
    if (!state?.failure || state.final || state.away) return false;
    this.#covers.retry(this.#chosen);
    host.focus({ preventScroll: true }); // the button that was pressed goes
    return true;
  }

  key(event) { return this.#scroller?.key(event) ?? false; }
  focus() { (host.hidden ? document.getElementById("add-first") : host).focus({ preventScroll: true }); }

  showNothing(kind, detail) {
    const [title, text] = words[kind];
    empty.hidden = false;
    host.hidden = true;
    empty.querySelector("h2").textContent = title;
    empty.querySelector("p").textContent = detail ?? text;
    empty.dataset.kind = kind;
    showAlbum(null);
    showPosition(0, 0, 0);
  }

  #showEmptiness() {
    const { shown, albums } = this.#library;
    if (!shown.length) return this.showNothing(albums.length ? "unfound" : "none");
    empty.hidden = true;
    host.hidden = false;
  }

  /** Tells the server which covers are wanted: those in sight, then those near, each from the centre outwards. */
  #see(first, last) {
    postponeTint();
    const shown = this.#library.shown;
    const centre = this.#scroller?.position ?? this.#start;
    const from = Math.max(0, first - ahead);
    const count = Math.max(0, Math.min(shown.length, last + 1 + ahead) - from);
    const outwards = Array.from({ length: count }, (_, offset) => from + offset)
      .sort((one, other) => Math.abs(one - centre) - Math.abs(other - centre));
    const isSeen = (index) => index >= first && index <= last;
    const ids = (indices) => indices.map((index) => shown[index].id);
    this.#covers.sees(ids(outwards.filter(isSeen)), ids(outwards.filter((index) => !isSeen(index))));
  }

  #select(album) {
    this.#chosen = album?.id ?? null;
    this.#before = this.#chosen ?? this.#before;
    const { shown, albums } = this.#library;
    showAlbum(album ?? null);
    showPosition(album ? this.#library.place(album.id) : 0, shown.length, albums.length, album);
    this.#showCover();
    this.changed();
  }

  #showCover() {
    if (!this.#chosen) return tintFrom(null); // nothing to take a colour from
    const state = this.#covers.stateOf(this.#chosen), picture = this.#covers.pictureOf(this.#chosen);
    showCoverState(state);
    // While a cover is on its way the colour before stays: the room does not flicker.
    if (picture || state.failure) tintFrom(picture);
  }
}
