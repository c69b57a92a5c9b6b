// The form that adds or edits an album. It shows the server's validation errors at their fields.

import { byID } from "./helpers.js";
import { Overlay } from "./overlay.js";
import { newPicture, takeAddress, takePicture } from "./picture-field.js";

const dialog = byID("album-dialog"), errorLine = byID("album-error"), save = byID("album-save");
const form = dialog.querySelector("form");
/** What the form was opened for: an album's id and fields, or a new album. Its edit is cancelled when the form closes before it is made. */
let opened = { id: null, fields: {}, cancel: new AbortController() };

const overlay = new Overlay(() => dialog.open && giveUp());

for (const kind of ["resize", "scroll"]) visualViewport.addEventListener(kind, keepClear);
dialog.addEventListener("close", () => overlay.closed());
byID("album-cancel").addEventListener("click", giveUp);
// Escape. The same event of the file field means that no file was chosen.
dialog.addEventListener("cancel", ({ target }) => target === dialog && opened.cancel.abort());
// A press on the backdrop closes the dialog unless something was typed.
dialog.addEventListener("pointerdown", (event) => {
  if (event.target === dialog && !newPicture() && !Object.keys(changes()).length) giveUp();
});

/** Keeps the form within what an on-screen keyboard leaves, and its focused field in view: not every browser shrinks the page for one. */
function keepClear({ type }) {
  // A zoomed page has a small visual viewport too.
  const { scale, offsetTop, height } = visualViewport, isWhole = scale < 1.01, above = isWhole ? offsetTop : 0;
  dialog.style.setProperty("--above", `${above}px`);
  dialog.style.setProperty("--keyboard", `${isWhole ? Math.max(0, innerHeight - height - above) : 0}px`);
  if (isWhole && type === "resize" && dialog.contains(document.activeElement)) document.activeElement.scrollIntoView({ block: "nearest" });
}

/** Cancels the edit immediately: the dialog's event of closing comes a frame later, in which the server may answer. */
function giveUp() {
  opened.cancel.abort();
  dialog.close();
}

/** @param {() => void} closed called when the edit is made */
export function onSave(make, closed) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const mine = opened, { id } = mine, { signal } = mine.cancel, fields = changes();
    // An album without a title is refused; its picture would be stored in vain.
    const picture = form.elements.namedItem("title").value.trim() ? newPicture() : null;
    if (id && !picture && !Object.keys(fields).length) return dialog.close();
    showError(null);
    save.disabled = true;
    try {
      await make({ kind: id ? "change" : "add", id, fields, picture }, signal);
      if (signal.aborted) return;
      if (!id) reset();
      dialog.close();
      closed();
    } catch (problem) {
      if (!signal.aborted) showError(problem);
    } finally {
      if (mine === opened) save.disabled = false;
    }
  });
}

/** Takes a cover for the album in the form. @param {File | string} source a picture or an address */
export const takeCover = (source) => (typeof source === "string" ? takeAddress(source) : takePicture(source));

/** Opens the form unless it is open. @param {string} [id] the album to edit @param {object} [fields] its current fields */
export function openAlbumForm(id = null, fields = {}) {
  if (dialog.open) return;
  // Unsaved text of a new album is kept; unsaved text of another album is not.
  if (id || opened.id) reset();
  opened.cancel.abort();
  opened = { id, fields, cancel: new AbortController() };
  for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
  if (id) takeAddress(fields.coverUrl);
  byID("album-heading").textContent = id ? "Edit album" : "Add an album";
  save.textContent = id ? "Save" : "Add";
  save.disabled = false;
  showError(null);
  dialog.showModal();
  form.elements.namedItem("title").scrollLeft = 0; // a long one is read from its beginning
  overlay.opened();
}

function reset() {
  form.reset();
  takeAddress("");
}

/** The changed fields alone: another page may edit the other fields at the same time. */
const changes = () => Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== (opened.fields[name] ?? "")));

function showError(problem) {
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  const field = problem?.field && form.elements.namedItem(problem.field);
  if (field) (field.closest(".two") ?? field.closest("label")).after(errorLine);
  else form.lastElementChild.before(errorLine);
  errorLine.textContent = problem?.message ?? "";
  if (!field) return;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", errorLine.id);
  field.focus();
}
