// Adding, editing and deleting albums, with undo and redo.

import { hashOf } from "./address.js";
import { ask, Problem } from "./api.js";
import { onSave, openAlbumForm, takeCover } from "./album-form.js";
import { listenForPictures } from "./drops.js";
import { addressOf } from "./picture-field.js";
import { byID, onFile } from "./helpers.js";
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
 * @property {string} [id] the album's; `ids`: those of albums to delete
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

export function setUpEdits(library, gallery, showProblem, renewFilter) {
  let isAway = false;
  /** The album whose form was wanted last. */
  let pressed = null;
  /** Edits are made one after the other, in the order in which they were wanted: the latest one, its number once it is made, and how many wait. */
  let latest = null, number = Promise.resolve(null), waiting = 0;
  /** The refusals of doubtful covers that Undo takes back while no other edit came after them: the library has no such steps. */
  let refusals = [];

  async function openEditor() {
    const id = (pressed = gallery.album?.id);
    if (!id) return;
    try {
      const { album } = await ask("GET", pathOf({ id }), undefined, { cache: "no-store" });
      if (id === pressed) openAlbumForm(id, album);
    } catch (problem) {
      showProblem(problem);
    }
  }

  /** @param {File | string} [source] the new album's cover */
  function add(source) {
    if (isAway) return say(awayReason, { kind: "problem" });
    openAlbumForm();
    if (source) takeCover(source);
  }

  /** Accepts a doubtful cover, or refuses those that are shown. */
  function review(id, decision) { want({ kind: "review", id, decision }); }

  /** @param {string} id @param {File | string} source a picture or an address */
  function setCover(id, source) {
    gallery.choose(id);
    if (typeof source === "string") return want({ kind: "change", id, fields: { coverUrl: source } });
    say("Sending the picture…");
    want({ kind: "change", id, picture: source });
  }

  /** @param {string[]} [ids] by default the chosen album's */
  function remove(ids = [gallery.album?.id]) {
    // Pressed again before the album has disappeared.
    if (!ids[0] || (waiting && latest.kind === "delete" && latest.ids.includes(ids[0]))) return;
    // No album is chosen afterwards: the gallery keeps its index, where the next album is now.
    want({ kind: "delete", ids });
  }

  function undo() { want(refusal() ? refusal().inverse : step("undo")); }
  /** What a refusal came after is not made again: it may have accepted the same cover. */
  function redo() { if (!refusal()) want(step("redo")); }

  /** An edit that waits is the one that is meant; else it is the library's, as the page shows it. */
  function step(kind) { return waiting ? { kind, number, waiting: latest } : { kind, number: library.edit }; }

  /** The refusal that Undo takes back now. */
  function refusal() {
    const last = refusals.at(-1);
    return !waiting && last?.number === library.edit ? last : undefined;
  }

  /** Enables the buttons that can be pressed now, and updates their titles. */
  function update() {
    const { undo, redo } = refusal() ? { undo: "None of these" } : library, { album } = gallery;
    allow("add", true, "Add an album (+)");
    allow("edit", album, "Edit this album");
    allow("replace", album, "A picture of yours; you can also drop it on the cover");
    allow("delete", album, "Delete this album (Delete)");
    allow("undo", undo, undo ? `Undo: ${undo} (Ctrl+Z)` : "Nothing to undo");
    allow("redo", redo, redo ? `Redo: ${redo} (Ctrl+Shift+Z)` : "Nothing to redo");
  }

  function allow(name, can, title) {
    const button = buttons[name], focused = document.activeElement === button;
    button.disabled = isAway || !can;
    button.title = isAway ? awayReason : title;
    // What is taken back, in the menu.
    if (name === "undo" || name === "redo") button.querySelector("span").textContent = can ? title.replace(/ \(.*?\)$/, "") : name[0].toUpperCase() + name.slice(1);
    // A disabled button loses the focus.
    if (focused && button.disabled) gallery.focus();
  }

  function want(edit) { make(edit).catch(showProblem); }

  /**
   * Makes an edit after those before it. Its picture is sent immediately: a dropped file may be gone soon.
   * @param {Edit} edit @param {AbortSignal} [signal] aborts when the edit is cancelled
   * @returns {Promise<number | null>} its number; null if there was nothing to do
   */
  async function make(edit, signal) {
    // The form asks the server anyway: its answer says whether it is away or wants another token, and the form keeps the text.
    if (isAway && !signal) throw new Problem(awayReason);
    const picture = edit.picture && addressOf(edit.picture, signal), before = number;
    const made = before.then(() => send(edit, picture, signal));
    picture?.catch(() => {}); // `made` reports it
    latest = edit;
    number = made.catch(() => null);
    waiting += 1;
    number.then(() => (waiting -= 1, update()));
    return made;
  }

  async function send(edit, picture, signal) {
    const chosen = gallery.album?.id;
    try {
      const fields = picture ? { ...edit.fields, coverUrl: await picture } : edit.fields, number = await edit.number;
      if (signal?.aborted) return library.edit;
      const refusal = refusals.at(-1);
      if (edit.kind === "undo" && refusal && edit.waiting === refusal.edit) return await send(refusal.inverse);
      if (number === null || (number === library.edit && !library[edit.kind])) return null;
      const answer = await ask(...requests[edit.kind]({ ...edit, fields, number }));
      if (signal?.aborted && (await takenBack(answer))) return library.load().then(() => library.edit);
      await finish(edit, answer, chosen);
      return answer.edit ?? null;
    } catch (problem) {
      if (signal?.aborted) return library.edit;
      // Another page may have changed what this one shows.
      if (!problem.away) await library.load().catch(() => {});
      throw problem;
    }
  }

  /** Shows an edit that is made. @param {string | undefined} chosen the album that was chosen before it: one that a person has chosen since stays */
  async function finish(edit, answer, chosen) {
    await library.load().catch(() => {}); // made all the same
    // What is taken back may belong to the filter again.
    if (edit.kind !== "add" && edit.kind !== "change") await renewFilter();
    const { id } = answer;
    if (id && gallery.album?.id === chosen && !gallery.choose(id) && library.indexOf(id) >= 0) {
      // The search hides the album.
      clearSearch(library);
      gallery.choose(id);
    }
    const { refused } = answer, label = edit.kind === "undo" ? "Redo" : "Undo";
    const inverse = refused
      ? { kind: "review", id: edit.id, decision: { allow: Object.keys(refused) } } : { kind: label.toLowerCase(), number: answer.edit };
    if (refused) refusals.push({ edit, inverse, number: library.edit });
    else if (edit === refusals.at(-1)?.inverse) refusals.pop();
    else refusals = [];
    const run = () => (gallery.focus(), want(inverse));
    say(answer.message, { action: refused || answer.edit ? { label, run } : undefined });
  }

  buttons.add.addEventListener("click", () => add());
  buttons.edit.addEventListener("click", openEditor);
  let replaced = null;
  buttons.replace.addEventListener("click", () => {
    replaced = gallery.album.id;
    chooser.click();
  });
  onFile(chooser, (file) => setCover(replaced, file));
  copy.hidden = !navigator.clipboard; // over plain HTTP from another machine
  copy.addEventListener("click", () => {
    const address = new URL(hashOf({ view: "stage", album: gallery.album?.id }), location.origin + location.pathname).href;
    navigator.clipboard.writeText(address).then(() => say("Copied the album’s address."), () => say(address));
  });
  byID("add-first").addEventListener("click", () => openAlbumForm());
  buttons.delete.addEventListener("click", () => remove());
  buttons.undo.addEventListener("click", undo);
  buttons.redo.addEventListener("click", redo);
  listenForPictures({
    form: takeCover,
    cover: setCover,
    page: add,
    list: (file) => ask("POST", "api/lists", file).then(() => say("Importing the list…"), showProblem),
    nothing: (name) => say(`${name ? `“${name}” is neither a picture nor a list of albums.` : "That can’t be used here."} ${usable}`, { kind: "problem" }),
  });
  onSave(make, () => gallery.focus()); // keys now act on the saved album
  return { add, review, remove, undo, redo, update, setAway: (away) => ((isAway = away), update()) };
}

/** Takes back an edit that was cancelled while it was made; false if another one came after it. */
const takenBack = ({ edit }) => !edit || ask("POST", "api/undo", { edit }).then(() => true, () => false);
