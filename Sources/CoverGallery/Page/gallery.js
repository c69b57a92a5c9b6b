// The albums in the scroller, and the parts of the page that follow the chosen one.

import { Scroller } from "./scroller.js";
import { canRetry, onPosition, onRetry, showAlbum, showCoverState, showPosition } from "./details.js";
import { postponeTint, tintFrom } from "./ambient.js";
import { byID } from "./helpers.js";

const host = byID("covers");
const empty = byID("empty");
/** The heading and text that are shown instead of the covers. */
const emptyTexts = {
  none: ["No albums yet", "Add the first one. Its cover comes from an address, from a MusicBrainz release, or from a picture of yours."],
  unfound: ["Nothing found", "No title, artist, genre or year has all of these words."],
  away: ["Sleeve isn’t running", "Start it, or check your connection. The albums appear as soon as it answers."],
};
/** How many covers on each side of those in view are downloaded ahead. */
const ahead = 16;

export class Gallery {
  #library;
  #covers;
  #scroller = null;
  #chosen = null; // the chosen album's id
  #lastChosen = null; // the same; kept while nothing is found
  #start = 0;
  /** @type {() => void} the choice or the position changed */
  changed = () => {};
  /** @type {(picture: HTMLImageElement, album: import("./library.js").Album) => void} shows the whole picture */
  showWhole = () => {};

  /** @param {import("./library.js").Library} library @param {import("./covers.js").Covers} covers */
  constructor(library, covers) {
    this.#library = library;
    this.#covers = covers;
    library.changed = () => this.refresh();
    covers.changed = (id) => id === this.#chosen && this.#showCover();
    onRetry(() => this.retry());
    onPosition((index) => this.#scroller?.choose(index, { animate: false }));
    host.addEventListener("pointerdown", postponeTint);
  }

  /** The chosen album, or null. */
  get album() { return this.#library.shown[this.#scroller?.index ?? -1] ?? null; }

  get memento() {
    if (!this.album) return null;
    const index = this.#library.indexOf(this.#chosen);
    // A search is not remembered, and the scroller's position is one among the albums found.
    const position = this.#library.query ? index : Math.round(this.#scroller.position * 1000) / 1000;
    return { album: this.#chosen, index, position, sort: this.#library.sort };
  }

  /** Opens the scroller on an album. */
  open(id) {
    this.#start = Math.max(0, this.#library.shownIndexOf(id));
    this.#showOrHideEmpty();
    this.#scroller = new Scroller(host, {
      dataSource: {
        count: () => this.#library.shown.length,
        keyAt: (index) => this.#library.shown[index].id,
        viewAt: (index, recycled) => this.#covers.viewFor(this.#library.shown[index], recycled),
      },
      delegate: {
        initialIndex: () => this.#start,
        didSelect: (index) => this.#select(this.#library.shown[index]),
        didShow: (first, last) => this.#setVisible(first, last),
        didTap: () => this.enlarge(),
        didMove: postponeTint,
        didRest: () => this.changed(),
      },
    });
    host.removeAttribute("aria-busy");
    if (!this.album) this.#select(null);
  }

  /** Shows the changed list of albums. Stays at the preferred album or, if it is gone, at its index. */
  refresh(preferred = this.#chosen ?? this.#lastChosen) {
    if (!this.#scroller) return;
    const shown = this.#library.shown;
    const found = this.#library.shownIndexOf(preferred);
    const index = found >= 0 ? found : Math.min(this.#scroller.index, shown.length - 1);
    this.#showOrHideEmpty();
    this.#scroller.reload(Math.max(0, index));
    if (!this.album) this.#select(null);
  }

  /** Chooses an album by its id; false if it is not shown. */
  choose(id) {
    const index = this.#library.shownIndexOf(id);
    if (index < 0) return false;
    if (id !== this.#chosen) this.#scroller.choose(index);
    return true;
  }

  /** Retries the chosen album's cover; false if it has not failed. */
  retry() {
    if (!this.#chosen || !canRetry(this.#covers.stateOf(this.#chosen))) return false;
    this.#covers.retry(this.#chosen);
    host.focus({ preventScroll: true }); // the pressed button disappears
    return true;
  }

  /** Shows the chosen album's whole picture; false if there is none. */
  enlarge() {
    const picture = this.#covers.pictureOf(this.#chosen);
    if (picture) this.showWhole(picture, this.album);
    return Boolean(picture);
  }

  key(event) { return this.#scroller?.key(event) ?? false; }
  focus() { (host.hidden ? byID("add-first") : host).focus({ preventScroll: true }); }

  showNothing(kind, detail) {
    const [title, text] = emptyTexts[kind];
    empty.hidden = false;
    host.hidden = true;
    empty.querySelector("h2").textContent = title;
    empty.querySelector("p").textContent = detail ?? text;
    empty.dataset.kind = kind;
    showAlbum(null);
    showPosition(0, 0, 0);
  }

  #showOrHideEmpty() {
    const { shown, albums } = this.#library;
    if (!shown.length) return this.showNothing(albums.length ? "unfound" : "none");
    empty.hidden = true;
    host.hidden = false;
  }

  /** Passes on which covers are in view and which are near, each list from the centre outwards. */
  #setVisible(first, last) {
    postponeTint();
    const shown = this.#library.shown;
    const centre = this.#scroller?.position ?? this.#start;
    const from = Math.max(0, first - ahead);
    const count = Math.max(0, Math.min(shown.length, last + 1 + ahead) - from);
    const outwards = Array.from({ length: count }, (_, offset) => from + offset)
      .sort((one, other) => Math.abs(one - centre) - Math.abs(other - centre));
    const isInView = (index) => index >= first && index <= last;
    const ids = (indices) => indices.map((index) => shown[index].id);
    this.#covers.setVisible(ids(outwards.filter(isInView)), ids(outwards.filter((index) => !isInView(index))));
  }

  #select(album) {
    this.#chosen = album?.id ?? null;
    this.#lastChosen = this.#chosen ?? this.#lastChosen;
    const { shown, albums } = this.#library;
    showAlbum(album ?? null);
    showPosition(album ? this.#library.shownIndexOf(album.id) : 0, shown.length, albums.length, album);
    this.#showCover();
    this.changed();
  }

  #showCover() {
    if (!this.#chosen) return tintFrom(null);
    const state = this.#covers.stateOf(this.#chosen), picture = this.#covers.pictureOf(this.#chosen);
    showCoverState(state);
    // The former tint stays while a cover loads, so that the background does not flicker.
    if (picture || state.failure) tintFrom(picture);
  }
}
