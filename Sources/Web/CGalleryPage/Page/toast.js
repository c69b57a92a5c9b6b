// A message about what happened, with an optional action. The element is a live region and always in the document: screen readers
// announce only changes of regions they have already found.

import { byID, make } from "./helpers.js";

const box = byID("toast"), line = byID("status"), button = byID("toast-action");
const duration = 7000; // milliseconds
let timer = 0, run = null;

/** @param {{action?: {label: string, run(): void}, kind?: "done" | "problem"}} [more] */
export function say(message, { action, kind = "done" } = {}) {
  // Emptied first, so that a repeated message is announced too.
  line.textContent = "";
  requestAnimationFrame(() => line.replaceChildren(...isolated(message)));
  run = action?.run ?? null;
  button.hidden = !action;
  button.textContent = action?.label ?? "";
  box.dataset.kind = kind;
  box.classList.add("open");
  closeLater();
}

/** The message's parts. A quoted title may be written from right to left; it does not reorder the words around it. */
function isolated(message) {
  return message.split(/(?<=“)(.+)(?=”)/s).map((part, index) => (index % 2 ? make("bdi", {}, part) : part));
}

function closeLater() {
  clearTimeout(timer);
  // Stays while it is hovered or has the focus.
  timer = setTimeout(() => (box.matches(":hover, :focus-within") ? closeLater() : close()), duration);
}

function close() {
  clearTimeout(timer);
  box.classList.remove("open");
  button.hidden = true;
}

button.addEventListener("click", (event) => {
  // The second click of a double one would be for the message after this.
  if (event.detail > 1) return;
  close();
  run?.();
});
