// What is shown over the page has an entry of the browser's history while it is open: Back closes it, and what closes it leaves no entry.

export class Overlay {
  /** The open ones, the topmost last. @type {Overlay[]} */
  static #open = [];
  /** @type {() => void} an entry of the history is gone: the one before has the place where it was made */
  static left = () => {};

  static {
    addEventListener("popstate", (event) => {
      const top = Overlay.#open.pop();
      if (!top) return;
      // A link in it may lead elsewhere.
      if (location.href === top.#address) event.stopImmediatePropagation();
      top.#address = null;
      top.#close();
      Overlay.left();
    });
  }

  /** The address below it; null while it is closed. */
  #address = null;
  #close;

  /** @param {() => void} close closes it, if it is open */
  constructor(close) { this.#close = close; }

  opened() {
    if (this.#address !== null) return;
    this.#address = location.href;
    Overlay.#open.push(this);
    history.pushState(history.state, "", location.href);
  }

  closed() { if (this.#address !== null) history.back(); }

  /** The page went on with it open: its entry stays. */
  forget() {
    Overlay.#open = Overlay.#open.filter((one) => one !== this);
    this.#address = null;
  }
}
