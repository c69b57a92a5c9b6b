// A line that says what happened, with a way to take it back. The line is a live region and always in the page: a screen
// reader hears only changes of what it has already found.

const box = document.getElementById("toast");
const line = document.getElementById("status");
const button = document.getElementById("toast-action");
const stays = 7000;
let timer = 0, act = null;

/**
 * @param {string} message
 * @param {{action?: {label: string, run(): void}, kind?: "done" | "problem"}} [more]
 */
export function say(message, { action, kind = "done" } = {}) {
  // Emptied first: the same words a second time are news too.
  line.textContent = "";
  requestAnimationFrame(() => (line.textContent = message));
  act = action?.run ?? null;
  button.hidden = !action;
  button.textContent = action?.label ?? "";
  box.dataset.kind = kind;
  box.classList.add("open");
  wait();
}

function wait() {
  clearTimeout(timer);
  timer = setTimeout(close, stays);
}

function close() {
  // Nothing goes away under somebody's finger or focus.
  if (box.matches(":hover") || box.contains(document.activeElement)) return wait();
  box.classList.remove("open");
  button.hidden = true;
}

button.addEventListener("click", () => {
  button.blur();
  clearTimeout(timer);
  box.classList.remove("open");
  button.hidden = true;
  act?.();
});
