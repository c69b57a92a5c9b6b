// The covers that sources have found for the chosen album and that may be another album's: the user accepts one or refuses all. They
// are shown while the list is filtered to the albums that have such covers.

import { ask } from "./api.js";
import { byID } from "./helpers.js";
import { coverPath } from "./stored-covers.js";

const part = byID("doubtful"), list = byID("candidates"), refuse = byID("refuse");

/**
 * @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery
 * @param {(id: string, picture: string | null) => void} decide the URL of the accepted picture; null: none is the album's
 * @returns {() => void} call it when the list or the chosen album changed
 */
export function setUpDoubtful(library, gallery, decide) {
  let shown = null;

  refuse.addEventListener("click", () => shown && decide(shown, null));
  return async () => {
    const id = library.filter?.name === "doubtful" ? gallery.album?.id ?? null : null;
    part.hidden = !id;
    document.body.classList.toggle("doubtful", Boolean(id));
    if (id === shown) return;
    shown = id;
    list.replaceChildren();
    refuse.disabled = true;
    if (!id) return;
    const answer = await ask("GET", `api/doubtful/${encodeURIComponent(id)}`).catch(() => null);
    if (shown !== id) return;
    list.replaceChildren(...(answer?.candidates ?? []).map((candidate) => element(candidate, () => decide(id, candidate.picture))));
    refuse.disabled = !answer?.candidates.length;
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
