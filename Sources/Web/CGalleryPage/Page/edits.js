// Adding, editing and deleting albums, with undo and redo.

import { hashOf } from "./address.js";
import { ask, Problem } from "./api.js";
import { onSave, openAlbumForm, takeCover } from "./album-form.js";
import { listenForPictures } from "./drops.js";
import { addressOf } from "./picture-field.js";
import { byID } from "./helpers.js";
import { say } from "./toast.js";
import { clearSearch } from "./search.js";

const buttons = Object.fromEntries(["add", "edit", "replace", "delete", "undo", "redo"].map((id) => [id, byID(id)]));
const chooser = byID("replace-file"), copy = byID("copy");
const usable = "Drop a picture, its address, or a list of albums: JSON, CSV, or the library of beets.";
const awayReason = "Sleeve isn’t running; editing is off until it’s back.";
const pathOf = ({ id }, part = "albums") => `api/${part}/${encodeURIComponent(id)}`;

/**
 * What a person wants, complete when they act: nothing of it is read from the page later.
 * @typedef {object} Edit
 * @property {keyof typeof requests} kind
 * @property {string} [id] the album's
 * @property {string[]} [ids] those of albums to delete
 * @property {Record<string, string>} [fields] those that change
 * @property {Blob | null} [picture] the user's own picture, whose address becomes a field
 * @property {object} [decision] about doubtful covers, as the server takes it
 * @property {number | Promise<number | null>} [number] that of the edit or undo to revert; null if that has none
 * @property {Edit} [waiting] the edit to revert, while it waits
 */
const requests = {
  add: ({ fields }) => ["POST", "api/albums", { album: fields }],
  change: (edit) => ["PATCH", pathOf(edit), { album: edit.fields }],
  delete: ({ ids }) => (ids.length === 1 ? ["DELETE", pathOf({ id: ids[0] })] : ["POST", "api/deletions", { ids }]),
  undo: ({ number }) => ["POST", "api/undo", { edit: number }],
  redo: ({ number }) => ["POST", "api/redo", { edit: number }],
  review: (edit) => ["POST", pathOf(edit, "doubtful"), edit.decision],
};

export class Edits {
  #library;
  #gallery;
  #showProblem;
  #renewFilter;
  #away = false;
  /** The album whose form was wanted last. */
  #pressed = null;
  /** Edits are made one after the other, in the order in which they were wanted: the latest one, its number once it is made, and how many wait. */
  #latest = null;
  #number = Promise.resolve(null);
  #waiting = 0;
  /** The refusals of doubtful covers that Undo takes back while no other edit came after them: the library has no such steps. */
  #refusals = [];

