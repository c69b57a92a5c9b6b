// The scroller's views that are in the page: those near the centre, and a few spare ones to be used again.

/** Sizes, as parts of the chosen view's: the others' scale, their distance, and how much further the first one stands off. */
const small = 0.7, apart = 0.15;
export const pitch = 0.78;
const spareAtMost = 8;
let named = 0;

export class Views {
  #host;
  #source;
  #views = new Map(); // index → view
  #spare = [];
  #gliding = 0;

  /** @param {HTMLElement} host @param {import("./scroller.js").DataSource} source */
  constructor(host, source) {
    this.#host = host;
    this.#source = source;
  }

  get(index) { return this.#views.get(index) ?? null; }

  /** The index of the view an element is in, or -1. */
  indexOf(element) {
    for (const [index, view] of this.#views) if (view.contains(element)) return index;
    return -1;
  }

  /** Forgets who is where; gives the views by their keys, for `fill` to bring back those that are still wanted. */
  takeAll(glide) {
    const kept = new Map();
    for (const view of this.#views.values()) {
      kept.set(view.dataset.key, view);
      view.classList.toggle("gliding", glide);
    }
    this.#views.clear();
    clearTimeout(this.#gliding);
    this.#gliding = setTimeout(() => this.#views.forEach((view) => view.classList.remove("gliding")), 400);
    return kept;
  }

  /** Has the views `from` to `to` in the page and `chosen`, wherever it is: the list's active descendant must exist. */
  fill(from, to, chosen, count, kept = new Map()) {
    for (const [index, view] of this.#views) {
      if ((index >= from && index <= to) || index === chosen) continue;
      this.#views.delete(index);
      this.#spare.push(view);
    }
    const missing = [];
    if (chosen >= 0 && (chosen < from || chosen > to) && !this.#views.has(chosen)) missing.push(chosen);
    for (let index = from; index <= to; index++) if (!this.#views.has(index)) missing.push(index);
    const keys = missing.map((index) => this.#source.keyAt(index));
    const wanted = new Set(keys);
    for (const [key, view] of kept) if (!wanted.has(key)) this.#spare.push(view);
    missing.forEach((index, n) => {
      const key = keys[n], stayed = kept.get(key);
      const recycled = stayed ?? this.#spare.pop() ?? null;
      if (!stayed) recycled?.classList.remove("gliding");
      this.#bring(index, key, recycled);
    });
    // Where it stands and how many there are may have changed for those that stayed as well.
    for (const [index, view] of this.#views) {
      if (view.ariaPosInSet !== String(index + 1)) view.ariaPosInSet = String(index + 1);
      if (view.ariaSetSize !== String(count)) view.ariaSetSize = String(count);
    }
    for (const view of this.#spare) view.remove();
    this.#spare.length = Math.min(this.#spare.length, spareAtMost);
  }

  /** Moves every view to its place for a position of the scroller. Writes only transforms and opacities. */
  place(centre, size) {
    for (const [index, view] of this.#views) {
      const distance = index - centre, far = Math.min(1, Math.abs(distance));
      const along = (Math.max(-40, Math.min(40, distance)) * pitch + Math.sign(distance) * far * apart) * size;
      view.style.transform = `translate3d(${along.toFixed(2)}px, 0, 0) scale(${(1 - (1 - small) * far).toFixed(4)})`;
      view.style.opacity = (1 - 0.15 * far).toFixed(3);
    }
  }

  #bring(index, key, recycled) {
    const view = this.#source.viewAt(index, recycled);
    view.dataset.key = key;
    view.id ||= `${this.#host.id}-view-${++named}`;
    view.setAttribute("role", "option");
    view.setAttribute("aria-selected", "false");
    this.#views.set(index, view);
    // In the page's order too, as that is what is read out when somebody walks through it.
    const next = this.#views.get(index + 1) ?? null;
    if (view.parentNode !== this.#host || view.nextSibling !== next) this.#host.insertBefore(view, next);
  }
}
