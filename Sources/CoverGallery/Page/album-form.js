// The form that adds or edits an album. It shows the server's validation errors at their fields.

import { ask } from "./api.js";
import { byID } from "./helpers.js";
import { keepClear } from "./keyboard.js";

const dialog = byID("album-dialog"), errorLine = byID("album-error"), save = byID("album-save");
const form = dialog.querySelector("form");
/** The edited album's id and fields; a new album has no id. */
let edited = { id: null, fields: {} };

keepClear(dialog);
byID("album-cancel").addEventListener("click", () => dialog.close());
// A press on the backdrop closes the dialog unless something was typed.
dialog.addEventListener("pointerdown", (event) => {
  if (event.target === dialog && !Object.keys(changes()).length) dialog.close();
});

/** @param {(answer: {id: string, message: string}) => void} saved */
export function onSave(saved) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    showError(null);
    save.disabled = true;
    try {
      const answer = await send();
      if (!edited.id) form.reset();
      dialog.close();
      if (answer) saved(answer);
    } catch (problem) {
      showError(problem);
    } finally {
      save.disabled = false;
    }
  });
}

/** @param {string | null} [id] the album to edit @param {Record<string, string>} [fields] its current fields */
export function openAlbumForm(id = null, fields = {}) {
  // Unsaved text of a new album is kept; unsaved text of another album is not.
  if (id || edited.id) form.reset();
  edited = { id, fields };
  for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
  byID("album-heading").textContent = id ? "Edit album" : "Add an album";
  save.textContent = id ? "Save" : "Add";
  showError(null);
  dialog.showModal();
}

/** The changed fields alone: another page may edit the other fields at the same time. */
function changes() {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== (edited.fields[name] ?? "")));
}

function send() {
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
