// The stage: one album's cover, as large as the window allows, between its neighbours. The browser scrolls them and brings them to rest on a centre.
// Only the covers around the middle are in the document, and views that leave it are recycled, so ten thousand albums cost no more than twenty.

import { Views } from "./views.js";

/** How many covers are kept on each side of the middle: the browser scrolls them without waiting for this code. */
const around = 4;
/** The room above and below the chosen cover together, the least between two covers, and what is seen of the neighbours, in pixels; on narrow stages. */
const wide = [64, 16, 32], slim = [48, 12, 12], narrow = 600;
/** How many albums Page Up and Page Down go past, and beyond how many a jump goes first, so that not all between are shown. */
const page = 10;
/** How far a pointer moves before a press becomes a drag, and how far a wheel turns for an album, in pixels. */
const slop = 6, notch = 80;
/** A wheel begins anew, and a scroll has come to rest, when nothing has come for this long, in milliseconds. */
const pause = 120;
/** How far a released cover glides, in seconds at its speed. */
const glide = 0.25;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)"), stepsBack = CSS.supports("animation-timeline: view()");

export class Stage {
  #host;
  #sheet; // as wide as all covers
  #list;
  #views;
  #width = 0;
  #size = 0;
  #gap = 0;
  /** The cover in the middle of those that are shown, before the browser has scrolled there, too. */
  centre = 0;
  #aim = null; // the index that the page scrolls to
  #drag = null; // of a mouse
  #wheel = { turned: 0, at: 0 };
  #shown = "";
  #restTimer = 0;

