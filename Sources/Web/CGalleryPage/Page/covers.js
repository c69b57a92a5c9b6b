// The state of every cover: available, on its way, or failed. Reports the covers in view to the server, whose events report
// arrivals. The page does not poll; a tab that hears of events by another one repeats its report while it waits.

import { ask, pageID } from "./api.js";
import { assign, makeView, pictureOf, resize, showFailure, showPicture, showWaiting, tint } from "./cover-view.js";
import { coverPath, make, storageName, throttled } from "./helpers.js";

/** In milliseconds: during fast scrolling, how long a cover must stay in view before its picture is loaded; between two reports. */
const settleDelay = 90, reportInterval = 120;
/** The server forgets after a minute what a tab waits for that has no stream of its own, in milliseconds. */
const repeatDelay = 30_000;

export class Covers {
  /** The states by album id: {digest, stale?, color?} | {failure, cause?, final?, away?, color?} | {waiting, color?}. */
  #states = new Map();
  /** The albums of several that are chosen together, by their ids. */
  picked = new Set();
  /** The ids of the albums for which covers wait for a review. */
  doubtful = new Set();
  /** The digests of pictures that could not be loaded, by album id. */
  #broken = new Map();
  /** The names of the covers in the browser's storage, by album id, while the server is away. */
  #stored = null;
  #views = new Map(); // id → view
  #inView = [];
  #near = [];
  #retried = new Set();
  /** When covers were cached whose pictures are not shown yet, by album id, in milliseconds since 1970. */
  #arrivals = new Map();
  /** Albums whose cover changed since the last report, whose response may be about the former one; albums that had an event since. */
  #changedSinceReport = new Set();
  #updatedSinceReport = new Set();
  /** When the view last changed completely, and when it did so twice in quick succession. */
  #jumpedAt = -Infinity;
  #rushedAt = -Infinity;
  #report = throttled(reportInterval, () => this.#reportNow());
  #repeatTimer = 0;
  /** Of the views, in CSS pixels. */
  #size = 300;
  #opened = Promise.withResolvers();
  #isOpening = true;
  #away = false;
  /** @type {(id: string) => void} a cover's state changed on the page */
  changed = () => {};
  /** Whether the server's events come to this tab first. */
  hasStream = () => true;
  /** @type {() => void} another cover of the server has been shown */
  seen = () => {};

