// Fingers, mice and wheels, told as distances along one axis. Every listener is passive: the browser never waits for us
// to learn whether it may scroll; `touch-action: pan-y` leaves it the vertical direction.

/** How far a pointer moves, in pixels, before it is a drag and no longer a tap. */
const slop = 6;
/** A wheel has come to rest when it has said nothing for so long, in milliseconds. */
const wheelRest = 130;

export class Gestures {
  #host;
  #heard;
  #pointer = null;
  #start = 0;
  #last = 0;
  #dragging = false;
  #trail = [];
  #wheelTimer = 0;
  #wheeled = 0;

  /**
   * @param {HTMLElement} host
   * @param {{grab(): void, drag(pixels: number): void, release(pixelsPerSecond: number): void,
   *          wheel(pixels: number): void, wheelEnd(direction: number): void, tap(target: Element): void}} heard
   */
  constructor(host, heard) {
    this.#host = host;
    this.#heard = heard;
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
      // Captured only now: a captured pointer's click would no longer name the element that was tapped.
      this.#host.setPointerCapture(event.pointerId);
      // For the pointer's shape alone, which has everything within styled anew.
      if (event.pointerType === "mouse") this.#host.classList.add("dragging");
      this.#heard.grab();
    }
    this.#heard.drag(event.clientX - this.#last);
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
    // A finger that rested before it was lifted throws nothing.
    const rested = event.timeStamp - this.#trail.at(-1).time > 80;
    this.#heard.release(lifted && !rested && seconds > 0 ? (this.#last - first.x) / seconds : 0);
  }

  #click(event) {
    if (this.#dragging) {
      this.#dragging = false;
      return;
    }
    this.#heard.tap(event.target);
  }

  #wheel(event) {
    if (event.ctrlKey) return; // a pinch: the browser's zoom
    const along = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
    const unit = [1, 33, this.#host.clientWidth][event.deltaMode];
    this.#wheeled += along;
    this.#heard.wheel(along * unit);
    clearTimeout(this.#wheelTimer);
    this.#wheelTimer = setTimeout(() => {
      this.#heard.wheelEnd(Math.sign(this.#wheeled));
      this.#wheeled = 0;
    }, wheelRest);
  }
}
