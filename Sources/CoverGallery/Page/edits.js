// Adding, editing, deleting, and taking it back.

import { ask } from "./api.js";
import { onSave, openAlbumForm } from "./album-form.js";
import { say } from "./toast.js";
import { clearSearch } from "./search.js";

const buttons = Object.fromEntries(["add", "edit", "delete", "undo", "redo"].map((id) => [id, document.getElementById(id)]));
const reason = "Sleeve isn’t running; editing is off until it’s back.";

export class Edits {
  #library;
  #gallery;
  #complain;
  #away = false;
  /** Edits are made one after the other, however fast they are asked for. */
  #last = Promise.resolve();

  /**
   * @param {import("./library.js").Library} library
   * @param {import("./gallery.js").Gallery} gallery
   * @param {(problem: Error) => void} complain
   */
  constructor(library, gallery, complain) {
    this.#library = library;
    this.#gallery = gallery;
    this.#complain = complain;
    buttons.add.addEventListener("click", () => openAlbumForm());
    buttons.edit.addEventListener("click", () => this.#openEditor());
    document.getElementById("add-first").addEventListener("click", () => openAlbumForm());
    buttons.delete.addEventListener("click", () => this.remove());
    buttons.undo.addEventListener("click", () => this.undo());
    buttons.redo.addEventListener("click", () => this.redo());
    onSave(({ id, message }) => {
      this.#finish(id, message);
      this.#gallery.focus(); // on the album: the keys are meant for it now
    });
  }

  async #openEditor() {
    const id = this.#gallery.album?.id;
    if (!id) return;
    try {
      const { album } = await ask("GET", `/api/albums/${encodeURIComponent(id)}`, undefined, { cache: "no-store" });
      openAlbumForm(id, album);
    } catch (problem) {
      this.#complain(problem);
    }
  }

  remove() {
    // No album is named afterwards: the gallery stays where it is, and there the neighbour is now.
    this.#edit(() => {
      const album = this.#gallery.album;
      return album && ["DELETE", `/api/albums/${encodeURIComponent(album.id)}`, () => null];
    });
  }

  undo() { this.#step("undo", "Undone"); }
  redo() { this.#step("redo", "Redone"); }

  #step(name, done) {
    this.#edit(() => {
      const title = this.#library[name];
      return title && ["POST", `/api/${name}`, (answer) => answer.id, `${done}: ${title}`];
    });
  }

  setAway(away) {
    this.#away = away;
    this.update();
  }

  /** Which buttons can be pressed, and what they would do. */
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
    button.title = this.#away ? reason : title;
    // A button that can no longer be pressed would take the keyboard's place on the page with it.
    if (focused && button.disabled) this.#gallery.focus();
  }

  /** @param {() => [string, string, (answer: object) => string | null, string?] | null} plan what to ask for, when its turn
   *   has come, which album it was, and what to say; by default what the answer says */
  #edit(plan) {
    this.#last = this.#last.then(async () => {
      if (this.#away) return say(reason, { kind: "problem" });
      const [method, path, affected, done] = plan() || [];
      if (!method) return;
      try {
        const answer = await ask(method, path);
        await this.#finish(affected(answer), done ?? answer.message, path === "/api/undo" ? "redo" : "undo");
      } catch (problem) {
        this.#complain(problem);
      }
    });
  }

  async #finish(id, message, back = "undo") {
    if (await this.#library.load()) this.#gallery.refresh();
    if (id && !this.#gallery.choose(id) && this.#library.indexOf(id) >= 0) {
      // It is there, only not among what the search has found.
      clearSearch();
      this.#gallery.choose(id);
    }
    this.update();
    const label = back === "undo" ? "Undo" : "Redo";
    say(message, { action: this.#library[back] ? { label, run: () => this[back]() } : undefined });
  }
}
