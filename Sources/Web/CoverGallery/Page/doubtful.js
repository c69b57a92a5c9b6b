// The covers that sources have found for the chosen album and that may be another album's: the user accepts one or refuses those. They
// are shown while the list is filtered to the albums that have such covers.

import { ask } from "./api.js";
import { byID } from "./helpers.js";
import { coverPath } from "./stored-covers.js";

const part = byID("doubtful"), list = byID("candidates"), refuse = byID("refuse");

/**
 * @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery
 * @param {(id: string, decision: {picture: string | null, shown: string[]}) => void} decide URLs of the accepted picture and of those that
 *   are shown; null: none of these is the album's
 * @returns {() => void} call it when the list or the chosen album changed
 */
export function setUpDoubtful(library, gallery, decide) {
  let chosen = null, shown = [];

  // The second click of a double one would be about the next album.
  refuse.addEventListener("click", (event) => event.detail < 2 && decide(chosen, { picture: null, shown }));
  return async () => {
    const hadFocus = part.contains(document.activeElement), id = library.filter?.name === "doubtful" ? gallery.album?.id ?? null : null;
    part.hidden = !id;
    document.body.classList.toggle("doubtful", Boolean(id));
    if (id === chosen) return;
    chosen = id;
    list.replaceChildren();
    refuse.disabled = true;
    // The pressed button is gone. The next album's might be pressed by mistake.
    if (hadFocus) gallery.focus();
    if (!id) return;
    const answer = await ask("GET", `api/doubtful/${encodeURIComponent(id)}`).catch(() => null);
    if (chosen !== id) return;
    const candidates = answer?.candidates ?? [];
    shown = candidates.map(({ picture }) => picture);
    list.replaceChildren(...candidates.map((each) => element(each, (event) => event.detail < 2 && decide(id, { picture: each.picture, shown }))));
    refuse.disabled = !candidates.length;
  };
}

function element({ digest, problem, source, artist, title, year, reason }, accept) {
  const row = document.createElement("li"), name = [title, artist].filter(Boolean).join(", ");
  const add = (tag, text, properties = {}) => {
    const child = Object.assign(document.createElement(tag), properties);
    if (text) child.textContent = text;
    row.append(child);
    return child;
  };
  if (digest) add("img", "", { src: `${coverPath(digest)}?w=300`, alt: `The cover of ${name} by ${source}` });
  else add("p", problem ?? "The picture could not be fetched.");
  add("strong", name, { dir: "auto" });
  add("span", [source, year, reason].filter(Boolean).join(" · "));
  add("button", "Accept", { type: "button", disabled: !digest, ariaLabel: `Accept the cover of ${name}` }).addEventListener("click", accept);
  return row;
}
