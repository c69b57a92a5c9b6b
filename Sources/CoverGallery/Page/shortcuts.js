// Keys for the whole page. None of them works while somebody types, nor behind an open dialog.

const typing = "input:not([type=range]), textarea, select, [contenteditable]";

/**
 * @param {{search(): void, undo(): void, redo(): void, remove(): void, retry(): void, move(event: KeyboardEvent): boolean}} run
 */
export function listen(run) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]") || event.target.matches(typing)) return;
    const list = event.target === document.body || event.target.matches("[role=listbox]");
    if (shortcut(event, run, list)) event.preventDefault();
  });
}

function shortcut(event, run, list) {
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    if (key === "z") return (event.shiftKey ? run.redo() : run.undo()), true;
    if (key === "y" && !event.shiftKey) return run.redo(), true;
    return false;
  }
  if (event.altKey) return false;
  if (key === "/") return run.search(), true;
  if (!list) return false;
  if (key === "delete") return run.remove(), true;
  if (key === "enter") return run.retry();
  // With nothing focused the arrows are meant for the covers; they are what the page is about.
  return event.target === document.body && run.move(event);
}
