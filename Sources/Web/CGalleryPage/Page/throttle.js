// Runs an asynchronous task when it is asked for: soon, but not twice within an interval, and never twice at the same time.

export class Throttle {
  #run;
  #interval;
  #timer = 0;
  #ranAt = -Infinity;
  #isRunning = false;
  #isWanted = false;

  /** @param {number} interval between two beginnings, in milliseconds @param {() => Promise<void>} run */
  constructor(interval, run) {
    this.#interval = interval;
    this.#run = run;
  }

  ask() {
    this.#isWanted = true;
    if (this.#isRunning || this.#timer) return;
    this.#timer = setTimeout(() => this.#start(), Math.max(0, this.#ranAt + this.#interval - performance.now()));
  }

  async #start() {
    this.#timer = 0;
    this.#isRunning = true;
    this.#isWanted = false;
    this.#ranAt = performance.now();
    await this.#run();
    this.#isRunning = false;
    if (this.#isWanted) this.ask();
  }
}
