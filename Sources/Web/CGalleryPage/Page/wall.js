// A wall of covers: rows of square views, of which those in view are in the document, in a grid. It shares the data source and the delegate of
// the stage. The browser scrolls it, so a moving finger or wheel never waits for this code.

import { Views } from "./views.js";

/** The distance of two covers with captions, and the room around all covers, in pixels: on phones, tablets, and larger screens. */
const spaces = (width) => (width < 600 ? [12, 8] : width < 1100 ? [16, 16] : [24, 24]);
/** The room for the ring around the chosen cover, in pixels. */
const ring = 8;
/** How many rows are kept beyond each edge. */
const overscan = 1;
/** Sizes of a cover, in pixels. From the middle one on, covers have captions. */
const leastTile = 80, leastCaptioned = 112, mostTile = 240;
/** The height of a caption, in the root's font size; and the distance between two covers without one, in pixels. */
const caption = 3, bareGap = 8;
/** A wall that is lower, such as that of a phone in landscape, has three rows. */
const lowWall = 400;
/** The usual size of a cover on a wall of some size. */
function usualTile(width, height, edge) {
  if (height >= lowWall) return Math.max(leastCaptioned, Math.min(168, Math.round(width * 0.3)));
  const tile = Math.max(leastTile, (height - 2 * edge + bareGap) / 3 - bareGap), room = width - 2 * edge + bareGap;
  return room / Math.ceil(room / (tile + bareGap)) - bareGap;
}

export class Wall {
  #host;
  #sheet; // as high as all rows
  #block; // the views' parent
  #source;
  #delegate;
  #views;
  #width = 0;
  #height = 0;
  #tile = 0; // as wanted, or 0; the covers fill the width
  #size = 0;
  #gap = bareGap;
  #edge = 0;
  #caption = 0; // its height, in pixels
  #columns = 1;
  #shown = "";
  #restTimer = 0;

