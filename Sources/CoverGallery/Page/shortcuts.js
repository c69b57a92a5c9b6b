// Keyboard shortcuts of the page. They work wherever the focus is, except in text fields and while a dialog is open.

const typing = "input:not([type=range]), textarea, select, [contenteditable]";

/**
 * @param {{search(): void, undo(): void, redo(): void, remove(): void, retry(): boolean, enlarge(): boolean, back(): boolean,
 *          move(event: KeyboardEvent): boolean}} run
 */
export function listen(run) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]") || event.target.matches(typing)) return;
    if (shortcut(event, run)) event.preventDefault();
  });
}

function shortcut(event, run) {
  const key = event.key.toLowerCase(), target = event.target;
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    if (key === "z") return (event.shiftKey ? run.redo() : run.undo()), true;
    if (key === "y" && !event.shiftKey) return run.redo(), true;
    return false;
  }
  if (event.altKey) return false;
  if (key === "/") return run.search(), true;
  // The panel scrolls with these keys.
  if (target.closest("#panel")) return false;
  if (key === "delete") return run.remove(), true;
  if (key === "escape") return run.back();
  if (key === "enter") return (target === document.body || target.matches("[role=listbox]")) && (run.retry() || run.enlarge());
  // The slider handles these keys itself.
  return !target.matches("[type=range]") && run.move(event);
}