  /**
   * @param {import("./library.js").Library} library
   * @param {import("./gallery.js").Gallery} gallery
   * @param {(problem: Error) => void} showProblem
   * @param {() => Promise<void>} renewFilter
   */
  constructor(library, gallery, showProblem, renewFilter) {
    this.#library = library;
    this.#gallery = gallery;
    this.#showProblem = showProblem;
    this.#renewFilter = renewFilter;
    buttons.add.addEventListener("click", () => this.add());
    buttons.edit.addEventListener("click", () => this.#openEditor());
    let replaced = null;
    buttons.replace.addEventListener("click", () => {
      replaced = gallery.album.id;
      chooser.click();
    });
    chooser.addEventListener("change", () => {
      if (chooser.files[0]) this.#setCover(replaced, chooser.files[0]);
      chooser.value = ""; // so that the same file can be chosen again
    });
    copy.hidden = !navigator.clipboard; // over plain HTTP from another machine
    copy.addEventListener("click", () => {
      const address = new URL(hashOf({ view: "stage", album: gallery.album?.id }), location.origin + location.pathname).href;
      navigator.clipboard.writeText(address).then(() => say("Copied the album’s address."), () => say(address));
    });
    byID("add-first").addEventListener("click", () => openAlbumForm());
    buttons.delete.addEventListener("click", () => this.remove());
    buttons.undo.addEventListener("click", () => this.undo());
    buttons.redo.addEventListener("click", () => this.redo());
    listenForPictures({
      form: takeCover,
      cover: (id, source) => this.#setCover(id, source),
      page: (source) => this.add(source),
      list: (file) => ask("POST", "api/lists", file).then(() => say("Importing the list…"), showProblem),
      nothing: (name) => say(`${name ? `“${name}” is neither a picture nor a list of albums.` : "That can’t be used here."} ${usable}`, { kind: "problem" }),
    });
    onSave((edit, signal) => this.#make(edit, signal), () => this.#gallery.focus()); // keys now act on the saved album
  }

  async #openEditor() {
    const id = (this.#pressed = this.#gallery.album?.id);
    if (!id) return;
    try {
      const { album } = await ask("GET", pathOf({ id }), undefined, { cache: "no-store" });
      if (id === this.#pressed) openAlbumForm(id, album);
    } catch (problem) {
      this.#showProblem(problem);
    }
  }

  /** @param {File | string} [source] the new album's cover */
  add(source) {
    if (this.#away) return say(awayReason, { kind: "problem" });
    openAlbumForm();
    if (source) takeCover(source);
  }

  /** Accepts a doubtful cover, or refuses those that are shown. @param {string} id @param {{picture: string | null, shown: string[]}} decision */
  review(id, decision) { this.#edit({ kind: "review", id, decision }); }

  /** @param {string} id @param {File | string} source a picture or an address */
  #setCover(id, source) {
    this.#gallery.choose(id);
    if (typeof source === "string") return this.#edit({ kind: "change", id, fields: { coverUrl: source } });
    say("Sending the picture…");
    this.#edit({ kind: "change", id, picture: source });
  }

  /** @param {string[]} [ids] by default the chosen album's */
  remove(ids = [this.#gallery.album?.id]) {
    // Pressed again before the album has disappeared.
    if (!ids[0] || (this.#waiting && this.#latest.kind === "delete" && this.#latest.ids.includes(ids[0]))) return;
    // No album is chosen afterwards: the gallery keeps its index, where the next album is now.
    this.#edit({ kind: "delete", ids });
  }

  undo() { this.#edit(this.#refusal ? this.#refusal.inverse : this.#step("undo")); }
  /** What a refusal came after is not made again: it may have accepted the same cover. */
  redo() { if (!this.#refusal) this.#edit(this.#step("redo")); }

  /** An edit that waits is the one that is meant; else it is the library's, as the page shows it. */
  #step(kind) { return this.#waiting ? { kind, number: this.#number, waiting: this.#latest } : { kind, number: this.#library.edit }; }

  /** The refusal that Undo takes back now. */
  get #refusal() {
    const last = this.#refusals.at(-1);
    return !this.#waiting && last?.number === this.#library.edit ? last : undefined;
  }

  setAway(away) {
    this.#away = away;
    this.update();
  }

  /** Enables the buttons that can be pressed now, and updates their titles. */
  update() {
    const { undo, redo } = this.#refusal ? { undo: "None of these" } : this.#library;
    this.#allow("add", true, "Add an album (+)");
    this.#allow("edit", Boolean(this.#gallery.album), "Edit this album");
    this.#allow("replace", Boolean(this.#gallery.album), "A picture of yours; you can also drop it on the cover");
    this.#allow("delete", Boolean(this.#gallery.album), "Delete this album (Delete)");
    this.#allow("undo", Boolean(undo), undo ? `Undo: ${undo} (Ctrl+Z)` : "Nothing to undo");
    this.#allow("redo", Boolean(redo), redo ? `Redo: ${redo} (Ctrl+Shift+Z)` : "Nothing to redo");
  }

  #allow(name, can, title) {
    const button = buttons[name], focused = document.activeElement === button;
    button.disabled = this.#away || !can;
    button.title = this.#away ? awayReason : title;
    // What is taken back, in the menu.
    if (name === "undo" || name === "redo") button.querySelector("span").textContent = can ? title.replace(/ \(.*?\)$/, "") : name[0].toUpperCase() + name.slice(1);
    // A disabled button loses the focus.
    if (focused && button.disabled) this.#gallery.focus();
  }

  /** @param {Edit} edit */
  #edit(edit) { this.#make(edit).catch(this.#showProblem); }

  /**
   * Makes an edit after those before it. Its picture is sent immediately: a dropped file may be gone soon.
   * @param {Edit} edit @param {AbortSignal} [signal] aborts when the edit is cancelled
   * @returns {Promise<number | null>} its number; null if there was nothing to do
   */
  async #make(edit, signal) {
    // The form asks the server anyway: its answer says whether it is away or wants another token, and the form keeps the text.
    if (this.#away && !signal) throw new Problem(awayReason);
    const picture = edit.picture && addressOf(edit.picture, signal), before = this.#number;
    const made = before.then(() => this.#send(edit, picture, signal));
    picture?.catch(() => {}); // `made` reports it
    this.#latest = edit;
    this.#number = made.catch(() => null);
    this.#waiting += 1;
    this.#number.then(() => (this.#waiting -= 1, this.update()));
    return made;
  }

  async #send(edit, picture, signal) {
    const chosen = this.#gallery.album?.id;
    try {
      const fields = picture ? { ...edit.fields, coverUrl: await picture } : edit.fields, number = await edit.number;
      if (signal?.aborted) return this.#library.edit;
      const refusal = this.#refusals.at(-1);
      if (edit.kind === "undo" && refusal && edit.waiting === refusal.edit) return await this.#send(refusal.inverse);
      if (number === null || (number === this.#library.edit && !this.#library[edit.kind])) return null;
      const answer = await ask(...requests[edit.kind]({ ...edit, fields, number }));
      if (signal?.aborted && (await takenBack(answer))) return this.#library.load().then(() => this.#library.edit);
      await this.#finish(edit, answer, chosen);
      return answer.edit ?? null;
    } catch (problem) {
      if (signal?.aborted) return this.#library.edit;
      // Another page may have changed what this one shows.
      if (!problem.away) await this.#library.load().catch(() => {});
      throw problem;
    }
  }

  /** Shows an edit that is made. @param {string | undefined} chosen the album that was chosen before it: one that a person has chosen since stays */
  async #finish(edit, answer, chosen) {
    await this.#library.load().catch(() => {}); // made all the same
    // What is taken back may belong to the filter again.
    if (edit.kind !== "add" && edit.kind !== "change") await this.#renewFilter();
    const { id } = answer;
    if (id && this.#gallery.album?.id === chosen && !this.#gallery.choose(id) && this.#library.indexOf(id) >= 0) {
      // The search hides the album.
      clearSearch(this.#library);
      this.#gallery.choose(id);
    }
    const { refused } = answer, label = edit.kind === "undo" ? "Redo" : "Undo";
    const inverse = refused
      ? { kind: "review", id: edit.id, decision: { allow: Object.keys(refused) } } : { kind: label.toLowerCase(), number: answer.edit };
    if (refused) this.#refusals.push({ edit, inverse, number: this.#library.edit });
    else if (edit === this.#refusals.at(-1)?.inverse) this.#refusals.pop();
    else this.#refusals = [];
    const run = () => (this.#gallery.focus(), this.#edit(inverse));
    say(answer.message, { action: refused || answer.edit ? { label, run } : undefined });
  }
}

/** Takes back an edit that was cancelled while it was made; false if another one came after it. */
function takenBack({ edit }) {
  return !edit || ask("POST", "api/undo", { edit }).then(() => true, () => false);
}
