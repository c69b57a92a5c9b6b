// How a position comes to rest. A critically damped spring, solved exactly for each step: it can be interrupted and sent
// elsewhere at any moment without a jolt, and long frames cannot make it unstable.

/** How long a released scroller would glide if nothing caught it, in seconds of its speed. */
const glide = 0.22;

export class Spring {
  value = 0;
  velocity = 0;
  target = 0;
  #stiffness = 15;

  /** Goes to a target, a short way, with what speed it has. */
  aim(target) {
    this.target = target;
    this.#stiffness = 15;
  }

  /** Was let go: the stiffness is chosen so that it slows down as something gliding does, and still ends on the target. */
  fling(target) {
    const way = Math.abs(target - this.value);
    this.target = target;
    const pace = Math.abs(this.velocity) / Math.max(way, 0.01);
    this.#stiffness = pace < 1 ? 15 : Math.min(15, Math.max(1 / glide, pace)); // too slow to be a glide: drawn in
  }

  /** Where it would end if nothing caught it. */
  get projected() {
    return this.value + this.velocity * glide;
  }

  jump(value) {
    this.value = this.target = value;
    this.velocity = 0;
  }

  /** One step of `seconds`; true while it still moves. */
  step(seconds) {
    const way = this.value - this.target;
    // The end of a glide is drawn in: its last pixels would take a second.
    if (Math.abs(way) < 0.5) this.#stiffness = Math.min(15, this.#stiffness + 30 * seconds);
    const push = (this.velocity + this.#stiffness * way) * seconds;
    const fade = Math.exp(-this.#stiffness * seconds);
    this.value = this.target + (way + push) * fade;
    this.velocity = (this.velocity - this.#stiffness * push) * fade;
    if (Math.abs(this.value - this.target) > 0.0008 || Math.abs(this.velocity) > 0.01) return true;
    this.jump(this.target);
    return false;
  }
}
