// What is shown over the page has an entry of the browser's history while it is open: Back closes it, and what closes it leaves no entry.

export class Overlay {
  /** The address below it; null while it is closed. */
  #address = null;
  #close;
  /** @type {() => void} an entry of the history is gone: the one before has the place where it was made */
  static left = () => {};

  /** @param {() => void} close closes it, if it is open */
  constructor(close) {
    this.#close = close;
    addEventListener("popstate", (event) => {
      if (this.#address === null) return;
      // A link in it may lead elsewhere.
      if (location.href === this.#address) event.stopImmediatePropagation();
      this.#address = null;
      this.#close();
      Overlay.left();
    });
  }

  opened() {
    if (this.#address !== null) return;
    this.#address = location.href;
    history.pushState(history.state, "", location.href);
  }

  closed() { if (this.#address !== null) history.back(); }
}
