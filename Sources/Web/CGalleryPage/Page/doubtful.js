// The review of covers that sources have found for the chosen album and that may be another album's: one at full size beside what is known
// of both albums, and beside the cover that the album has. The user accepts it, or refuses all that are shown. It is shown while the list is filtered to the albums that have such covers.

import { ask } from "./api.js";
import { byID, formatNumber, sentence } from "./helpers.js";
import { plain } from "./order.js";
import { coverPath } from "./stored-covers.js";

const part = byID("doubtful"), picture = byID("proposal"), list = byID("candidates"), accept = byID("accept"), refuse = byID("refuse");
const present = byID("present"), rows = [...part.querySelectorAll("tbody tr")];

/**
 * @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery @param {import("./covers.js").Covers} covers
 * @param {(id: string, decision: {picture: string | null, shown: string[]}) => void} decide URLs of the accepted picture and of those that
 *   are shown; null: none of these is the album's
 */
export function setUpDoubtful(library, gallery, covers, decide) {
  let album = null, candidates = [], tracks = null, at = 0;

  /** Decides about the album whose covers are seen; false if there is none. */
  const run = (isAccepted) => {
    const candidate = candidates[at], shown = candidates.map((each) => each.picture);
    if (!candidate || (isAccepted && !(picture.complete && picture.naturalWidth))) return false;
    decide(album.id, { picture: isAccepted ? candidate.picture : null, shown });
    return true;
  };
  const show = (index) => {
    at = index;
    const candidate = candidates[index] ?? {}, { digest, problem, source, artist, title, evidence = [] } = candidate;
    picture.hidden = !digest;
    picture.alt = digest ? `The cover of ${[title, artist].filter(Boolean).join(", ")} by ${source}` : "";
    if (digest) picture.src = coverPath(digest);
    else picture.removeAttribute("src");
    byID("their-source").textContent = source ?? "";
    byID("proposal-source").textContent = [source, candidates.length > 1 && `${index + 1} of ${candidates.length}`].filter(Boolean).join(" · ");
    byID("proposal-problem").textContent = digest ? "" : problem ?? "";
    for (const row of rows) {
      const { field } = row.dataset, [ours, theirs] = row.querySelectorAll("td");
      ours.textContent = String((field === "tracks" ? tracks : album[field]) ?? "");
      theirs.textContent = String(candidate[field] ?? "");
      const isSame = plain(ours.textContent) === plain(theirs.textContent);
      // What agrees is said in one line.
      row.hidden = isSame;
      row.classList.toggle("differs", Boolean(ours.textContent && theirs.textContent) && !isSame);
    }
    const agreeing = evidence.filter(({ agreement }) => agreement === "agrees").map(({ text }) => text).join(", ");
    const lines = [...evidence.filter(({ agreement }) => agreement !== "agrees"), ...(agreeing ? [{ text: agreeing, agreement: "agrees" }] : [])];
    byID("evidence").replaceChildren(...lines.map(({ text, agreement }) =>
      Object.assign(document.createElement("li"), { textContent: sentence(text), className: agreement })));
    for (const [n, { firstChild }] of [...list.children].entries()) firstChild.setAttribute("aria-pressed", String(n === index));
    accept.disabled = !digest;
    refuse.disabled = !candidates.length;
  };
  picture.addEventListener("load", () => {
    const { naturalWidth, naturalHeight } = picture, size = `${formatNumber(naturalWidth)} × ${formatNumber(naturalHeight)}`;
    const row = part.querySelector("[data-field=pixels]");
    row.querySelector("td:last-child").textContent = size;
    row.hidden = false;
  });
  for (const each of [picture, present]) each.addEventListener("load", () => each.style.setProperty("--most", `${2 * each.naturalWidth}px`));
  byID("skip").addEventListener("click", () => gallery.next());
  // The second click of a double one would be about the next album.
  accept.addEventListener("click", (event) => event.detail < 2 && run(true));
  refuse.addEventListener("click", (event) => event.detail < 2 && run(false));

  /** The list or the chosen album changed. */
  const follow = async () => {
    const hadFocus = part.contains(document.activeElement), now = library.filter?.name === "doubtful" && gallery.name === "stage" ? gallery.album : null;
    const isOther = now?.id !== album?.id;
    part.hidden = !now;
    document.body.classList.toggle("doubtful", Boolean(now));
    album = now;
    if (now) byID("proposal-place").textContent = `${formatNumber(library.shownIndexOf(now.id) + 1)} of ${formatNumber(library.shown.length)}`;
    if (!isOther) return;
    [candidates, tracks] = [[], null];
    list.replaceChildren();
    // The pressed button is gone. The next album's might be pressed by mistake.
    if (hadFocus) gallery.focus();
    if (!now) return;
    const { digest } = covers.stateOf(now.id);
    present.closest("figure").hidden = !digest;
    if (digest) present.src = coverPath(digest);
    show(0);
    const answer = await ask("GET", `api/doubtful/${encodeURIComponent(now.id)}`).catch(() => null);
    if (album?.id !== now.id) return;
    candidates = answer?.candidates ?? [];
    tracks = answer?.tracks;
    list.replaceChildren(...(candidates.length > 1 ? candidates : []).map((each, index) => choice(each, () => show(index))));
    show(0);
  };
  return { follow, accept: () => run(true), refuse: () => run(false) };
}

/** The button that shows another service's cover. */
function choice({ digest, source, year, tracks }, run) {
  const row = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  if (digest) button.append(Object.assign(document.createElement("img"), { src: `${coverPath(digest)}?w=150`, alt: "" }));
  const facts = [year, tracks && `${formatNumber(tracks)} ${tracks === 1 ? "track" : "tracks"}`].filter(Boolean).join(" · ");
  button.append(source, ...(facts ? [Object.assign(document.createElement("small"), { textContent: facts })] : []));
  button.addEventListener("click", run);
  row.append(button);
  return row;
}
