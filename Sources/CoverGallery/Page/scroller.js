// A horizontal scroller of views, one of them chosen and centred. It knows nothing of what it shows: a data source gives
// views, a delegate hears what was chosen and what is in sight. Only views near the centre are in the page, and those
// that leave are handed back to be used again, so ten thousand cost what twenty do.

import { Spring } from "./motion.js";
import { Gestures } from "./scroller-drag.js";
import { Views, pitch } from "./scroller-views.js";

/** Views kept beyond each edge, so that what comes into sight is there already. */
const overscan = 2;
/** Longer ways are not flown in full: nobody sees what passes, and every view would have to be filled. */
const longWay = 10;

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @typedef {object} DataSource
 * @property {() => number} count
 * @property {(index: number, recycled: HTMLElement | null) => HTMLElement} viewAt
 * @property {(index: number) => string} keyAt what stays the same when a view changes its place
 *
 * @typedef {object} Delegate
 * @property {() => number} initialIndex
 * @property {(index: number) => void} didSelect
 * @property {(first: number, last: number) => void} [didShow] what is in sight; told before its views are asked for
 * @property {() => void} [didMove] somebody moves it
 * @property {(position: number) => void} [didRest]
 */
export class Scroller {
  #host;
  #source;
  #delegate;
  #views;
  #spring = new Spring();
  #count = 0;
  #chosen = -1;
  #width = 0;
  #size = 0;
  #shown = "";
  #frame = 0;
  #time = 0;
  #held = false;
  #grabbed = -1; // the chosen view when it was taken hold of

