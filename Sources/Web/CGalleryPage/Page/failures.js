// A line of a list of failures: the album, which leads to its place in the library, and what went wrong.

import { hashOfAll } from "./address.js";
import { sentence } from "./helpers.js";

addEventListener("click", ({ target }) => {
  const link = target.closest?.("a[data-album]");
  if (link) link.href = hashOfAll({ view: "stage", album: link.dataset.album }); // the order may be another one since
}, { capture: true });

/** @param {{album?: string, title?: string, url?: string, reason: string, cause?: string}} failure */
export function failureRow({ album, title, url, reason, cause }) {
  const add = (parent, name, text) => {
    const element = document.createElement(name);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const row = document.createElement("li");
  if (album) Object.assign(add(row, "a", title || "Untitled"), { href: hashOfAll({ view: "stage", album }), dir: "auto" }).dataset.album = album;
  else if (title) add(row, "strong", title).dir = "auto";
  add(row, "span", sentence(reason));
  if (!cause && !url) return row;
  const more = add(row, "details", "");
  add(more, "summary", "Details");
  if (cause) add(more, "p", sentence(cause));
  if (url) add(more, "p", url);
  return row;
}
