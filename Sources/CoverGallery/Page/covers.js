// The state of every cover: available, on its way, or failed. Reports the covers in view to the server, whose events report
// arrivals. The page does not poll.

import { ask, pageID } from "./api.js";
import { assign, makeView, pictureOf, showFailure, showPicture, showWaiting } from "./cover-view.js";

/** During fast scrolling, how long a cover must stay in view before its picture is loaded, in milliseconds. */
const settleDelay = 90;
/** The minimum time between two reports to the server, in milliseconds. */
const reportInterval = 120;

export class Covers {
  /** The states by album id: {version, stale?, anyVersion?} | {failure, cause?, final?, away?} | {waiting}. */
  #states = new Map();
  #views = new Map(); // id → view
  #inView = [];
  #near = [];
  #retried = new Set();
  /** Albums whose cover changed since the last report: its response may be about the former cover. */
  #changedSinceReport = new Set();
  /** Albums that had an event since the last report. */
  #updatedSinceReport = new Set();
  /** When the view last changed completely, and when it did so twice in quick succession. */
  #jumpedAt = -Infinity;
  #rushedAt = -Infinity;
  #reportTimer = 0;
  #reportedAt = -Infinity;
  #isReporting = false;
  #needsReport = false;
  #isOpening = true;
  #opened = Promise.withResolvers();
  #away = false;
  /** @type {(id: string) => void} a cover's state changed on the page */
  changed = () => {};
  /** @type {(address: string) => void} the cover at this address has been shown */
  seen = () => {};

  /** Adds the states that the server sent ahead: those around the album the page opens on. */
  addStates(covers) {
    for (const [id, state] of Object.entries(covers)) this.#states.set(id, state);
  }

  /** A view for an album: a new one, or `recycled`. */
  viewFor(album, recycled) {
    const view = recycled ?? makeView();
    if (view.dataset.id !== album.id && this.#views.get(view.dataset.id) === view) this.#views.delete(view.dataset.id);
    assign(view, album);
    this.#views.set(album.id, view);
    if (!album.hasCover) this.#states.set(album.id, { failure: album.problem ?? "No cover address yet.", cause: album.cause, final: true });
    if (performance.now() - this.#rushedAt > settleDelay) this.#show(album.id, view);
    else {
      showWaiting(view);
      setTimeout(() => this.#views.get(album.id) === view && this.#show(album.id, view), settleDelay);
    }
    return view;
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
    if (inView.every((id) => this.#states.get(id)?.version)) queueMicrotask(() => this.#markFirst(inView));
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
    this.#away = away;
    if (away) return;
    for (const [id, state] of this.#states) if (state.away) this.#states.set(id, { waiting: true });
    for (const [id, view] of this.#views) this.#show(id, view);
    this.#report();
  }

  arrived(id, version, at) {
    this.#updatedSinceReport.add(id);
    this.#setState(id, { version }, at);
  }

  failed(id, reason, cause) {
    this.#updatedSinceReport.add(id);
    this.#setState(id, { failure: reason, cause });
  }

  stateOf(id) { return this.#states.get(id) ?? { waiting: true }; }
  pictureOf(id) { return pictureOf(this.#views.get(id)); }

  /** Resolves when the cached ones among the first covers in view have been shown. */
  get opened() { return this.#opened.promise; }

  /** The addresses of the covers on the page. */
  get addresses() {
    return [...this.#views.keys()].filter((id) => this.#states.get(id)?.version).map((id) => this.#address(id));
  }

  /** Reports the covers in view to the server, now or after `reportInterval`. */
  #report() {
    this.#needsReport = true;
    if (this.#isReporting || this.#reportTimer) return;
    const wait = Math.max(0, this.#reportedAt + reportInterval - performance.now());
    this.#reportTimer = setTimeout(() => this.#reportNow(), wait);
  }

  async #reportNow() {
    this.#reportTimer = 0;
    this.#isReporting = true;
    this.#needsReport = false;
    this.#reportedAt = performance.now();
    const again = [...this.#retried];
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
        if (state.waiting && (this.#updatedSinceReport.has(id) || this.#states.get(id)?.version)) continue;
        this.#setState(id, state);
      }
      this.#markFirst(view.filter((id) => covers[id]?.version));
    } catch (problem) {
      if (problem.away) this.#tryStored();
      for (const id of again) this.#setState(id, { failure: problem.message });
    }
    this.#isReporting = false;
    if (this.#needsReport) this.#report();
  }

  /** Without the server, loads the pictures that the browser may have stored. */
  #tryStored() {
    this.#away = true;
    for (const id of [...this.#inView, ...this.#near]) {
      if (this.#views.has(id) && !this.#states.get(id)?.version) this.#show(id, this.#views.get(id));
    }
  }

  #setState(id, state, at) {
    const known = this.#states.get(id);
    if (known?.final && state.failure === undefined) known.final = false;
    this.#states.set(id, known?.final ? known : state);
    const view = this.#views.get(id);
    if (view) this.#show(id, view, at);
  }

  #address(id) {
    const { version, anyVersion } = this.#states.get(id) ?? {};
    return `covers/${encodeURIComponent(id)}${version && !anyVersion ? `?v=${version}` : ""}`;
  }

  /** @param {number} [at] when the cover was cached, in milliseconds since 1970 */
  async #show(id, view, at) {
    const state = this.stateOf(id);
    if (state.failure) showFailure(view, state.failure);
    else if (state.version || this.#away) {
      const outcome = await showPicture(view, this.#address(id), this.#inView.includes(id));
      // The address without a version finds any version, in the browser's own storage too.
      if (outcome === "broken" && state.version && !state.anyVersion) return this.#setState(id, { ...state, anyVersion: true }, at);
      if (outcome === "broken") return this.#showBroken(id, view);
      if (outcome === "superseded") return;
      if (at) performance.mark("sleeve:arrival", { detail: { id, at, stopped: performance.timeOrigin + performance.now() } });
      if (state.version) this.seen(this.#address(id));
    } else showWaiting(view);
    this.changed(id);
  }

  #showBroken(id, view) {
    const reason = this.#away ? "Not saved on this device. Reconnect to load it." : "The browser can’t show this picture.";
    this.#states.set(id, { failure: reason, away: this.#away });
    showFailure(view, reason);
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