  /** @param {HTMLElement} host @param {{dataSource: import("./views.js").DataSource, delegate: import("./views.js").Delegate}} parts */
  constructor(host, { dataSource, delegate }) {
    this.#host = host;
    this.#sheet = host.firstElementChild;
    this.#block = this.#sheet.firstElementChild;
    this.#source = dataSource;
    this.#delegate = delegate;
    this.#views = new Views(host, { dataSource, delegate }, this.#block);
    host.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    host.addEventListener("click", ({ target }) => this.#views.tap(target, (index) => (this.choose(index), delegate.didTap?.()), () => true));
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width) this.#keepPlace(() => this.#measure(contentRect.width, contentRect.height));
    }).observe(host);
  }

  get index() { return this.#views.chosen; }
  /** The chosen view or, if it is out of view, one in view: the first at the list's beginning, the last at its end. */
  get place() {
    if (this.#isInView) return this.index;
    const share = this.#host.scrollTop / Math.max(1, this.#length - this.#height);
    return this.#views.clamp(Math.round(share * (this.#count - 1)));
  }
  /** The first row's position, in views: with four columns, 6 when half of the second row is scrolled out. */
  get position() { return (this.#host.scrollTop / this.#pitch) * this.#columns; }
  /** The last view of the first row. */
  get top() { return (Math.round(this.#host.scrollTop / this.#pitch) + 1) * this.#columns - 1; }
  /** The view in the middle of those in view. */
  get centre() { return this.position + (this.#height / this.#pitch / 2) * this.#columns; }
  /** The height of a row, with the gap below it. */
  get #pitch() { return this.#size + this.#caption + this.#gap; }
  get #count() { return this.#views.count; }
  get #rows() { return Math.ceil(this.#count / this.#columns); }

  /** The wanted size of a cover, in pixels; 0 for the usual one. */
  get tile() { return this.#tile; }
  set tile(pixels) {
    this.#keepPlace(() => {
      this.#tile = pixels > 0 ? Math.max(leastTile, Math.min(mostTile, pixels)) : 0;
      this.#measure(this.#width, this.#height);
    });
  }
  /** The size that the covers have. */
  get size() { return this.#size; }

  /** Shows the wall, with one view chosen. @param {number} [position] as `position` was; by default the chosen view is centred */
  open(index, position) {
    const { clientWidth, clientHeight } = this.#host;
    this.#measure(clientWidth, clientHeight);
    this.reload(index);
    if (position !== undefined) return this.#scrollTo(this.#topAt(position));
    this.#scrollTo(this.#topOf(index) - (this.#height - this.#size - this.#caption) / 2);
    this.#reveal(index);
  }

  /** Removes the views while another view of the list is shown. */
  close() {
    this.#views.clear();
    this.#shown = "";
  }

  /** Shows changed data. */
  reload(index) {
    const former = this.#views.get(this.index)?.dataset.key, wasInView = this.#isInView;
    const kept = this.#views.takeAll();
    this.#shown = "";
    this.#extend();
    this.#views.choose(this.#views.clamp(index));
    // A change elsewhere does not scroll back to an album that the user has scrolled away from.
    if (wasInView || !this.#count || this.#source.keyAt(this.index) !== former) this.#reveal(this.index);
    this.#render(kept);
  }

  /** Chooses a view and scrolls it into view. @param {{toTop?: boolean}} [more] toTop: its row becomes the first */
  choose(index, { toTop = false } = {}) {
    if (!this.#count) return;
    const to = this.#views.clamp(index);
    this.#views.choose(to);
    if (toTop) this.#scrollTo(this.#topOf(to));
    else this.#reveal(to);
    this.#render();
  }

  /** Where a key moves the choice; undefined if it moves nothing. */
  target(key) {
    const from = this.index, row = this.#columns, page = row * Math.max(1, Math.floor(this.#height / this.#pitch));
    return {
      ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: this.#over(-row), ArrowDown: this.#over(row),
      PageUp: this.#over(-page), PageDown: this.#over(page), Home: 0, End: this.#count - 1,
    }[key];
  }

  /** The index some whole rows away, in the same column if that row has it. */
  #over(distance) {
    const to = this.index + distance, column = this.index % this.#columns;
    if (to < 0) return column;
    const lastRow = (this.#rows - 1) * this.#columns;
    return to < this.#count ? to : this.index >= lastRow ? this.index : Math.min(this.#count - 1, lastRow + column);
  }

  get #isInView() {
    const top = this.#topOf(this.index) - this.#host.scrollTop;
    return this.index >= 0 && top > -this.#size && top < this.#height;
  }

  /** How far the wall is scrolled there: the reverse of `position`. */
  #topAt(position) { return (position / this.#columns) * this.#pitch; }
  #topOf(index) { return Math.floor(index / this.#columns) * this.#pitch; }

  #measure(width, height) {
    this.#width = width;
    this.#height = height;
    const [gap, edge] = spaces(width);
    this.#edge = edge;
    // Two large ones fit on a phone.
    const tile = this.#tile ? Math.min(this.#tile, width / 2 - gap) : usualTile(width, height, edge), isCaptioned = tile >= leastCaptioned;
    this.#gap = isCaptioned ? gap : bareGap;
    this.#caption = isCaptioned ? Math.round(caption * parseFloat(getComputedStyle(document.documentElement).fontSize)) : 0;
    const room = Math.max(1, width - 2 * this.#edge) + this.#gap;
    this.#columns = Math.max(1, Math.round(room / (tile + this.#gap)));
    this.#size = Math.floor(room / this.#columns) - this.#gap;
    this.#host.classList.toggle("captioned", isCaptioned);
    const lengths = { size: this.#size, caption: this.#caption, gap: this.#gap, edge: this.#edge };
    for (const [name, pixels] of Object.entries(lengths)) this.#host.style.setProperty(`--${name}`, `${pixels}px`);
    this.#host.style.setProperty("--columns", String(this.#columns));
    if (width) this.#delegate.didResize?.(this.#size);
    this.#extend();
  }

  /** The height of all rows. */
  get #length() { return Math.max(0, this.#rows * this.#pitch - this.#gap) + 2 * this.#edge; }
  #extend() { this.#sheet.style.height = `${this.#length}px`; }

  /** Changes the layout; afterwards the chosen view, if it was in view, or else the first one is where it was. */
  #keepPlace(change) {
    const { position } = this, chosen = this.#topOf(this.index) - this.#host.scrollTop, isInView = this.#isInView;
    change();
    if (!this.#count) return;
    this.#scrollTo(isInView ? this.#topOf(this.index) - chosen : this.#topAt(position));
    if (isInView) this.#reveal(this.index);
    this.#shown = "";
    this.#render();
  }

  #scrollTo(top) { this.#host.scrollTop = top; }

  #reveal(index) {
    if (index < 0) return;
    const top = this.#topOf(index), lowest = top + this.#pitch - this.#gap + this.#edge + ring - this.#height;
    // Where a row is higher than the wall, its top is seen.
    this.#scrollTo(Math.min(top, Math.max(this.#host.scrollTop, lowest)));
  }

  #scrolled() {
    document.body.classList.toggle("scrolled", this.#host.scrollTop > 0);
    if (!this.#count) return;
    this.#delegate.didMove?.();
    this.#render();
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#delegate.didRest?.(this.position), 150);
  }

  /** Shows the rows in view and those next to them. */
  #render(kept) {
    const top = this.#host.scrollTop, columns = this.#columns, last = this.#count - 1;
    const firstRow = Math.max(0, Math.floor((top - this.#edge) / this.#pitch)), lastRow = Math.floor((top - this.#edge + this.#height) / this.#pitch);
    const shown = `${firstRow} ${lastRow} ${this.index}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const end = (row) => Math.min(last, (row + 1) * columns - 1);
    if (last >= 0) this.#delegate.didShow?.(Math.min(last, firstRow * columns), end(lastRow));
    const from = Math.min(Math.max(0, firstRow - overscan) * columns, Math.max(0, last)), to = end(lastRow + overscan);
    this.#views.fill(from, to, kept);
    // The style sheet has them in a grid: to give each its own place costs ten times as much.
    this.#block.style.transform = `translateY(${this.#topOf(from)}px)`;
    for (const [index, view] of this.#views) {
      // The chosen one, where it is out of view.
      const isApart = index < from || index > to;
      view.classList.toggle("apart", isApart);
      const x = this.#edge + (index % columns) * (this.#size + this.#gap), y = this.#edge + this.#topOf(index) - this.#topOf(from);
      view.style.transform = isApart ? `translate(${x}px, ${y}px)` : "";
    }
  }
}
