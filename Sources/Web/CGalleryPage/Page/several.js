// Several albums at once, on the wall: chosen by Ctrl-click, Shift-click, a long press, Ctrl+Space or, all of them, Ctrl+A. A bar says how many, and
// what can be done with them.

import { canRetry } from "./details.js";
import { byID, counted } from "./helpers.js";
import { Overlay } from "./overlay.js";

const wall = byID("wall"), bar = byID("several"), again = byID("several-retry");
/** How long a finger rests to choose an album, in milliseconds; and how far it may move meanwhile, in pixels. */
const press = 500, slack = 8;

/** @returns {{follow(): void, clear(): boolean}} follow: the list changed; clear: false if none is chosen */
export function setUpSeveral(library, gallery, covers, { remove, retry }) {
  const { picked } = covers, idAt = ({ target }) => target.closest(".cover")?.dataset.id;
  let anchor = null, timer = 0, pressedAt = null, isHeld = false, isOpen = false;
  const overlay = new Overlay(() => clear());

  const follow = () => {
    for (const id of picked) if (library.shownIndexOf(id) < 0 || gallery.name !== "wall") picked.delete(id);
    const count = picked.size;
    bar.hidden = !count;
    wall.ariaMultiSelectable = count ? "true" : null;
    for (const view of wall.querySelectorAll(".cover")) covers.mark(view);
    if (isOpen !== count > 0) {
      isOpen = count > 0;
      if (isOpen) overlay.opened();
      else if (gallery.name === "wall") overlay.closed();
      else overlay.forget();
    }
    if (!count) return;
    byID("several-count").textContent = counted(count, "album");
    again.hidden = ![...picked].some((id) => canRetry(covers.stateOf(id)));
  };
  const clear = () => {
    const had = picked.size > 0;
    picked.clear();
    follow();
    if (had) gallery.focus();
    return had;
  };
  const toggle = (id) => {
    anchor = id;
    if (!picked.delete(id)) picked.add(id);
    follow();
  };
  const extend = (id) => {
    const ends = [library.shownIndexOf(anchor ?? gallery.album?.id), library.shownIndexOf(id)];
    for (let index = Math.max(0, Math.min(...ends)); index <= Math.max(...ends); index++) picked.add(library.shown[index].id);
    follow();
  };

  wall.addEventListener("click", (event) => {
    const id = idAt(event);
    if (!id || !(picked.size || isHeld || event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.stopPropagation(); // the stage stays closed
    if (isHeld) isHeld = false;
    else if (event.shiftKey) extend(id);
    else toggle(id);
  }, { capture: true });
  wall.addEventListener("pointerdown", (event) => {
    isHeld = false;
    if (event.pointerType !== "touch" || !idAt(event)) return;
    pressedAt = event;
    timer = setTimeout(() => {
      isHeld = true; // the click that follows is the press's own
      toggle(idAt(pressedAt));
    }, press);
  });
  wall.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (pressedAt && Math.hypot(clientX - pressedAt.clientX, clientY - pressedAt.clientY) > slack) clearTimeout(timer);
  });
  for (const end of ["pointerup", "pointercancel"]) wall.addEventListener(end, () => clearTimeout(timer));
  // That of a long press.
  wall.addEventListener("contextmenu", (event) => event.pointerType === "touch" && event.preventDefault());
  wall.addEventListener("keydown", (event) => {
    if (!["a", " "].includes(event.key) || !(event.ctrlKey || event.metaKey) || !gallery.album) return;
    event.preventDefault();
    if (event.key === " ") return toggle(gallery.album.id);
    for (const { id } of library.shown) picked.add(id);
    follow();
  });
  again.addEventListener("click", () => {
    retry([...picked].filter((id) => canRetry(covers.stateOf(id))));
    clear();
  });
  byID("several-delete").addEventListener("click", () => {
    remove([...picked]);
    clear();
  });
  byID("several-done").addEventListener("click", clear);
  return { follow, clear };
}
