// A wall of covers: rows of square views, of which those in view are in the document, in a grid. Each group of a sorted list, such as a letter,
// begins a row, with its head above it. It scrolls with the page, so a moving finger or wheel never waits for this code. All heights are from
// the beginning of what the page scrolls below its bar.

import { byID, make } from "./helpers.js";
import { Views } from "./views.js";

const bar = document.querySelector(".top");
/** The distance of two covers, in pixels: on phones, tablets, and larger screens. */
const gapAt = (width) => (width < phone ? 12 : width < 1100 ? 16 : 24);
const phone = 600, narrow = 360;
/** The room for the ring around the chosen cover, in pixels. */
const ring = 8;
/** The covers' sizes by their names, of which 0 is the usual one: the least width, in pixels, and the columns on a phone, and on a narrow one. */
const sizes = { 88: [88, 4, 4], 0: [152, 3, 2], 240: [240, 2, 1] };
/** The smallest covers have no captions. */
const bare = 88;
/** The height of a caption and of a group's head, in the root's font size. */
const caption = 3, head = 2;
const noGroup = { from: 0, end: 0, top: 0, head: 0 };

export class Wall {
  #host; // as high as all rows
  #block; // the views' parent
  #list;
  #views;
  #width = 0;
  #height = 0; // of what is in view
  #above = 0; // the height of what is above the rows
  #tile = 0; // the name of their size; the covers fill the width
  #size = 0;
  #gap = 0;
  #caption = 0; // its height, in pixels
  #columns = 1;
  #wanted = { index: -1, column: 0 }; // the column of keys that go over a shorter row
  #groups = []; // where each begins and ends, in views, and its top and the height of its head, in pixels
  #heads = []; // of the groups in view
  #shown = "";
  #restTimer = 0;