  /** @param {HTMLElement} host @param {import("./views.js").List} list */
  constructor(host, list) {
    this.#host = host;
    this.#sheet = host.firstElementChild;
    this.#list = list;
    this.#views = new Views(host, list, this.#sheet);
    const passive = { passive: true };
    host.addEventListener("scroll", () => this.#scrolled(), passive);
    host.addEventListener("wheel", (event) => this.#turn(event), passive);
    host.addEventListener("touchstart", () => this.#aimAt(null), passive);
    host.addEventListener("pointerdown", (event) => this.#press(event), passive);
    host.addEventListener("pointermove", (event) => this.#pull(event), passive);
    for (const end of ["pointerup", "pointercancel"]) host.addEventListener(end, (event) => this.#release(event), passive);
    host.addEventListener("click", ({ target }) => {
      const index = this.#views.indexAt(target), isAtRest = Math.abs(this.position - index) * this.#pitch < 1;
      if (index === undefined || this.#drag?.isMoved) return;
      if (index === this.index && isAtRest) list.didTap();
      else this.choose(index);
    });
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width) this.#measure(contentRect.width, contentRect.height), this.#place(this.index);
    }).observe(host);
  }

  get index() { return this.#views.chosen; }
  get place() { return this.index; }
  /** In covers: 3 when the fourth is in the middle. */
  get position() { return this.#host.scrollLeft / this.#pitch; }
  get #pitch() { return Math.max(1, this.#size + this.#gap); }

  /** Shows the covers, with one chosen. */
  open(index) {
    scrollTo(0, 0); // the page, which the wall has scrolled
    this.#measure(this.#host.clientWidth, this.#host.clientHeight);
    this.reload(index);
  }

  /** Removes the covers while the wall is shown. */
  close() {
    this.#views.clear();
    this.#shown = "";
    clearTimeout(this.#restTimer);
  }

  /** Shows changed data, with `index` in the middle. */
  reload(index) {
    const kept = this.#views.takeAll();
    this.#shown = "";
    this.#extend();
    this.#views.choose(this.#views.clamp(index));
    this.#place(this.index, kept);
  }

  /** Chooses a cover and brings it to the middle. */
  choose(index) {
    if (!this.#views.count) return;
    const to = this.#views.clamp(index), way = to - this.position;
    this.#views.choose(to);
    if (reducedMotion.matches) return this.#place(to);
    if (Math.abs(way) > page) this.#place(to - Math.sign(way));
    this.#render();
    this.#scroll(to);
  }

  /** Where a key moves the choice; undefined if it moves nothing. */
  target(key) {
    const from = this.index;
    return { ArrowLeft: from - 1, ArrowRight: from + 1, PageUp: from - page, PageDown: from + page, Home: 0, End: this.#views.count - 1 }[key];
  }

  #measure(width, height) {
    this.#width = width;
    this.#shown = "";
    const [margin, least, seen] = width < narrow ? slim : wide, side = 2 * (least + seen);
    // An even number of pixels: it stays sharp in the middle.
    this.#size = 2 * Math.floor(Math.max(96, Math.min(height - Math.min(margin, height * 0.14), width - side)) / 2);
    // As much of the neighbours is seen, however wide the stage is, and although they step back.
    const back = innerWidth >= narrow && stepsBack && !reducedMotion.matches ? (0.06 * this.#size) / (width + this.#size) : 0;
    this.#gap = Math.max(least, ((width - this.#size) / 2 - seen - back * this.#size) / (1 + back));
    this.#host.style.setProperty("--size", `${this.#size}px`);
    this.#list.didResize(this.#size);
    this.#extend();
  }

  /** The last cover, too, comes to the middle. */
  #extend() { this.#sheet.style.width = `${Math.max(0, this.#views.count - 1) * this.#pitch + this.#width}px`; }

  /** At once. What it goes to is in the document before it scrolls: else it would stop at the last cover that is. */
  #place(index, kept) {
    this.#render(Math.max(0, index), kept);
    this.#scroll(index, "instant");
  }

  #scroll(index, behavior = reducedMotion.matches ? "instant" : "smooth") {
    this.#aimAt(index);
    this.#host.scrollTo({ left: index * this.#pitch, behavior });
    this.#rests();
  }

  #aimAt(index) {
    this.#aim = index;
    this.#host.classList.toggle("aimed", index !== null);
  }

  #scrolled() {
    // In a window of another size the browser moves the covers before they have theirs.
    if (!this.#views.count || Math.abs(this.#host.clientWidth - this.#width) >= 1) return;
    // While the user moves it, the cover in the middle is chosen.
    if (this.#aim === null) this.#views.choose(this.#views.clamp(Math.round(this.position)));
    this.#list.didMove();
    this.#render();
    this.#rests();
  }

  /** Once nothing has moved for a moment, it is at rest. */
  #rests() {
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => {
      if (this.#drag?.isHeld) return;
      this.#host.classList.remove("dragging");
      // It was held up.
      if (this.#views.count && this.#aim !== null && Math.abs(this.position - this.#aim) * this.#pitch > 2) return this.#scroll(this.#aim);
      this.#aimAt(null);
      if (this.#views.count) this.#list.didRest();
    }, pause);
  }

  /** A wheel that turns sideways scrolls by itself. */
  #turn({ deltaX, deltaY, deltaMode, ctrlKey, timeStamp }) {
    if (ctrlKey) return; // the browser's zoom
    if (Math.abs(deltaX) >= Math.abs(deltaY)) return this.#aimAt(null);
    const wheel = this.#wheel, pixels = deltaY * [1, 33, this.#width][deltaMode];
    if (timeStamp - wheel.at > pause || wheel.turned * pixels < 0) wheel.turned = 0;
    wheel.at = timeStamp;
    wheel.turned += pixels;
    if (Math.abs(wheel.turned) < notch) return;
    this.choose(this.index + Math.sign(wheel.turned));
    wheel.turned = 0;
  }

  #press({ pointerType, pointerId, isPrimary, button, clientX, timeStamp }) {
    this.#drag = null;
    if (pointerType !== "mouse" || !isPrimary || button) return;
    this.#drag = { pointerId, start: clientX, left: this.#host.scrollLeft, isHeld: true, isMoved: false, trail: [{ x: clientX, time: timeStamp }], from: this.index };
  }

  /** The browser drags with a finger, not with a mouse. */
  #pull({ pointerId, clientX, timeStamp }) {
    const drag = this.#drag;
    if (!drag?.isHeld || pointerId !== drag.pointerId) return;
    if (!drag.isMoved) {
      if (Math.abs(clientX - drag.start) < slop) return;
      drag.isMoved = true;
      this.#aimAt(null);
      // Not captured earlier: the click of a captured pointer does not have the pressed element as its target.
      this.#host.setPointerCapture(pointerId);
      this.#host.classList.add("dragging");
    }
    this.#host.scrollLeft = drag.left + drag.start - clientX;
    drag.trail.push({ x: clientX, time: timeStamp });
    while (drag.trail.length > 2 && timeStamp - drag.trail[0].time > 90) drag.trail.shift();
  }

  #release({ type, timeStamp }) {
    const drag = this.#drag;
    if (!drag?.isHeld) return;
    drag.isHeld = false;
    if (!drag.isMoved) return;
    const [first, last] = [drag.trail[0], drag.trail.at(-1)], seconds = (timeStamp - first.time) / 1000;
    // A mouse that rested before it was released has no speed.
    const isThrown = type === "pointerup" && timeStamp - last.time < 80 && seconds > 0;
    const speed = isThrown ? (first.x - last.x) / seconds / this.#pitch : 0;
    let to = Math.round(this.position + speed * glide);
    // A short flick moves by one cover.
    if (to === drag.from && Math.abs(speed) > 0.6) to += Math.sign(speed);
    to = this.#views.clamp(to);
    this.#views.choose(to);
    this.#scroll(to);
  }

  /** Shows the covers around a position. */
  #render(centre = this.position, kept) {
    const reach = (this.#width + this.#size) / 2 / this.#pitch, last = this.#views.count - 1, middle = Math.round(centre);
    const shown = `${middle} ${this.index}`;
    if (shown === this.#shown) return;
    [this.#shown, this.centre] = [shown, centre];
    const first = Math.max(0, Math.ceil(centre - reach)), end = Math.min(last, Math.floor(centre + reach));
    if (end >= first) this.#list.didShow(first, end);
    this.#views.fill(Math.max(0, middle - around), Math.min(last, middle + around), kept);
    const start = (this.#width - this.#size) / 2;
    for (const [index, view] of this.#views) view.style.left = `${start + index * this.#pitch}px`;
  }
}
