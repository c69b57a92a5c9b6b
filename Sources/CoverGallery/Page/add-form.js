// The form that adds an album. What the server says is wrong is said at the field it is about.

import { ask } from "./api.js";
import { keepClear } from "./keyboard.js";

const dialog = document.getElementById("add-dialog");
const form = dialog.querySelector("form");
const errorLine = document.getElementById("add-error");
const save = document.getElementById("add-save");

keepClear(dialog);
document.getElementById("add-cancel").addEventListener("click", () => dialog.close());
// A press on what is behind the dialog closes it, as people expect, unless something was typed.
dialog.addEventListener("pointerdown", (event) => {
  if (event.target === dialog && ![...new FormData(form).values()].some(Boolean)) dialog.close();
});

/** @param {(answer: {id: string, index: number, message: string}) => void} added */
export function onAdd(added) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    complain(null);
    save.disabled = true;
    try {
      const answer = await ask("POST", "/api/albums", { album: Object.fromEntries(new FormData(form)) });
      form.reset();
      dialog.close();
      added(answer);
    } catch (problem) {
      complain(problem);
    } finally {
      save.disabled = false;
    }
  });
}

export function openAddForm() {
  complain(null);
  dialog.showModal();
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
