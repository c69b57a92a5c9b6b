// The views of a list that are in the document: those in a range, the chosen one, and a few spare ones for recycling; and which one is
// chosen.

const maximumSpare = 32;
let lastID = 0;

/**
 * @typedef {object} List what the wall and the stage show, and whom they tell about it
 * @property {() => number} count
 * @property {(index: number, recycled: HTMLElement | null) => HTMLElement} viewAt
 * @property {(index: number) => string} keyAt identifies what a view shows, whatever its index
 * @property {() => {label: string, index: number}[]} marks where each group begins
 * @property {(view: HTMLElement) => void} release the view is not used any more
 * @property {(index: number) => void} didSelect
 * @property {() => void} didTap a view was tapped that is where it belongs
 * @property {(first: number, last: number) => void} didShow other views are in view; called before they are created
 * @property {() => void} didMove the user moves it
 * @property {() => void} didRest
 * @property {(size: number) => void} didResize the views' size in CSS pixels, before any is created
 */
export class Views {
  #host;
  #parent;
  #list;
  #views = new Map(); // index → view
  #spare = [];
  /** How many views the list has, in the document or not. */
  count = 0;
  /** The index of the chosen view, or -1. */
  chosen = -1;

  /** @param {HTMLElement} host the list's element @param {List} list @param {Element} parent the one that the views are in */
  constructor(host, list, parent) {
    this.#host = host;
    this.#list = list;
    this.#parent = parent;
  }

  get(index) { return this.#views.get(index) ?? null; }
  [Symbol.iterator]() { return this.#views.entries(); }
  /** The nearest index that the list has. */
  clamp(index) { return Math.max(0, Math.min(this.count - 1, index)); }
  /** The index of the view that an element is in. */
  indexAt(element) { return [...this.#views].find(([, view]) => view.contains(element))?.[0]; }

  choose(index) {
    if (index === this.chosen) return;
    this.get(this.chosen)?.setAttribute("aria-selected", "false");
    this.chosen = index;
    this.#mark();
    if (this.count) this.#list.didSelect(index);
  }

  /** The data changed: no view is chosen. Removes all views and returns them by their keys, for `fill` to reuse. */
  takeAll() {
    this.count = this.#list.count();
    this.chosen = -1;
    const kept = new Map([...this.#views.values()].map((view) => [view.dataset.key, view]));
    this.#views.clear();
    return kept;
  }

  /** Shows the views `from` to `to`, and the chosen one, which the list's active descendant refers to. */
  fill(from, to, kept = new Map()) {
    const { count } = this, chosen = count ? this.chosen : -1;
    const indices = Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => from + offset);
    const isJump = !indices.some((index) => this.#views.has(index));
    if (chosen > to) indices.push(chosen);
    else if (chosen >= 0 && chosen < from) indices.unshift(chosen);
    const shown = new Set(indices), wanted = new Set(indices.map((index) => this.#list.keyAt(index)));
    const leaving = [...this.#views.keys()].filter((index) => !shown.has(index)).sort((one, other) => one - other);
    const spare = [...leaving.map((index) => this.#views.get(index)), ...[...kept].filter(([key]) => !wanted.has(key)).map(([, view]) => view)];
    for (const index of leaving) this.#views.delete(index);
    // After a jump each of them takes another album where it is, and its styles stay.
    if (!isJump || kept.size) for (const view of spare) view.remove();
    this.#spare.unshift(...spare);
    let former = null;
    for (const index of indices) {
      const view = this.#views.get(index) ?? this.#make(index, kept);
      // In document order, which screen readers follow.
      const place = former ? former.nextSibling : this.#parent.firstChild;
      if (view !== place) this.#parent.insertBefore(view, place);
      // Reused views may have another position in the set.
      if (view.ariaPosInSet !== String(index + 1)) view.ariaPosInSet = String(index + 1);
      if (view.ariaSetSize !== String(count)) view.ariaSetSize = String(count);
      former = view;
    }
    for (const view of this.#spare) view.remove();
    this.#spare.splice(maximumSpare).forEach((view) => this.#list.release(view));
    this.#mark();
  }

  /** Removes all views for good. */
  clear() {
    for (const view of [...this.#views.values(), ...this.#spare.splice(0)]) {
      view.remove();
      this.#list.release(view);
    }
    this.#views.clear();
    this.count = 0;
    this.chosen = -1;
    this.#mark();
  }

  /** Marks the chosen view. */
  #mark() {
    const view = this.get(this.chosen);
    if (view) view.ariaSelected = "true";
    if (!view) this.#host.removeAttribute("aria-activedescendant");
    else if (this.#host.getAttribute("aria-activedescendant") !== view.id) this.#host.setAttribute("aria-activedescendant", view.id);
  }

  #make(index, kept) {
    const key = this.#list.keyAt(index), view = this.#list.viewAt(index, kept.get(key) ?? this.#spare.shift() ?? null);
    view.dataset.key = key;
    view.id ||= `${this.#host.id}-view-${++lastID}`;
    view.setAttribute("role", "option");
    view.setAttribute("aria-selected", "false");
    this.#views.set(index, view);
    return view;
  }
}
