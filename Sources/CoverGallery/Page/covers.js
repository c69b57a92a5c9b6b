// Which covers are here, on their way, or cannot be had. Tells the server what is in sight; it tells what arrives. There
// is no asking again and again.

import { ask, pageID } from "./api.js";
import { dress, makeView, pictureOf, showFailure, showPicture, showWaiting } from "./cover-view.js";

/** What rushes by, none of it twice in sight, is not worth loading before it stays for so long, in milliseconds. */
const rushing = 90;
/** While somebody scrolls, the server hears what is in sight no more often than this, in milliseconds. */
const pace = 120;

export class Covers {
  /** What is known of covers: id → {version, stale?} | {failure, cause?} | {waiting}. */
  #known = new Map();
  #views = new Map(); // id → view
  #view = [];
  #near = [];
  #again = new Set();
  /** Albums that got another cover since the server was last asked: its answer may tell of the former one. */
  #changed = new Set();
  /** What events have told of since the server was last asked. */
  #heard = new Set();
  #jumped = -Infinity;
  #rushed = -Infinity;
  #timer = 0;
  #told = -Infinity;
  #asking = false;
  #stale = false;
  #opening = true;
  #opened = Promise.withResolvers();
  #away = false;
  /** @type {(id: string) => void} a cover's state changed on the page */
  changed = () => {};
  /** @type {(address: string) => void} a cover at this address has been shown */
  seen = () => {};

  /** What the server said of covers before anybody asked: those around the album the page opens on. */
  foresee(covers) {
    for (const [id, state] of Object.entries(covers)) this.#known.set(id, state);
  }

