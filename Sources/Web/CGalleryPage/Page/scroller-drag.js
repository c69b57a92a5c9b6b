// Pointers and wheels, reported as distances along one axis. Every listener is passive, so the browser never waits for this code to
// decide whether it may scroll; `touch-action: pan-y` leaves it the vertical direction.

/** How far a pointer moves before a tap becomes a drag, in pixels. */
const slop = 6;
/** A wheel rests when it has sent no event for this long, in milliseconds. */
const wheelRest = 130;

export class Gestures {
  #host;
  #handlers;
  #pointer = null;
  #start = 0;
  #last = 0;
  #dragging = false;
  #trail = []; // the latest positions, for the speed
  #wheelTimer = 0;
  #wheeled = 0;

  /**
   * @param {HTMLElement} host
   * @param {{grab(): void, drag(pixels: number): void, release(pixelsPerSecond: number): void,
   *          wheel(pixels: number): void, wheelEnd(direction: number): void, tap(target: Element): void}} handlers
   */
  constructor(host, handlers) {
    this.#host = host;
    this.#handlers = handlers;
    const passive = { passive: true };
    host.addEventListener("pointerdown", (event) => this.#down(event), passive);
    host.addEventListener("pointermove", (event) => this.#move(event), passive);
    host.addEventListener("pointerup", (event) => this.#up(event, true), passive);
    host.addEventListener("pointercancel", (event) => this.#up(event, false), passive);
    host.addEventListener("wheel", (event) => this.#wheel(event), passive);
    host.addEventListener("click", (event) => this.#click(event));
  }

  #down(event) {
    if (!event.isPrimary || (event.pointerType === "mouse" && event.button !== 0)) return;
    this.#pointer = event.pointerId;
    this.#start = this.#last = event.clientX;
    this.#dragging = false;
    this.#trail = [{ x: event.clientX, time: event.timeStamp }];
  }

  #move(event) {
    if (event.pointerId !== this.#pointer) return;
    if (!this.#dragging) {
      if (Math.abs(event.clientX - this.#start) < slop) return;
      this.#dragging = true;
      this.#last = event.clientX;
      // Not captured earlier: the click of a captured pointer does not have the tapped element as its target.
      this.#host.setPointerCapture(event.pointerId);
      // Only a mouse has a cursor; the class makes the browser recalculate all styles within.
      if (event.pointerType === "mouse") this.#host.classList.add("dragging");
      this.#handlers.grab();
    }
    this.#handlers.drag(event.clientX - this.#last);
    this.#last = event.clientX;
    this.#trail.push({ x: event.clientX, time: event.timeStamp });
    while (this.#trail.length > 2 && event.timeStamp - this.#trail[0].time > 90) this.#trail.shift();
  }

  #up(event, lifted) {
    if (event.pointerId !== this.#pointer) return;
    this.#pointer = null;
    if (!this.#dragging) return;
    this.#host.classList.remove("dragging");
    const first = this.#trail[0];
    const seconds = (event.timeStamp - first.time) / 1000;
    // A pointer that rested before it was lifted has no speed.
    const rested = event.timeStamp - this.#trail.at(-1).time > 80;
    this.#handlers.release(lifted && !rested && seconds > 0 ? (this.#last - first.x) / seconds : 0);
  }

  #click(event) {
    if (!this.#dragging) return this.#handlers.tap(event.target);
    this.#dragging = false;
  }

  #wheel(event) {
    if (event.ctrlKey) return; // the browser's zoom
    const along = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
    const unit = [1, 33, this.#host.clientWidth][event.deltaMode];
    this.#wheeled += along;
    this.#handlers.wheel(along * unit);
    clearTimeout(this.#wheelTimer);
    this.#wheelTimer = setTimeout(() => {
      this.#handlers.wheelEnd(Math.sign(this.#wheeled));
      this.#wheeled = 0;
    }, wheelRest);
  }
}
