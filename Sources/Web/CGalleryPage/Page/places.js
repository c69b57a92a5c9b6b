// The letters or decades of the order, to go to: on the rail at the wall's edge.

import { byID } from "./helpers.js";

const rail = byID("rail");
/** How long the rail stays after the wall has been scrolled, in milliseconds. */
const stay = 1200;
/** The heights of a label on the rail, in pixels. If there are more labels than the least allows, only some are shown. */
const leastHeight = 14, mostHeight = 30;

/** @returns {() => void} call it when the list or the chosen album changed */
export function setUpPlaces(library, gallery) {
  let marks = [], height = 0, at = -1, timer = 0;

  const follow = () => {
    if (library.marks !== marks) {
      [marks, at] = [library.marks, -1];
      paint();
    }
    const { place } = gallery, now = marks.findLastIndex((mark) => mark.index <= place);
    if (now === at || now < 0) return;
    at = now;
    rail.setAttribute("aria-valuenow", String(at));
    rail.setAttribute("aria-valuetext", marks[at].label);
    rail.style.setProperty("--at", String((at + 0.5) / marks.length));
  };
  /** Writes the labels, one a line. */
  const paint = () => {
    rail.hidden = marks.length < 2;
    rail.style.maxHeight = `${marks.length * mostHeight}px`;
    rail.setAttribute("aria-valuemax", String(Math.max(0, marks.length - 1)));
    const lines = Math.max(1, Math.min(marks.length, Math.floor(height / leastHeight)));
    // Of a decade, the last two digits.
    const label = (line) => (marks[Math.floor(((line + 0.5) / lines) * marks.length)]?.label ?? "").slice(-2);
    rail.textContent = Array.from({ length: lines }, (_, line) => label(line)).join("\n");
    rail.style.lineHeight = `${height / lines}px`;
  };
  const go = (mark) => mark && gallery.goTo(mark.index);
  gallery.moved = () => {
    follow();
    rail.classList.add("moving");
    clearTimeout(timer);
    timer = setTimeout(() => rail.classList.remove("moving"), stay);
  };

  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.height) [height] = [contentRect.height], paint();
  }).observe(rail);
  const point = ({ clientY }) => {
    const { top, height: all } = rail.getBoundingClientRect();
    const index = Math.max(0, Math.min(marks.length - 1, Math.floor(((clientY - top) / all) * marks.length)));
    if (index !== at) go(marks[index]);
  };
  rail.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    rail.setPointerCapture(event.pointerId);
    rail.classList.add("held");
    at = -1; // also goes to the letter that the chosen album is in
    point(event);
  });
  rail.addEventListener("pointermove", (event) => rail.hasPointerCapture(event.pointerId) && point(event));
  rail.addEventListener("lostpointercapture", () => rail.classList.remove("held"));
  rail.addEventListener("keydown", (event) => {
    const to = { ArrowUp: at - 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(marks[to]);
  });
  return follow;
}
