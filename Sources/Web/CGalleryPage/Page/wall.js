// A wall of covers: rows of square views, of which those in view are in the document, in a grid. Each group of a sorted list, such as a letter,
// begins a row, with its head above it. It shares the data source and the delegate of the stage. The browser scrolls it, so a moving finger or
// wheel never waits for this code.

import { Views } from "./views.js";

/** The distance of two covers, and the room around all covers, in pixels: on phones, tablets, and larger screens. */
const spaces = (width) => (width < phone ? [12, 8] : width < 1100 ? [16, 16] : [24, 24]);
const phone = 600;
/** The room for the ring around the chosen cover, in pixels. */
const ring = 8;
/** The sizes of the covers by their names, of which 0 is the usual one: the least width, in pixels, and the columns on a phone. */
const sizes = { 88: [88, 4], 0: [152, 3], 240: [240, 2] };
/** The smallest covers have no captions. */
const bare = 88;
/** The height of a caption and of a group's head, in the root's font size. */
const caption = 3, head = 2;
const noGroup = { from: 0, end: 0, top: 0, head: 0 };

export class Wall {
  #host;
  #sheet; // as high as all rows
  #block; // the views' parent
  #source;
  #delegate;
  #views;
  #width = 0;
  #height = 0;
  #tile = 0; // the name of their size; the covers fill the width
  #size = 0;
  #gap = 0;
  #edge = 0;
  #caption = 0; // its height, in pixels
  #columns = 1;
  #groups = []; // where each begins and ends, in views, and its top and the height of its head, in pixels
  #heads = []; // of the groups in view
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
    const { scrollTop } = this.#host, share = scrollTop / Math.max(1, this.#length - this.#height);
    return this.#rowAt(scrollTop + share * this.#height).first;
  }
  /** The first row's position, in views: with four columns, 6 when half of the second row is scrolled out. */
  get position() {
    const { scrollTop } = this.#host, { first, count, top, height } = this.#rowAt(scrollTop);
    return first + (count * Math.max(0, scrollTop - top)) / height;
  }
  /** The view in the middle of those in view. */
  get centre() { return this.#rowAt(this.#host.scrollTop + this.#height / 2).first + this.#columns / 2; }
  /** The height of a row, with the gap below it. */
  get #pitch() { return this.#size + this.#caption + this.#gap; }
  get #count() { return this.#views.count; }

  /** The name of the covers' size. @param {keyof typeof sizes} pixels */
  set tile(pixels) {
    this.#keepPlace(() => {
      this.#tile = pixels;
      this.#measure(this.#width, this.#height);
    });
  }

  /** Shows the wall, with one view chosen. @param {number} [position] as `position` was; by default the chosen view is centred */
  open(index, position) {
    const { clientWidth, clientHeight } = this.#host;
    this.#measure(clientWidth, clientHeight);
    this.reload(index);
    if (position !== undefined) return this.#scrollTo(this.#topAt(position));
    const { top, head } = this.#rowOf(index);
    this.#scrollTo(top + head - (this.#height - this.#size - this.#caption) / 2);
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
    const from = this.index, page = Math.max(1, Math.floor(this.#height / this.#pitch));
    return {
      ArrowLeft: from - 1, ArrowRight: from + 1, ArrowUp: this.#over(-1), ArrowDown: this.#over(1),
      PageUp: this.#over(-page), PageDown: this.#over(page), Home: 0, End: this.#count - 1,
    }[key];
  }

  /** The index some rows away, in the same column if that row has it. */
  #over(rows) {
    const from = this.#rowOf(this.index), column = this.index - from.first;
    let to = from;
    for (let n = 0; n < Math.abs(rows); n++) to = this.#rowOf(this.#views.clamp(rows < 0 ? to.first - 1 : to.first + to.count));
    return to.first + Math.min(column, to.count - 1);
  }

  get #isInView() {
    const top = this.#topOf(this.index) - this.#host.scrollTop;
    return this.index >= 0 && top > -this.#size && top < this.#height;
  }

  /** The row of a view: its first view and how many it has; where it begins, with its group's head, and how high it is; where it is revealed. */
  #rowOf(index) {
    const group = this.#groups.findLast((each) => each.from <= index) ?? noGroup;
    const row = Math.max(0, Math.floor((index - group.from) / this.#columns)), first = group.from + row * this.#columns;
    const rest = group.top + row * this.#pitch, head = row ? 0 : group.head;
    return { first, count: Math.min(this.#columns, group.end - first), top: rest + group.head - head, rest, head, height: this.#pitch + head };
  }
  #rowAt(top) {
    const group = this.#groups.findLast((each) => each.top <= top) ?? this.#groups[0] ?? noGroup;
    const row = Math.floor((top - group.top - group.head) / this.#pitch);
    return this.#rowOf(Math.max(group.from, Math.min(group.end - 1, group.from + row * this.#columns)));
  }

  /** How far the wall is scrolled there: the reverse of `position`. */
  #topAt(position) {
    const { first, count, top, height } = this.#rowOf(position);
    return top + ((position - first) / Math.max(1, count)) * height;
  }
  /** Where the wall is scrolled so that a view is at its top, below the head. */
  #topOf(index) { return this.#rowOf(index).rest; }

  #measure(width, height) {
    this.#width = width;
    this.#height = height;
    const [gap, edge] = spaces(width);
    this.#edge = edge;
    this.#gap = gap;
    const [least, columns] = sizes[this.#tile], isCaptioned = this.#tile !== bare, room = Math.max(1, width - 2 * edge) + gap;
    this.#caption = isCaptioned ? this.#rem(caption) : 0;
    this.#columns = width < phone ? columns : Math.max(1, Math.floor(room / (least + gap)));
    this.#size = Math.floor(room / this.#columns) - gap;
    this.#host.classList.toggle("captioned", isCaptioned);
    const lengths = { size: this.#size, caption: this.#caption, gap, edge, head: this.#rem(head) };
    for (const [name, pixels] of Object.entries(lengths)) this.#host.style.setProperty(`--${name}`, `${pixels}px`);
    this.#host.style.setProperty("--columns", String(this.#columns));
    if (width) this.#delegate.didResize?.(this.#size);
    this.#extend();
  }

  #rem(length) { return Math.round(length * parseFloat(getComputedStyle(document.documentElement).fontSize)); }

  /** The height of all rows. */
  get #length() { return Math.max(0, (this.#groups.at(-1)?.bottom ?? 0) - this.#gap) + 2 * this.#edge; }
  /** Lays out the groups. */
  #extend() {
    const marks = this.#source.marks(), all = this.#count ? [{ index: 0 }] : [];
    // Heads of one album or two each would leave most of the rows empty.
    const starts = marks.length > 1 && marks.length * 3 <= this.#count ? marks : all;
    let top = 0;
    this.#groups = starts.map(({ index: from, label }, at) => {
      const end = starts[at + 1]?.index ?? this.#count, group = { label, from, end, top, head: label ? this.#rem(head) : 0 };
      group.bottom = top += group.head + Math.ceil((end - from) / this.#columns) * this.#pitch;
      return group;
    });
    this.#sheet.style.height = `${this.#length}px`;
  }

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
    const { rest, top, height } = this.#rowOf(index), lowest = top + height - this.#gap + this.#edge + ring - this.#height;
    // Where a row is higher than the wall, its top is seen.
    this.#scrollTo(Math.min(rest, Math.max(this.#host.scrollTop, lowest)));
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
    const top = this.#host.scrollTop - this.#edge, first = this.#rowAt(top), last = this.#rowAt(top + this.#height), shown = `${first.first} ${last.first} ${this.index}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (this.#count) this.#delegate.didShow?.(first.first, last.first + last.count - 1);
    const { first: from, top: start } = this.#rowOf(this.#views.clamp(first.first - 1)), end = this.#rowOf(this.#views.clamp(last.first + last.count));
    const to = end.first + end.count - 1;
    this.#views.fill(from, to, kept);
    // The style sheet has them in a grid: to give each its own place costs ten times as much.
    this.#block.style.transform = `translateY(${start}px)`;
    for (const [index, view] of this.#views) {
      const row = this.#rowOf(index);
      // The chosen one, where it is out of view.
      const isApart = index < from || index > to;
      view.classList.toggle("apart", isApart);
      view.classList.toggle("begins", row.head > 0 && index === row.first);
      const x = this.#edge + (index - row.first) * (this.#size + this.#gap), y = this.#edge + row.top + row.head - start;
      view.style.transform = isApart ? `translate(${x}px, ${y}px)` : "";
    }
    this.#showHeads(top);
  }

  /** Each head sticks while its group is in view. */
  #showHeads(top) {
    const heads = this.#groups.filter((each) => each.head && each.bottom > top - this.#pitch && each.top < top + this.#height + this.#pitch).map((group) => {
      const box = (group.box ??= Object.assign(document.createElement("div"), { className: "group", ariaHidden: "true" }));
      if (!box.firstChild) box.append(Object.assign(document.createElement("p"), { textContent: group.label }));
      box.style.top = `${this.#edge + group.top}px`;
      box.style.height = `${group.bottom - group.top - this.#gap}px`;
      return box;
    });
    for (const box of this.#heads) if (!heads.includes(box)) box.remove();
    for (const box of heads) if (!box.isConnected) this.#sheet.append(box);
    this.#heads = heads;
  }
}