  /** @param {object} covers the states that the server sent ahead: those around the album the page opens on */
  addStates(covers) { for (const [id, state] of Object.entries(covers)) this.#states.set(id, state); }

  /** A view for an album: a new one, or `recycled`. */
  viewFor(album, recycled) {
    const view = recycled ?? makeView();
    if (view.dataset.id !== album.id) this.release(view);
    assign(view, album);
    this.mark(view);
    this.#views.set(album.id, view);
    if (!album.hasCover) this.#states.set(album.id, { failure: album.problem ?? "No cover yet.", cause: album.cause, final: true });
    if (performance.now() - this.#rushedAt > settleDelay) this.#show(album.id, view);
    else {
      tint(view, this.stateOf(album.id).color);
      showWaiting(view);
      setTimeout(() => this.#views.get(album.id) === view && this.#show(album.id, view), settleDelay);
    }
    return view;
  }

  /** The views have this size now. */
  resize(pixels) {
    if (pixels === this.#size) return;
    this.#size = pixels;
    for (const view of this.#views.values()) resize(view, pixels);
  }

  /** A view that is not used any more. */
  release(view) {
    if (this.#views.get(view.dataset.id) === view) this.#views.delete(view.dataset.id);
  }

  /** Sets the covers in view and those near it, each list in the order of priority. */
  setVisible(inView, near) {
    const now = performance.now();
    if (this.#inView.length && !inView.some((id) => this.#inView.includes(id))) {
      if (now - this.#jumpedAt < 2 * settleDelay) this.#rushedAt = now;
      this.#jumpedAt = now;
    }
    this.#inView = inView;
    this.#near = near;
    this.#report();
    // The views are created after this returns.
    if (inView.every((id) => this.#states.get(id)?.digest)) queueMicrotask(() => this.#markFirst(inView));
  }

  /** These albums have new covers. */
  forget(ids) {
    for (const id of ids) {
      this.#changedSinceReport.add(id);
      this.#setState(id, { waiting: true });
    }
    this.#report();
  }

  retry(id) {
    if (this.#states.get(id)?.final) return;
    this.#retried.add(id);
    this.#setState(id, { waiting: true });
    this.#report();
  }

  /** The server went away or is back. Without it, the browser may have stored covers that were seen before. */
  setAway(away) {
    if (away) return void this.#tryStored();
    this.#away = false;
    for (const [id, state] of this.#states) if (state.away) this.#states.set(id, { waiting: true, color: state.color });
    for (const [id, view] of this.#views) this.#show(id, view);
    this.#report();
  }

  /** @param {number} [at] when the cover was cached, in milliseconds since 1970 */
  arrived(id, state, at) {
    this.#updatedSinceReport.add(id);
    if (at && this.#views.has(id)) this.#arrivals.set(id, at);
    this.#setState(id, state);
  }

  /** The name of a cover or, without the server, of what the browser has stored of it; undefined if there is none. */
  nameOf(id) { return (this.#away && this.#stored?.get(id)) || this.#states.get(id)?.digest; }
  stateOf(id) { return this.#states.get(id) ?? { waiting: true }; }
  pictureOf(id) { return pictureOf(this.#views.get(id)); }
  /** The tile of a cover, whether its picture is there or not; null if it is not on the page. */
  viewOf(id) { return this.#views.get(id) ?? null; }

  /** Marks a view whose album is one of several, or has covers to review. */
  mark(view) {
    const isPicked = this.picked.has(view.dataset.id);
    view.ariaChecked = isPicked ? "true" : null;
    view.querySelector(".tick")?.remove();
    if (isPicked) view.append(make("span", { className: "tick" }));
    view.toggleAttribute("data-doubtful", this.doubtful.has(view.dataset.id));
  }

  /** @param {Set<string>} ids of the albums for which covers wait for a review */
  setDoubtful(ids) {
    this.doubtful = ids;
    for (const [id, view] of this.#views) this.mark(view), this.changed(id);
  }

  /** Resolves when the cached ones among the first covers in view have been shown. */
  get opened() { return this.#opened.promise; }

  /** The names of the covers on the page, by album id. */
  get names() {
    const pictures = [...this.#views.keys()].map((id) => [id, this.pictureOf(id)]);
    return pictures.filter(([, picture]) => picture?.isConnected).map(([id, picture]) => [id, picture.currentSrc.split("/").at(-1)]);
  }

  /** Reports the covers in view to the server. */
  async #reportNow() {
    const again = [...this.#retried];
    clearTimeout(this.#repeatTimer);
    this.#retried.clear();
    this.#updatedSinceReport.clear();
    this.#changedSinceReport.clear();
    const view = this.#inView;
    try {
      const body = { page: pageID, view, near: this.#near, ...(again.length && { again }) };
      const { covers } = await ask("POST", "api/covers", body, { priority: "high" });
      this.#away = false;
      for (const [id, state] of Object.entries(covers)) {
        // An edit or an event may be newer than this response.
        if (this.#changedSinceReport.has(id)) continue;
        if (state.waiting && (this.#updatedSinceReport.has(id) || this.#states.get(id)?.digest)) continue;
        this.#setState(id, state);
      }
      this.#markFirst(view.filter((id) => covers[id]?.digest));
      const isComplete = view.every((id) => this.#states.get(id)?.digest);
      if (!isComplete && !this.hasStream()) this.#repeatTimer = setTimeout(() => this.#report(), repeatDelay);
    } catch (problem) {
      this.#markFirst([]);
      if (problem.away) this.#tryStored();
      for (const id of again) this.#setState(id, { failure: problem.message });
    }
  }

  /** Without the server, shows the pictures that the browser has stored. */
  async #tryStored() {
    this.#away = true;
    this.#stored = await storedNames();
    if (!this.#away) return;
    for (const id of [...this.#inView, ...this.#near]) {
      if (this.#views.has(id) && !this.#states.get(id)?.digest) this.#show(id, this.#views.get(id));
    }
  }

  #setState(id, state) {
    const known = this.#states.get(id);
    // Most of a report's states are known, and shown unless it is in the place of a stored picture.
    const isSame = known?.digest && known.digest === state.digest && known.stale === state.stale && known.color === state.color;
    if (isSame && !this.#stored) return;
    if (known?.final && state.failure === undefined) known.final = false;
    this.#states.set(id, known?.final ? known : state);
    const view = this.#views.get(id);
    if (view) this.#show(id, view);
  }

  async #show(id, view) {
    // The first covers in view have the link to themselves.
    if (!this.#inView.includes(id)) await this.#opened.promise;
    if (this.#views.get(id) !== view) return;
    const state = this.stateOf(id), stored = this.#away ? this.#stored?.get(id) : null, name = this.nameOf(id);
    tint(view, state.color);
    if (state.failure) showFailure(view, state.failure, state.final ? "missing" : state.away && "away");
    else if (name) {
      const how = { size: this.#size, urgent: this.#inView.includes(id), exact: Boolean(stored) };
      const outcome = await showPicture(view, coverPath(name), how), picture = pictureOf(view);
      // Meanwhile the view may have become another album's, or have lost its picture.
      if (outcome === "superseded" || this.#views.get(id) !== view) return;
      if (outcome === "broken") {
        // The server may have replaced or evicted the cover since the page got its digest.
        const isNew = !this.#away && this.#broken.get(id) !== name;
        this.#broken.set(id, name);
        return isNew ? this.forget([id]) : this.#showBroken(id, view);
      }
      if (!picture) return;
      const at = this.#arrivals.get(id);
      if (this.#arrivals.delete(id)) performance.mark("sleeve:arrival", { detail: { id, at, stopped: performance.timeOrigin + performance.now() } });
      if (!stored) this.seen();
    } else if (this.#away && this.#stored) return this.#showBroken(id, view);
    else showWaiting(view);
    this.changed(id);
  }

  #showBroken(id, view) {
    const reason = this.#away ? "Not saved on this device. Reconnect to load it." : "The browser can’t show this picture.";
    this.#states.set(id, { failure: reason, away: this.#away, color: this.stateOf(id).color });
    showFailure(view, reason, this.#away && "away");
    this.changed(id);
  }

  /** Marks the time when the first cached covers in view have been decoded, for measurements. */
  async #markFirst(ids) {
    if (!this.#isOpening) return;
    this.#isOpening = false;
    await Promise.all(ids.map((id) => this.#views.get(id)?.querySelector(".picture").decode().catch(() => {})));
    performance.mark("sleeve:first-covers");
    this.#opened.resolve();
  }
}

/**
 * The names of the covers in the browser's storage, by album id: those that were seen, in the size that was shown, as the service worker's
 * index has them. Empty if there are none, or the browser has no such storage.
 */
async function storedNames() {
  const response = await globalThis.caches?.match("seen", { cacheName: storageName("sleeve-seen") }).catch(() => null);
  return new Map(await response?.json().catch(() => null) ?? []);
}
