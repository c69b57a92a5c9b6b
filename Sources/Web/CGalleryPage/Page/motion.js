// A critically damped spring that brings a position to rest, solved exactly for each step. It can be redirected at any moment without
// a jump in speed, and long frames cannot make it unstable.

/** How far a released scroller glides, in seconds at its speed: as far as lists do on phones. */
const glide = 0.45;
const stiffness = 15;

export class Spring {
  value = 0;
  velocity = 0;
  target = 0;
  #stiffness = stiffness;

  /** Moves to a target, starting at the current velocity. */
  aim(target) {
    this.target = target;
    this.#stiffness = stiffness;
  }

  /** Glides to a target: the stiffness is chosen so that it slows down evenly and ends there. */
  fling(target) {
    const distance = Math.abs(target - this.value);
    this.target = target;
    const rate = Math.abs(this.velocity) / Math.max(distance, 0.01);
    this.#stiffness = rate < 1 ? stiffness : Math.min(stiffness, Math.max(1 / glide, rate)); // below 1 too slow for a glide
  }

  /** Where it would end without a target. */
  get projected() {
    return this.value + this.velocity * glide;
  }

  jump(value) {
    this.value = this.target = value;
    this.velocity = 0;
  }

  /** Advances by `seconds`; true while it still moves. */
  step(seconds) {
    const distance = this.value - this.target;
    // Stiffens near the target: otherwise the last pixels would take a second.
    if (Math.abs(distance) < 0.5) this.#stiffness = Math.min(stiffness, this.#stiffness + 30 * seconds);
    const push = (this.velocity + this.#stiffness * distance) * seconds;
    const fade = Math.exp(-this.#stiffness * seconds);
    this.value = this.target + (distance + push) * fade;
    this.velocity = (this.velocity - this.#stiffness * push) * fade;
    if (Math.abs(this.value - this.target) > 0.0008 || Math.abs(this.velocity) > 0.01) return true;
    this.jump(this.target);
    return false;
  }
}
