// The form that adds or edits an album. It shows the server's validation errors at their fields.

import { ask } from "./api.js";
import { byID } from "./helpers.js";
import { keepClear } from "./keyboard.js";
import { hasNewPicture, sendPicture, takeAddress, takePicture } from "./picture-field.js";

const dialog = byID("album-dialog"), errorLine = byID("album-error"), save = byID("album-save");
const form = dialog.querySelector("form");
/** The edited album's id and fields; a new album has no id. */
let edited = { id: null, fields: {} };

keepClear(dialog);
byID("album-cancel").addEventListener("click", () => dialog.close());
// A press on the backdrop closes the dialog unless something was typed.
dialog.addEventListener("pointerdown", (event) => {
  if (event.target === dialog && !hasNewPicture() && !Object.keys(changes()).length) dialog.close();
});

/** @param {(answer: {id: string, message: string}) => void} saved */
export function onSave(saved) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    showError(null);
    save.disabled = true;
    try {
      const answer = await send();
      if (!edited.id) reset();
      dialog.close();
      if (answer) saved(answer);
    } catch (problem) {
      showError(problem);
    } finally {
      save.disabled = false;
    }
  });
}

/** Takes a cover for the album in the form. @param {File | string} source a picture or an address */
export function takeCover(source) {
  if (typeof source === "string") takeAddress(source);
  else takePicture(source);
}

/** @param {string | null} [id] the album to edit @param {Record<string, string>} [fields] its current fields */
export function openAlbumForm(id = null, fields = {}) {
  // Unsaved text of a new album is kept; unsaved text of another album is not.
  if (id || edited.id) reset();
  edited = { id, fields };
  for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
  if (id) takeAddress(fields.coverUrl);
  byID("album-heading").textContent = id ? "Edit album" : "Add an album";
  save.textContent = id ? "Save" : "Add";
  showError(null);
  dialog.showModal();
}

function reset() {
  form.reset();
  takeAddress("");
}

/** The changed fields alone: another page may edit the other fields at the same time. */
function changes() {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== (edited.fields[name] ?? "")));
}

async function send() {
  // An album without a title is refused; its picture would be stored in vain.
  if (form.elements.namedItem("title").value.trim()) await sendPicture();
  const { id } = edited, album = changes();
  if (!id) return ask("POST", "api/albums", { album });
  return Object.keys(album).length ? ask("PATCH", `api/albums/${encodeURIComponent(id)}`, { album }) : null;
}

function showError(problem) {
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
  errorLine.textContent = problem?.message ?? "";
  const field = problem?.field && form.elements.namedItem(problem.field);
  if (!field) return;
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", errorLine.id);
  field.focus();
}