  /** @param {HTMLElement} host @param {{dataSource: DataSource, delegate: Delegate}} parts */
  constructor(host, { dataSource, delegate }) {
    this.#host = host;
    this.#source = dataSource;
    this.#delegate = delegate;
    this.#views = new Views(host, dataSource);
    new Gestures(host, {
      grab: () => this.#hold(),
      drag: (pixels) => this.#moveBy(-pixels / this.#step),
      release: (speed) => this.#letGo(-speed / this.#step),
      wheel: (pixels) => (this.#hold(), this.#moveBy(pixels / this.#step)),
      wheelEnd: (direction) => this.#wheelEnd(direction),
      tap: (target) => this.#tap(target),
    });
    host.addEventListener("keydown", (event) => this.key(event));
    this.#measure(host.clientWidth, host.clientHeight);
    new ResizeObserver(([{ contentRect }]) => {
      this.#measure(contentRect.width, contentRect.height);
      this.#render();
    }).observe(host);
    this.reload(delegate.initialIndex());
  }

  get index() { return this.#chosen; }
  /** Where the scroller stands, in views: 3 when the fourth is centred. */
  get position() { return this.#spring.value; }
  get #step() { return this.#size * pitch; }

  /** The data changed: shows it anew, centred on `index`. Views that stay glide to their new places. */
  reload(index) {
    const kept = this.#views.takeAll(!calm.matches);
    this.#count = this.#source.count();
    this.#chosen = -1;
    this.#shown = "";
    this.#held = false;
    this.#spring.jump(this.#clamp(index));
    this.#select(this.#clamp(index));
    this.#render(kept);
  }

  /** Chooses a view and centres it. */
  choose(index, { animate = true } = {}) {
    if (!this.#count) return;
    const to = this.#clamp(index), way = to - this.#spring.value;
    this.#held = false;
    this.#select(to);
    if (!animate || calm.matches) this.#spring.jump(to);
    else if (Math.abs(way) > longWay) this.#spring.jump(to - (Math.sign(way) * longWay) / 2);
    this.#spring.aim(to);
    this.#wake();
  }

  /** Keys that move the choice; true if it was one. */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    const from = this.#chosen, page = Math.max(1, Math.floor(this.#width / this.#step) - 1);
    const to = {
      ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - page, PageDown: from + page,
      Home: 0, End: this.#count - 1,
    }[event.key];
    if (to === undefined) return false;
    event.preventDefault();
    this.choose(to);
    return true;
  }

  #clamp(index) { return Math.max(0, Math.min(this.#count - 1, index)); }

  #measure(width, height) {
    this.#width = width;
    // Whole even pixels: a cover that is not scaled stays sharp.
    this.#size = 2 * Math.floor(Math.max(96, Math.min(height * 0.86, width * 0.68, 640)) / 2);
    this.#host.style.setProperty("--size", `${this.#size}px`);
  }

  #hold() {
    if (!this.#held) this.#grabbed = this.#chosen;
    this.#held = true;
    this.#spring.velocity = 0;
  }

  #moveBy(views) {
    const value = this.#spring.value;
    const beyond = value < 0 ? -value : Math.max(0, value - (this.#count - 1));
    this.#spring.value += views / (1 + 4 * beyond); // the further beyond an end, the harder it pulls
    this.#delegate.didMove?.();
    this.#wake();
  }

  #letGo(speed) {
    this.#spring.velocity = speed;
    let to = Math.round(this.#spring.projected);
    // A flick means the next one, however short it was.
    if (to === this.#grabbed && Math.abs(speed) > 0.6) to += Math.sign(speed);
    this.#settle(to);
  }

  #wheelEnd(direction) {
    const value = this.#spring.value;
    let to = Math.round(value);
    // One notch of a mouse's wheel is less than half a cover; it means one cover all the same.
    if (to === this.#grabbed && Math.abs(value - to) > 0.12) to += direction;
    this.#settle(to);
  }

  #settle(index) {
    const to = this.#clamp(index);
    this.#held = false;
    this.#select(to);
    if (calm.matches) this.#spring.jump(to);
    else this.#spring.fling(to);
    this.#wake();
  }

  #tap(target) {
    const index = this.#views.indexOf(target);
    if (index >= 0 && (index !== this.#chosen || this.#spring.value !== index)) this.choose(index);
  }

  #select(index) {
    if (index === this.#chosen) return;
    this.#views.get(this.#chosen)?.setAttribute("aria-selected", "false");
    this.#chosen = index;
    this.#mark();
    if (this.#count) this.#delegate.didSelect(index);
  }

  #mark() {
    const view = this.#views.get(this.#chosen);
    view?.setAttribute("aria-selected", "true");
    if (view) this.#host.setAttribute("aria-activedescendant", view.id);
    else this.#host.removeAttribute("aria-activedescendant");
  }

  #wake() {
    if (this.#frame) return;
    this.#time = performance.now();
    this.#frame = requestAnimationFrame((time) => this.#tick(time));
  }

  #tick(time) {
    const seconds = Math.min(0.1, Math.max(0, time - this.#time) / 1000);
    this.#time = time;
    const moving = !this.#held && this.#spring.step(seconds);
    // What is in the middle is chosen while it is moved, not only once it rests.
    if (this.#held) this.#select(this.#clamp(Math.round(this.#spring.value)));
    this.#render();
    this.#frame = moving ? requestAnimationFrame((next) => this.#tick(next)) : 0;
    if (moving || this.#held) return;
    this.#delegate.didRest?.(this.#spring.value);
  }

  /** Brings what is in sight into the page and everything to its place. Reads nothing from the layout. */
  #render(kept) {
    const centre = this.#spring.value, reach = Math.max(1, this.#width / 2 / this.#step + 0.35);
    const first = Math.max(0, Math.ceil(centre - reach)), last = Math.min(this.#count - 1, Math.floor(centre + reach));
    const shown = `${first} ${last} ${this.#chosen}`;
    if (shown !== this.#shown) {
      this.#shown = shown;
      if (last >= first) this.#delegate.didShow?.(first, last);
      const chosen = this.#count ? this.#chosen : -1;
      this.#views.fill(Math.max(0, first - overscan), Math.min(this.#count - 1, last + overscan), chosen, this.#count, kept);
      this.#mark();
    }
    this.#views.place(centre, this.#size);
  }
}
