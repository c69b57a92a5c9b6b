// The scroller's views in the document: those near the centre, and a few spare ones for recycling.

/** In sizes of the chosen view: the others' scale, the extra distance of its neighbours, and the distance between two views. */
const small = 0.7, apart = 0.15;
export const pitch = 0.78;
const maximumSpare = 8;
let lastID = 0;

export class Views {
  #host;
  #source;
  #views = new Map(); // index → view
  #spare = [];
  #glideTimer = 0;

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

  /** Removes all views and returns them by their keys, for `fill` to reuse. @param {boolean} glide animate their next move */
  takeAll(glide) {
    const kept = new Map();
    for (const view of this.#views.values()) {
      kept.set(view.dataset.key, view);
      view.classList.toggle("gliding", glide);
    }
    this.#views.clear();
    clearTimeout(this.#glideTimer);
    this.#glideTimer = setTimeout(() => this.#views.forEach((view) => view.classList.remove("gliding")), 400);
    return kept;
  }

  /** Shows the views `from` to `to`, and `chosen`, which the list's active descendant refers to. */
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
      const own = kept.get(keys[n]), recycled = own ?? this.#spare.pop() ?? null;
      if (!own) recycled?.classList.remove("gliding");
      this.#insert(index, keys[n], recycled);
    });
    // Reused views may have another position in the set.
    for (const [index, view] of this.#views) {
      if (view.ariaPosInSet !== String(index + 1)) view.ariaPosInSet = String(index + 1);
      if (view.ariaSetSize !== String(count)) view.ariaSetSize = String(count);
    }
    for (const view of this.#spare) view.remove();
    this.#spare.length = Math.min(this.#spare.length, maximumSpare);
  }

  /** Positions every view by transforms and opacities alone. @param {number} centre the scroller's position, in views */
  arrange(centre, size) {
    for (const [index, view] of this.#views) {
      const distance = index - centre, far = Math.min(1, Math.abs(distance));
      const along = (Math.max(-40, Math.min(40, distance)) * pitch + Math.sign(distance) * far * apart) * size;
      view.style.transform = `translate3d(${along.toFixed(2)}px, 0, 0) scale(${(1 - (1 - small) * far).toFixed(4)})`;
      view.style.opacity = (1 - 0.15 * far).toFixed(3);
    }
  }

  #insert(index, key, recycled) {
    const view = this.#source.viewAt(index, recycled);
    view.dataset.key = key;
    view.id ||= `${this.#host.id}-view-${++lastID}`;
    view.setAttribute("role", "option");
    view.setAttribute("aria-selected", "false");
    this.#views.set(index, view);
    // In document order, which screen readers follow.
    const next = this.#views.get(index + 1) ?? null;
    if (view.parentNode !== this.#host || view.nextSibling !== next) this.#host.insertBefore(view, next);
  }
}