  /** @param {HTMLElement} host @param {import("./views.js").List} list */
  constructor(host, list) {
    this.#host = host;
    this.#block = host.firstElementChild;
    this.#list = list;
    this.#views = new Views(host, list, this.#block);
    document.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    host.addEventListener("click", ({ target }) => {
      const index = this.#views.indexAt(target);
      if (index === undefined) return;
      this.choose(index);
      list.didTap();
    });
    const observer = new ResizeObserver(() => this.#resized());
    for (const each of [bar, byID("page")]) observer.observe(each);
    addEventListener("resize", () => this.#resized());
  }

  get index() { return this.#views.chosen; }
  /** The chosen view or, if it is out of view, one in view: the first at the list's beginning, the last at its end. */
  get place() {
    if (this.#isInView) return this.index;
    const share = scrollY / Math.max(1, this.#bottom - this.#height);
    return this.#rowAt(scrollY + share * this.#height).first;
  }
  /** The first row's position, in views: with four columns, 6 when half of the second row is scrolled out. */
  get position() {
    const { first, count, top, height } = this.#rowAt(scrollY);
    return first + (count * Math.max(0, scrollY - top)) / height;
  }
  /** The view in the middle of those in view. */
  get centre() { return this.#rowAt(scrollY + this.#height / 2).first + this.#columns / 2; }
  /** The height of a row, with the gap below it. */
  get #pitch() { return this.#size + this.#caption + this.#gap; }
  get #count() { return this.#views.count; }

  /** The name of the covers' size. @param {keyof typeof sizes} pixels */
  set tile(pixels) {
    this.#keepPlace(() => {
      this.#tile = pixels;
      this.#measure();
    });
  }

  /** Shows the wall, with one view chosen. @param {number} [position] as `position` was; by default the chosen view is centred */
  open(index, position) {
    this.#measure();
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
    this.#extend();
    this.#views.choose(this.#views.clamp(index));
    // A change elsewhere does not scroll back to an album that the user has scrolled away from.
    if (wasInView || !this.#count || this.#list.keyAt(this.index) !== former) this.#reveal(this.index);
    this.#render(kept);
  }

  /** Chooses a view and scrolls it into view. @param {{toTop?: boolean}} [more] toTop: its row becomes the first */
  choose(index, { toTop = false } = {}) {
    if (!this.#count) return;
    const to = this.#views.clamp(index);
    this.#views.choose(to);
    if (toTop) this.#scrollTo(this.#rowOf(to).rest);
    else this.#reveal(to);
    this.#render();
  }

  /** Where a key moves the choice; undefined if it moves nothing. */
  target(key) {
    const page = Math.max(1, Math.floor(this.#height / this.#pitch));
    const rows = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page }[key];
    return rows ? this.#over(rows) : { ArrowLeft: this.index - 1, ArrowRight: this.index + 1, Home: 0, End: this.#count - 1 }[key];
  }

  /** The index some rows away, in the same column if that row has it. */
  #over(rows) {
    const from = this.#rowOf(this.index), column = this.#wanted.index === this.index ? this.#wanted.column : this.index - from.first;
    let to = from;
    for (let n = 0; n < Math.abs(rows); n++) to = this.#rowOf(this.#views.clamp(rows < 0 ? to.first - 1 : to.first + to.count));
    const index = to.first + Math.min(column, to.count - 1);
    this.#wanted = { index, column };
    return index;
  }

  get #isInView() {
    const top = this.#rowOf(this.index).rest - scrollY;
    return this.index >= 0 && top > -this.#size && top < this.#height;
  }

  /** The row of a view: its first view and how many it has; where it begins, with its group's head, and how high it is; where it is revealed. */
  #rowOf(index) {
    const group = this.#groups.findLast((each) => each.from <= index) ?? noGroup;
    const row = Math.max(0, Math.floor((index - group.from) / this.#columns)), first = group.from + row * this.#columns;
    const rest = group.top + row * this.#pitch, head = row ? 0 : group.head, top = rest + group.head - head;
    // The first row comes with what is above it.
    return { first, count: Math.min(this.#columns, group.end - first), top, rest: first ? rest : 0, head, height: this.#pitch + head };
  }
  #rowAt(top) {
    const group = this.#groups.findLast((each) => each.top <= top) ?? this.#groups[0] ?? noGroup;
    const row = Math.floor((top - group.top - group.head) / this.#pitch);
    return this.#rowOf(Math.max(group.from, Math.min(group.end - 1, group.from + row * this.#columns)));
  }

  /** How far the wall is scrolled there: the reverse of `position`. */
  #topAt(position) {
    const { first, count, top, height } = this.#rowOf(position);
    return position > 0 ? top + ((position - first) / Math.max(1, count)) * height : 0;
  }

  #measure() {
    this.#width = this.#host.clientWidth;
    this.#height = innerHeight - bar.offsetHeight;
    this.#above = this.#host.offsetTop;
    this.#gap = gapAt(innerWidth);
    const [least, columns, few] = sizes[this.#tile], isCaptioned = this.#tile !== bare, room = this.#width + this.#gap;
    this.#caption = isCaptioned ? this.#rem(caption) : 0;
    this.#columns = innerWidth < narrow ? few : innerWidth < phone ? columns : Math.max(1, Math.floor(room / (least + this.#gap)));
    this.#size = Math.max(1, Math.floor(room / this.#columns) - this.#gap);
    this.#host.classList.toggle("captioned", isCaptioned);
    const lengths = { size: this.#size, caption: this.#caption, gap: this.#gap, head: this.#rem(head) };
    for (const [name, pixels] of Object.entries(lengths)) this.#host.style.setProperty(`--${name}`, `${pixels}px`);
    this.#host.style.setProperty("--columns", String(this.#columns));
    document.documentElement.style.setProperty("--top", `${bar.offsetHeight}px`);
    if (this.#width) this.#list.didResize(this.#size);
    this.#extend();
  }

  #rem(length) { return Math.round(length * parseFloat(getComputedStyle(document.documentElement).fontSize)); }

  /** The window, the bar or the head of the page has another size. Where only the height is another, as when a phone's own bar goes, a flick goes on. */
  #resized() {
    const { clientWidth, offsetTop } = this.#host, height = innerHeight - bar.offsetHeight;
    if (!clientWidth || (clientWidth === this.#width && offsetTop === this.#above && height === this.#height)) return;
    if (clientWidth !== this.#width || offsetTop !== this.#above) return this.#keepPlace(() => this.#measure());
    this.#measure();
    this.#render();
  }

  get #bottom() { return this.#groups.at(-1)?.bottom ?? this.#above; }
  /** Lays out the groups. */
  #extend() {
    const marks = this.#list.marks(), all = this.#count ? [{ index: 0 }] : [];
    // Heads of one album or two each would leave most of the rows empty.
    const starts = marks.length > 1 && marks.length * 3 <= this.#count ? marks : all;
    let top = this.#above;
    this.#groups = starts.map(({ index: from, label }, at) => {
      const end = starts[at + 1]?.index ?? this.#count, group = { label, from, end, top, head: label ? this.#rem(head) : 0 };
      group.bottom = top += group.head + Math.ceil((end - from) / this.#columns) * this.#pitch;
      return group;
    });
    this.#shown = "";
    // With as much room above them and below as is between two.
    this.#host.style.height = `${this.#bottom - this.#above + this.#gap}px`;
  }

  /** Changes the layout; afterwards the chosen view, if it was in view, or else the first one is where it was. */
  #keepPlace(change) {
    const { position } = this, chosen = this.#rowOf(this.index).rest - scrollY, isInView = this.#isInView;
    change();
    if (!this.#count) return;
    this.#scrollTo(isInView ? this.#rowOf(this.index).rest - chosen : this.#topAt(position));
    if (isInView) this.#reveal(this.index);
    this.#render();
  }

  #scrollTo(top) { scrollTo({ top, behavior: "instant" }); }

  #reveal(index) {
    if (index < 0) return;
    const { rest, top, height } = this.#rowOf(index), lowest = top + height + ring - this.#height;
    // Where a row is higher than the window, its top is seen.
    this.#scrollTo(Math.min(rest, Math.max(scrollY, lowest)));
  }

  #scrolled() {
    document.body.classList.toggle("scrolled", scrollY > 0);
    if (!this.#count) return;
    this.#list.didMove();
    this.#render();
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#list.didRest(), 150);
  }

  /** Shows the rows in view and those next to them. */
  #render(kept) {
    const first = this.#rowAt(scrollY - this.#gap), last = this.#rowAt(scrollY + this.#height - this.#gap);
    const shown = `${first.first} ${last.first} ${this.index}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (this.#count) this.#list.didShow(first.first, last.first + last.count - 1);
    const before = this.#rowOf(this.#views.clamp(first.first - 1)), after = this.#rowOf(this.#views.clamp(last.first + last.count));
    const from = before.first, to = after.first + after.count - 1;
    const starts = new Set(this.#groups.filter((each) => each.head).map((each) => each.from));
    this.#views.fill(from, to, kept);
    // The style sheet has them in a grid: to give each its own place costs ten times as much.
    this.#block.style.transform = `translateY(${before.top - this.#above}px)`;
    for (const [index, view] of this.#views) {
      // The chosen one, where it is out of view.
      const isApart = index < from || index > to, row = isApart && this.#rowOf(index);
      view.classList.toggle("apart", isApart);
      view.classList.toggle("begins", starts.has(index));
      const x = (index - row.first) * (this.#size + this.#gap), y = this.#gap + row.top + row.head - before.top;
      view.style.transform = isApart ? `translate(${x}px, ${y}px)` : "";
    }
    this.#showHeads(before.top, after.top + after.height);
  }

  /** Each head sticks while its group is in view. */
  #showHeads(from, to) {
    const heads = this.#groups.filter((each) => each.head && each.bottom > from && each.top < to);
    for (const group of heads) {
      const style = `top: ${this.#gap + group.top - this.#above}px; height: ${group.bottom - group.top - this.#gap}px`;
      group.box ??= make("div", { className: "group", ariaHidden: "true", style }, make("p", {}, group.label));
      if (!group.box.isConnected) this.#host.append(group.box);
    }
    for (const group of this.#heads) if (!heads.includes(group)) group.box.remove();
    this.#heads = heads;
  }
}
