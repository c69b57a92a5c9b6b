// The form that adds or edits an album. What the server says is wrong is said at the field it is about.

import { ask } from "./api.js";
import { keepClear } from "./keyboard.js";

const byID = (id) => document.getElementById(id);
const dialog = byID("album-dialog"), errorLine = byID("album-error"), save = byID("album-save");
const form = dialog.querySelector("form");
/** The edited album's id and fields; with no id an album is added. */
let edited = { id: null, fields: {} };

keepClear(dialog);
byID("album-cancel").addEventListener("click", () => dialog.close());
// A press on what is behind the dialog closes it, as people expect, unless something was typed.
dialog.addEventListener("pointerdown", (event) => {
  if (event.target === dialog && !Object.keys(changes()).length) dialog.close();
});

/** @param {(answer: {id: string, message: string}) => void} saved */
export function onSave(saved) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    complain(null);
    save.disabled = true;
    try {
      const answer = await send();
      if (!edited.id) form.reset();
      dialog.close();
      if (answer) saved(answer);
    } catch (problem) {
      complain(problem);
    } finally {
      save.disabled = false;
    }
  });
}

/** @param {string | null} [id] the album to edit @param {Record<string, string>} [fields] what it says now */
export function openAlbumForm(id = null, fields = {}) {
  // What was typed for a new album and not saved is there again; what was typed for another album is not.
  if (id || edited.id) form.reset();
  edited = { id, fields };
  for (const [name, value] of Object.entries(fields)) form.elements.namedItem(name).value = value;
  byID("album-heading").textContent = id ? "Edit album" : "Add an album";
  save.textContent = id ? "Save" : "Add";
  complain(null);
  dialog.showModal();
}

/** The fields that are not as they were: others may be changed by somebody else meanwhile. */
function changes() {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => value !== (edited.fields[name] ?? "")));
}

function send() {
  const { id } = edited, album = changes();
  if (!id) return ask("POST", "/api/albums", { album });
  return Object.keys(album).length ? ask("PATCH", `/api/albums/${encodeURIComponent(id)}`, { album }) : null;
}

function complain(problem) {
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