  /** A view for an album, made or used again. */
  viewFor(album, recycled) {
    const view = recycled ?? makeView();
    if (view.dataset.id !== album.id && this.#views.get(view.dataset.id) === view) this.#views.delete(view.dataset.id);
    dress(view, album);
    this.#views.set(album.id, view);
    if (!album.hasCover) this.#known.set(album.id, { failure: album.problem ?? "No cover address yet.", cause: album.cause, final: true });
    if (performance.now() - this.#rushed > rushing) this.#show(album.id, view);
    else {
      showWaiting(view);
      setTimeout(() => this.#views.get(album.id) === view && this.#show(album.id, view), rushing);
    }
    return view;
  }

  /** What is in sight now, and what may be next. */
  sees(view, near) {
    const now = performance.now();
    if (this.#view.length && !view.some((id) => this.#view.includes(id))) {
      if (now - this.#jumped < 2 * rushing) this.#rushed = now;
      this.#jumped = now;
    }
    this.#view = view;
    this.#near = near;
    this.tell();
    // Their views are made when this returns.
    if (view.every((id) => this.#known.get(id)?.version)) queueMicrotask(() => this.#markFirst(view));
  }

  /** Tells the server what is in sight, now or in a moment. */
  tell() {
    this.#stale = true;
    if (this.#asking || this.#timer) return;
    const wait = Math.max(0, this.#told + pace - performance.now());
    this.#timer = setTimeout(() => this.#tellNow(), wait);
  }

  /** These albums have another cover than before. */
  forget(ids) {
    for (const id of ids) {
      this.#changed.add(id);
      this.#learn(id, { waiting: true });
    }
    this.tell();
  }

  retry(id) {
    if (this.#known.get(id)?.final) return;
    this.#again.add(id);
    this.#learn(id, { waiting: true });
    this.tell();
  }

  /** The server comes back or goes; without it, what was seen before may still be kept by the browser. */
  setAway(away) {
    this.#away = away;
    if (away) return;
    for (const [id, state] of this.#known) if (state.away) this.#known.set(id, { waiting: true });
    for (const [id, view] of this.#views) this.#show(id, view);
    this.tell();
  }

  arrived(id, version, at) {
    this.#heard.add(id);
    this.#learn(id, { version }, at);
  }

  failed(id, reason, cause) {
    this.#heard.add(id);
    this.#learn(id, { failure: reason, cause });
  }

  stateOf(id) { return this.#known.get(id) ?? { waiting: true }; }
  pictureOf(id) { return pictureOf(this.#views.get(id)); }

  /** Resolves when every cover in sight at the opening that is in the cache has been shown. */
  get opened() { return this.#opened.promise; }

  /** The addresses of the covers on the page. */
  get addresses() {
    return [...this.#views.keys()].filter((id) => this.#known.get(id)?.version).map((id) => this.#address(id));
  }

  async #tellNow() {
    this.#timer = 0;
    this.#asking = true;
    this.#stale = false;
    this.#told = performance.now();
    const again = [...this.#again];
    this.#again.clear();
    this.#heard.clear();
    this.#changed.clear();
    const view = this.#view;
    try {
      const body = { page: pageID, view, near: this.#near, ...(again.length && { again }) };
      const { covers } = await ask("POST", "/api/covers", body, { priority: "high" });
      this.#away = false;
      for (const [id, state] of Object.entries(covers)) {
        // An edit or an event may have overtaken this answer.
        if (this.#changed.has(id)) continue;
        if (state.waiting && (this.#heard.has(id) || this.#known.get(id)?.version)) continue;
        this.#learn(id, state);
      }
      this.#markFirst(view.filter((id) => covers[id]?.version));
    } catch (problem) {
      if (problem.away) this.#guess();
      for (const id of again) this.#learn(id, { failure: problem.message });
    }
    this.#asking = false;
    if (this.#stale) this.tell();
  }

  /** Nobody says which covers there are: tries what the browser keeps. */
  #guess() {
    this.#away = true;
    for (const id of [...this.#view, ...this.#near]) {
      if (this.#views.has(id) && !this.#known.get(id)?.version) this.#show(id, this.#views.get(id));
    }
  }

  #learn(id, state, at) {
    const known = this.#known.get(id);
    if (known?.final && state.failure === undefined) known.final = false;
    this.#known.set(id, known?.final ? known : state);
    const view = this.#views.get(id);
    if (view) this.#show(id, view, at);
  }

  #address(id) {
    const { version, any } = this.#known.get(id) ?? {};
    if (any) return `/covers/${encodeURIComponent(id)}`;
    return `/covers/${encodeURIComponent(id)}${version ? `?v=${version}` : ""}`;
  }

  async #show(id, view, at) {
    const state = this.stateOf(id);
    if (state.failure) showFailure(view, state.failure);
    else if (state.version || this.#away) {
      const outcome = await showPicture(view, this.#address(id), this.#view.includes(id));
      // The address without its version is answered by whatever version there is, from the browser's own store too.
      if (outcome === "broken" && state.version && !state.any) return this.#learn(id, { ...state, any: true }, at);
      if (outcome === "broken") return this.#broken(id, view);
      if (outcome === "overtaken") return;
      if (at) this.#markArrival(id, at);
      if (state.version) this.seen(this.#address(id));
    } else showWaiting(view);
    this.changed(id);
  }

  #broken(id, view) {
    const reason = this.#away ? "Not saved on this device. Reconnect to load it." : "The browser can’t show this picture.";
    this.#known.set(id, { failure: reason, away: this.#away });
    showFailure(view, reason);
    this.changed(id);
  }

  #markArrival(id, at) {
    performance.mark("sleeve:arrival", { detail: { id, at, stopped: performance.timeOrigin + performance.now() } });
  }

  /** The moment every cover in sight that is here has been shown, for those who measure. */
  async #markFirst(ids) {
    if (!this.#opening) return;
    this.#opening = false;
    await Promise.all(ids.map((id) => this.#views.get(id)?.querySelector(".picture").decode().catch(() => {})));
    performance.mark("sleeve:first-covers");
    this.#opened.resolve();
  }
}
