// A horizontal scroller of views, one of them chosen and centred. A data source provides the views; a delegate is notified of the
// choice and of what is in view. Only views near the centre are in the document, and views that leave it are recycled, so ten
// thousand views cost no more than twenty.

import { Spring } from "./motion.js";
import { Gestures } from "./scroller-drag.js";
import { Views } from "./views.js";

/** In sizes of the chosen view: the others' scale, the extra distance of its neighbours, and the distance between two views. */
const small = 0.7, apart = 0.15, pitch = 0.78;
/** How many views are kept beyond each edge, so that they are ready when they come into view. */
const overscan = 2;
/** Longer distances are cut short, in views: every view passed would have to be filled. */
const maximumFlight = 10;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @typedef {import("./views.js").DataSource} DataSource @typedef {import("./views.js").Delegate} Delegate */
export class Scroller {
  #host;
  #delegate;
  #views;
  #spring = new Spring();
  #width = 0;
  #size = 0;
  #shown = "";
  #frame = 0;
  #time = 0;
  #held = false;
  #grabbed = -1; // the chosen view when the gesture began

  /** @param {HTMLElement} host @param {{dataSource: DataSource, delegate: Delegate}} parts */
  constructor(host, { dataSource, delegate }) {
    this.#host = host;
    this.#delegate = delegate;
    this.#views = new Views(host, { dataSource, delegate });
    new Gestures(host, {
      grab: () => this.#hold(),
      drag: (pixels) => this.#moveBy(-pixels / this.#step),
      release: (speed) => this.#release(-speed / this.#step),
      wheel: (pixels) => (this.#hold(), this.#moveBy(pixels / this.#step)),
      wheelEnd: (direction) => this.#wheelEnd(direction),
      tap: (target) => this.#views.tap(target, (index) => this.choose(index), (index) => this.#spring.value === index),
    });
    new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width) return; // hidden
      this.#measure(contentRect.width, contentRect.height);
      this.#render();
    }).observe(host);
  }

  get index() { return this.#views.chosen; }
  get place() { return this.index; }
  /** The scroller's position, in views: 3 when the fourth is centred. */
  get position() { return this.#spring.value; }
  get centre() { return this.position; }
  get #step() { return this.#size * pitch; }

  /** Shows the views, with one chosen. */
  open(index) {
    this.#measure(this.#host.clientWidth, this.#host.clientHeight);
    this.reload(index);
  }

  /** Removes the views while another view of the list is shown. */
  close() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#views.clear();
    this.#shown = "";
  }

  /** Shows changed data, centred on `index`. Views that stay glide to their new positions. */
  reload(index) {
    const kept = this.#views.takeAll(!reducedMotion.matches);
    this.#shown = "";
    this.#held = false;
    this.#spring.jump(this.#views.clamp(index));
    this.#views.choose(this.#views.clamp(index));
    this.#render(kept);
  }

  /** Chooses a view and centres it. */
  choose(index, { animate = true } = {}) {
    if (!this.#views.count) return;
    const to = this.#views.clamp(index), way = to - this.#spring.value;
    this.#held = false;
    this.#views.choose(to);
    if (!animate || reducedMotion.matches) this.#spring.jump(to);
    else if (Math.abs(way) > maximumFlight) this.#spring.jump(to - (Math.sign(way) * maximumFlight) / 2);
    this.#spring.aim(to);
    this.#wake();
  }

  /** Where a key moves the choice; undefined if it moves nothing. */
  target(key) {
    const from = this.index, page = Math.max(1, Math.floor(this.#width / this.#step) - 1);
    return {
      ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - page, PageDown: from + page, Home: 0, End: this.#views.count - 1,
    }[key];
  }

  #measure(width, height) {
    this.#width = width;
    // An even number of pixels: an unscaled cover stays sharp.
    this.#size = 2 * Math.floor(Math.max(96, Math.min(height * 0.86, width * 0.74, 800)) / 2);
    this.#host.style.setProperty("--size", `${this.#size}px`);
    this.#delegate.didResize?.(this.#size);
  }

  #hold() {
    if (!this.#held) this.#grabbed = this.index;
    this.#held = true;
    this.#spring.velocity = 0;
  }

  #moveBy(views) {
    const value = this.#spring.value;
    const beyond = value < 0 ? -value : Math.max(0, value - (this.#views.count - 1));
    this.#spring.value += views / (1 + 4 * beyond); // resistance grows with the distance beyond an end
    this.#delegate.didMove?.();
    this.#wake();
  }

  #release(speed) {
    this.#spring.velocity = speed;
    let to = Math.round(this.#spring.projected);
    // A short flick moves by one view.
    if (to === this.#grabbed && Math.abs(speed) > 0.6) to += Math.sign(speed);
    this.#settle(to);
  }

  #wheelEnd(direction) {
    const value = this.#spring.value;
    let to = Math.round(value);
    // One notch of a mouse's wheel moves by less than half a view; it chooses the next one.
    if (to === this.#grabbed && Math.abs(value - to) > 0.12) to += direction;
    this.#settle(to);
  }

  #settle(index) {
    const to = this.#views.clamp(index);
    this.#held = false;
    this.#views.choose(to);
    if (reducedMotion.matches) this.#spring.jump(to);
    else this.#spring.fling(to);
    this.#wake();
  }

  #wake() {
    // The list's active descendant is in the document before the next frame.
    if (!this.#views.get(this.index)) this.#render();
    if (this.#frame) return;
    this.#time = performance.now();
    this.#frame = requestAnimationFrame((time) => this.#tick(time));
  }

  #tick(time) {
    const seconds = Math.min(0.1, Math.max(0, time - this.#time) / 1000);
    this.#time = time;
    const moving = !this.#held && this.#spring.step(seconds);
    // While the user moves it, the view in the middle is chosen.
    if (this.#held) this.#views.choose(this.#views.clamp(Math.round(this.#spring.value)));
    this.#render();
    this.#frame = moving ? requestAnimationFrame((next) => this.#tick(next)) : 0;
    if (moving || this.#held) return;
    this.#delegate.didRest?.(this.#spring.value);
  }

  /** Shows the views around the current position. Reads nothing from the layout. */
  #render(kept) {
    const centre = this.#spring.value, reach = Math.max(1, this.#width / 2 / this.#step + 0.35);
    const first = Math.max(0, Math.ceil(centre - reach)), last = Math.min(this.#views.count - 1, Math.floor(centre + reach));
    const shown = `${first} ${last} ${this.index}`;
    if (shown !== this.#shown) {
      this.#shown = shown;
      if (last >= first) this.#delegate.didShow?.(first, last);
      this.#views.fill(Math.max(0, first - overscan), Math.min(this.#views.count - 1, last + overscan), kept);
    }
    this.#arrange(centre);
  }

  /** Positions every view by transforms alone. */
  #arrange(centre) {
    for (const [index, view] of this.#views) {
      const distance = index - centre, far = Math.min(1, Math.abs(distance));
      const along = (Math.max(-40, Math.min(40, distance)) * pitch + Math.sign(distance) * far * apart) * this.#size;
      view.style.transform = `translate3d(${along.toFixed(2)}px, 0, 0) scale(${(1 - (1 - small) * far).toFixed(4)})`;
    }
  }
}
