// Adding, editing and deleting albums, with undo and redo.

import { ask } from "./api.js";
import { onSave, openAlbumForm, takeCover } from "./album-form.js";
import { listenForPictures } from "./drops.js";
import { addressOf } from "./picture-field.js";
import { byID } from "./helpers.js";
import { say } from "./toast.js";
import { clearSearch } from "./search.js";

const buttons = Object.fromEntries(["add", "edit", "delete", "undo", "redo"].map((id) => [id, byID(id)]));
const awayReason = "Sleeve isn’t running; editing is off until it’s back.";

export class Edits {
  #library;
  #gallery;
  #showProblem;
  #away = false;
  /** Edits run one after the other. */
  #last = Promise.resolve();

  /**
   * @param {import("./library.js").Library} library
   * @param {import("./gallery.js").Gallery} gallery
   * @param {(problem: Error) => void} showProblem
   */
  constructor(library, gallery, showProblem) {
    this.#library = library;
    this.#gallery = gallery;
    this.#showProblem = showProblem;
    buttons.add.addEventListener("click", () => openAlbumForm());
    buttons.edit.addEventListener("click", () => this.#openEditor());
    byID("add-first").addEventListener("click", () => openAlbumForm());
    buttons.delete.addEventListener("click", () => this.remove());
    buttons.undo.addEventListener("click", () => this.undo());
    buttons.redo.addEventListener("click", () => this.redo());
    listenForPictures({
      form: takeCover,
      cover: (id, source) => this.#setCover(id, source),
      page: (source) => this.#addWith(source),
      nothing: () => say("Drop a picture file, or a picture of a web page.", { kind: "problem" }),
    });
    onSave(({ id, message }) => {
      this.#finish(id, message);
      this.#gallery.focus(); // keys now act on the saved album
    });
  }

  async #openEditor() {
    const id = this.#gallery.album?.id;
    if (!id) return;
    try {
      const { album } = await ask("GET", `api/albums/${encodeURIComponent(id)}`, undefined, { cache: "no-store" });
      openAlbumForm(id, album);
    } catch (problem) {
      this.#showProblem(problem);
    }
  }

  #addWith(source) {
    if (this.#away) return say(awayReason, { kind: "problem" });
    openAlbumForm();
    takeCover(source);
  }

  /** Accepts a doubtful cover, or refuses all. @param {string} id @param {string | null} picture @param {() => void} done */
  review(id, picture, done) {
    this.#edit(() => ["POST", `api/doubtful/${encodeURIComponent(id)}`, () => (done(), null), undefined, { picture }]);
  }

  /** @param {string} id @param {File | string} source a picture or an address */
  #setCover(id, source) {
    this.#edit(async () => {
      const coverUrl = typeof source === "string" ? source : await addressOf(source);
      return ["PATCH", `api/albums/${encodeURIComponent(id)}`, (answer) => answer.id, undefined, { album: { coverUrl } }];
    });
  }

  remove() {
    // No album is chosen afterwards: the gallery keeps its index, where the next album is now.
    this.#edit(() => {
      const album = this.#gallery.album;
      return album && ["DELETE", `api/albums/${encodeURIComponent(album.id)}`, () => null];
    });
  }

  undo() { this.#step("undo", "Undone"); }
  redo() { this.#step("redo", "Redone"); }

  #step(name, done) {
    this.#edit(() => {
      const title = this.#library[name];
      return title && ["POST", `api/${name}`, (answer) => answer.id, `${done}: ${title}`];
    });
  }

  setAway(away) {
    this.#away = away;
    this.update();
  }

  /** Enables the buttons that can be pressed now, and updates their titles. */
  update() {
    const { undo, redo } = this.#library;
    this.#allow("add", true, "Add an album");
    this.#allow("edit", Boolean(this.#gallery.album), "Edit this album");
    this.#allow("delete", Boolean(this.#gallery.album), "Delete this album (Delete)");
    this.#allow("undo", Boolean(undo), undo ? `Undo: ${undo} (Ctrl+Z)` : "Nothing to undo");
    this.#allow("redo", Boolean(redo), redo ? `Redo: ${redo} (Ctrl+Shift+Z)` : "Nothing to redo");
  }

  #allow(name, can, title) {
    const button = buttons[name], focused = document.activeElement === button;
    button.disabled = this.#away || !can;
    button.title = this.#away ? awayReason : title;
    // A disabled button loses the focus.
    if (focused && button.disabled) this.#gallery.focus();
  }

  /**
   * Runs an edit after those before it.
   * @param {() => [string, string, (answer: object) => string | null, string?, object?] | null} plan the request's method and path,
   *   the album to choose afterwards, the message (default: the answer's), and the request's body; or a promise of these
   */
  #edit(plan) {
    this.#last = this.#last.then(async () => {
      if (this.#away) return say(awayReason, { kind: "problem" });
      try {
        const [method, path, affected, done, body] = (await plan()) || [];
        if (!method) return;
        const answer = await ask(method, path, body);
        const inverse = body?.picture === null ? "none" : path === "api/undo" ? "redo" : "undo";
        await this.#finish(affected(answer), done ?? answer.message, inverse);
      } catch (problem) {
        this.#showProblem(problem);
      }
    });
  }

  async #finish(id, message, inverse = "undo") {
    await this.#library.load();
    if (id && !this.#gallery.choose(id) && this.#library.indexOf(id) >= 0) {
      // The search hides the album.
      clearSearch(this.#library);
      this.#gallery.choose(id);
    }
    this.update();
    const label = inverse === "undo" ? "Undo" : "Redo";
    say(message, { action: this.#library[inverse] ? { label, run: () => this[inverse]() } : undefined });
  }
}
