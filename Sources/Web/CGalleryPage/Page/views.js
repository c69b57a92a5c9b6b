// The views of a list that are in the document: those in a range, the chosen one, and a few spare ones for recycling; and which one is
// chosen.

const maximumSpare = 32;
/** How many albums on each side of those in view are near: as many as are in view, within these bounds. */
const leastNear = 16, mostNear = 100;
let lastID = 0;

/**
 * @typedef {object} DataSource
 * @property {() => number} count
 * @property {(index: number, recycled: HTMLElement | null) => HTMLElement} viewAt
 * @property {(index: number) => string} keyAt identifies what a view shows, whatever its index
 * @property {() => {label: string, index: number}[]} marks where each group begins
 * @property {(view: HTMLElement) => void} release the view is not used any more
 *
 * @typedef {object} Delegate
 * @property {(index: number) => void} didSelect
 * @property {() => void} [didTap] a view was tapped that is where it belongs
 * @property {(first: number, last: number) => void} [didShow] other views are in view; called before they are created
 * @property {() => void} [didMove] the user moves it
 * @property {(position: number) => void} [didRest]
 * @property {(size: number) => void} [didResize] the views' size in CSS pixels, before any is created
 */
export class Views {
  #host;
  #parent;
  #source;
  #delegate;
  #views = new Map(); // index → view
  #spare = [];
  #count = 0;
  #chosen = -1;

  /**
   * @param {HTMLElement} host the list @param {{dataSource: DataSource, delegate: Delegate}} parts
   * @param {HTMLElement} [parent] the element that the views are in
   */
  constructor(host, { dataSource, delegate }, parent = host) {
    this.#host = host;
    this.#parent = parent;
    this.#source = dataSource;
    this.#delegate = delegate;
  }

  /** How many views the list has, in the document or not. */
  get count() { return this.#count; }
  /** The index of the chosen view, or -1. */
  get chosen() { return this.#chosen; }
  get(index) { return this.#views.get(index) ?? null; }
  [Symbol.iterator]() { return this.#views.entries(); }

  /** The nearest index that the list has. */
  clamp(index) { return Math.max(0, Math.min(this.#count - 1, index)); }

  choose(index) {
    if (index === this.#chosen) return;
    const former = this.#chosen;
    this.#chosen = index;
    this.mark(former);
    if (this.#count) this.#delegate.didSelect(index);
  }

  /**
   * A tap chooses a view. On one that is where it belongs it is the delegate's.
   * @param {Element} target @param {(index: number) => void} choose @param {(index: number) => boolean} isAtRest
   */
  tap(target, choose, isAtRest) {
    const index = [...this.#views.keys()].find((each) => this.#views.get(each).contains(target));
    if (index === undefined) return;
    if (index === this.#chosen && isAtRest(index)) return this.#delegate.didTap?.();
    choose(index);
  }

  /** The data changed: no view is chosen. Removes all views and returns them by their keys, for `fill` to reuse. */
  takeAll() {
    this.#count = this.#source.count();
    this.#chosen = -1;
    const kept = new Map([...this.#views.values()].map((view) => [view.dataset.key, view]));
    this.#views.clear();
    return kept;
  }

  /** Shows the views `from` to `to`, and the chosen one, which the list's active descendant refers to. */
  fill(from, to, kept = new Map()) {
    const count = this.#count, chosen = count ? this.#chosen : -1;
    const indices = Array.from({ length: Math.max(0, to - from + 1) }, (_, offset) => from + offset);
    const isJump = !indices.some((index) => this.#views.has(index));
    if (chosen > to) indices.push(chosen);
    else if (chosen >= 0 && chosen < from) indices.unshift(chosen);
    const shown = new Set(indices), wanted = new Set(indices.map((index) => this.#source.keyAt(index)));
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
    this.#spare.splice(maximumSpare).forEach((view) => this.#source.release(view));
    this.mark();
  }

  /** Marks the chosen view. @param {number} former the view that was chosen before */
  mark(former = -1) {
    this.get(former)?.setAttribute("aria-selected", "false");
    const view = this.get(this.#chosen);
    view?.setAttribute("aria-selected", "true");
    if (view) this.#host.setAttribute("aria-activedescendant", view.id);
    else this.#host.removeAttribute("aria-activedescendant");
  }

  /** Removes all views for good. */
  clear() {
    for (const view of [...this.#views.values(), ...this.#spare.splice(0)]) {
      view.remove();
      this.#source.release(view);
    }
    this.#views.clear();
    this.#count = 0;
    this.#chosen = -1;
    this.mark();
  }

  #make(index, kept) {
    const key = this.#source.keyAt(index), view = this.#source.viewAt(index, kept.get(key) ?? this.#spare.shift() ?? null);
    view.dataset.key = key;
    view.id ||= `${this.#host.id}-view-${++lastID}`;
    view.setAttribute("role", "option");
    view.setAttribute("aria-selected", "false");
    this.#views.set(index, view);
    return view;
  }
}

/** The indices in view and those near them, each list from the centre outwards. */
export function outwards(first, last, centre, count) {
  const reach = Math.max(leastNear, Math.min(mostNear, last - first + 1)), from = Math.max(0, first - reach);
  const all = Array.from({ length: Math.max(0, Math.min(count, last + 1 + reach) - from) }, (_, offset) => from + offset)
    .sort((one, other) => Math.abs(one - centre) - Math.abs(other - centre));
  const isInView = (index) => index >= first && index <= last;
  return { inView: all.filter(isInView), near: all.filter((index) => !isInView(index)) };
}
