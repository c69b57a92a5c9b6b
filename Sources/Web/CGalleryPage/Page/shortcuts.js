// Keyboard shortcuts of the page. They work wherever the focus is, except in text fields and while a dialog or a menu is open.

const typing = "input";
/** The keys that are down. A held key moves, but it presses a button, edits and opens only once. */
const down = new Set();

addEventListener("keyup", (event) => down.delete(event.code));
addEventListener("blur", () => down.clear());

/**
 * Letters without a modifier belong to the list while it has the focus, or nothing has: they choose the album that begins with them.
 * So no other shortcut may be a letter, a digit or a space.
 */
export function listen(run) {
  document.addEventListener("keydown", (event) => {
    const isHeld = event.repeat || down.has(event.code);
    if (!event.metaKey) down.add(event.code); // no release of a key is reported while the Command key is down
    if (isHeld && event.key === "Enter") event.preventDefault();
    if (event.defaultPrevented || document.querySelector("dialog[open], :popover-open") || event.target.matches(typing)) return;
    if (shortcut(event, run, isHeld)) event.preventDefault();
  });
}

function shortcut(event, run, isHeld) {
  const key = event.key.toLowerCase(), target = event.target;
  if ((event.ctrlKey || event.metaKey) && !event.altKey) {
    const name = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" && !event.shiftKey ? "redo" : null;
    if (name && !isHeld) run[name]();
    return Boolean(name);
  }
  if (event.altKey || event.isComposing) return false;
  if (key === "/") return run.search(), true;
  if (key === "+") return isHeld || run.add(), true;
  if (key === "delete") return isHeld || run.remove(), true;
  if (key === "escape") return run.back();
  const isInList = target === document.body || target.matches("[role=listbox]");
  if (key === "enter") return isInList && (run.accept() || run.retry() || run.enlarge());
  if (key === "backspace") return isInList && (isHeld || run.refuse());
  if (isInList && /^[\p{L}\p{N} ]$/u.test(event.key)) return run.type(event.key);
  return run.move(event);
}
