// Adding, deleting, and taking either back.

import { ask } from "./api.js";
import { onAdd, openAddForm } from "./add-form.js";
import { say } from "./toast.js";
import { clearSearch } from "./search.js";

const buttons = Object.fromEntries(["add", "delete", "undo", "redo"].map((id) => [id, document.getElementById(id)]));
const reason = "The server is away; changes have to wait until it is back.";

export class Edits {
  #library;
  #gallery;
  #complain;
  #away = false;
  #busy = false;

  /**
   * @param {import("./library.js").Library} library
   * @param {import("./gallery.js").Gallery} gallery
   * @param {(problem: Error) => void} complain
   */
  constructor(library, gallery, complain) {
    this.#library = library;
    this.#gallery = gallery;
    this.#complain = complain;
    buttons.add.addEventListener("click", () => openAddForm());
    document.getElementById("add-first").addEventListener("click", () => openAddForm());
    buttons.delete.addEventListener("click", () => this.remove());
    buttons.undo.addEventListener("click", () => this.undo());
    buttons.redo.addEventListener("click", () => this.redo());
    onAdd(({ id, message }) => this.#finish(id, message));
  }

  remove() {
    const album = this.#gallery.album;
    // No album is named afterwards: the gallery stays where it is, and there the neighbour is now.
    if (album) this.#edit("DELETE", `/api/albums/${encodeURIComponent(album.id)}`, () => null);
  }

  undo() { if (this.#library.undo) this.#edit("POST", "/api/undo", (answer) => answer.id); }
  redo() { if (this.#library.redo) this.#edit("POST", "/api/redo", (answer) => answer.id); }

  setAway(away) {
    this.#away = away;
    this.update();
  }

  /** Which buttons can be pressed, and what they would do. */
  update() {
    const { undo, redo } = this.#library;
    this.#allow("add", true, "Add an album");
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

  async #edit(method, path, affected) {
    if (this.#away) return say(reason, { kind: "problem" });
    if (this.#busy) return;
    this.#busy = true;
    try {
      const answer = await ask(method, path);
      await this.#finish(affected(answer), answer.message, path === "/api/undo" ? "redo" : "undo");
    } catch (problem) {
      this.#complain(problem);
    } finally {
      this.#busy = false;
    }
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
