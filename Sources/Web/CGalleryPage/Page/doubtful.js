// The review of covers that sources have found for the chosen album and that may be another album's: one at full size beside what is known
// of both albums, and beside the cover that the album has. The user accepts it, or refuses all that are shown. It is shown while the list is filtered to the albums that have such covers.

import { ask, idsOf } from "./api.js";
import { byID, counted, coverPath, formatNumber, make, sentence, whenIdle } from "./helpers.js";
import { plain } from "./order.js";

const part = byID("doubtful"), picture = byID("proposal"), list = byID("candidates"), accept = byID("accept"), refuse = byID("refuse");
const present = byID("present"), yours = present.closest("figure"), rows = [...byID("compared").rows], names = document.querySelector(".names");
const sizeOf = ({ complete, naturalWidth, naturalHeight }) => (complete && naturalWidth ? `${formatNumber(naturalWidth)} × ${formatNumber(naturalHeight)}` : "");

/**
 * @param {(id: string, decision: {picture: string | null, shown: string[]}) => void} decide URLs of the accepted picture and of those that
 *   are shown; null: none of these is the album's
 */
export function setUpDoubtful(library, gallery, covers, decide) {
  let album = null, candidates = [], tracks = null, at = 0, asked;

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
    const from = [source, candidates.length > 1 && `${index + 1} of ${candidates.length}`].filter(Boolean).join(" · ");
    for (const each of ["their-source", "proposal-source"]) byID(each).textContent = from;
    byID("proposal-problem").textContent = digest ? "" : problem ?? "";
    const told = new Set();
    for (const row of rows) {
      const { field } = row.dataset, [ours, theirs] = row.querySelectorAll("td");
      if (field === "pixels") continue;
      ours.textContent = String((field === "tracks" ? tracks : album[field]) ?? "");
      theirs.textContent = String(candidate[field] ?? "");
      row.hidden = plain(ours.textContent) === plain(theirs.textContent);
      // What the two values show is not said again.
      const line = row.hidden ? undefined : evidence.find(({ text }) => isAbout(text, field, theirs.textContent));
      row.className = line?.agreement ?? "";
      if (line) told.add(line);
    }
    showPixels();
    // What agrees is said in one line.
    const others = evidence.filter((line) => !told.has(line) && line.agreement !== "agrees");
    const agreeing = evidence.filter(({ agreement }) => agreement === "agrees").map(({ text }) => text).join(", ");
    const lines = [...others, ...(agreeing ? [{ text: agreeing, agreement: "agrees" }] : [])];
    const rowOf = ({ text, agreement }) => make("tr", { className: agreement }, make("td", { colSpan: 3 }, sentence(text)));
    byID("evidence").replaceChildren(...lines.map(rowOf));
    for (const [n, { firstChild }] of [...list.children].entries()) firstChild.setAttribute("aria-pressed", String(n === index));
    accept.disabled = !digest;
    refuse.disabled = !candidates.length;
  };
  /** The cover that the album has, also when it is known only now. */
  const showPresent = () => {
    const digest = album && covers.stateOf(album.id).digest, path = digest ? coverPath(digest) : "";
    yours.hidden = !path;
    if (path && present.getAttribute("src") !== path) present.src = path;
    showPixels();
  };
  const showPixels = () => {
    const [ours, theirs] = part.querySelectorAll("[data-field=pixels] td");
    ours.textContent = yours.hidden ? "none" : sizeOf(present);
    theirs.textContent = sizeOf(picture);
  };
  for (const each of [picture, present]) {
    each.addEventListener("load", () => {
      each.style.setProperty("--most", `${2 * each.naturalWidth}px`);
      each.style.setProperty("--ratio", String(each.naturalWidth / each.naturalHeight));
      showPixels();
    });
    each.addEventListener("error", showPixels);
  }
  byID("skip").addEventListener("click", () => gallery.next());
  // The second click of a double one would be about the next album.
  accept.addEventListener("click", (event) => event.detail < 2 && run(true));
  refuse.addEventListener("click", (event) => event.detail < 2 && run(false));

  /** The list or the chosen album changed. */
  const follow = async () => {
    const hadFocus = byID("details").contains(document.activeElement), now = library.filter?.name === "doubtful" && gallery.name === "stage" ? gallery.album : null;
    const isOther = now?.id !== album?.id;
    part.hidden = !now;
    document.body.classList.toggle("doubtful", Boolean(now));
    album = now;
    if (now) byID("proposal-place").textContent = `${formatNumber(library.shownIndexOf(now.id) + 1)} of ${formatNumber(library.shown.length)}`;
    showPresent();
    if (!isOther) return;
    // In the bar there is room for them at every size of the pictures.
    if (now) byID("view").after(names);
    else byID("details").prepend(names);
    [candidates, tracks] = [[], null];
    list.replaceChildren();
    // The pressed button is gone. The next album's might be pressed by mistake.
    if (hadFocus) gallery.focus();
    if (!now) return;
    show(0);
    const answer = await ask("GET", `api/doubtful/${encodeURIComponent(now.id)}`).catch(() => null);
    if (album?.id !== now.id) return;
    // Asked again once the list changes, for example as the server is back.
    if (!answer) return void (album = null);
    ({ candidates, tracks } = answer);
    list.replaceChildren(...(candidates.length > 1 ? candidates : []).map((each, index) => choice(each, () => show(index))));
    show(0);
  };
  /** Asks which albums have covers to review. */
  const renew = async () => {
    const question = (asked = Symbol());
    const ids = await idsOf("doubtful").catch(() => null);
    if (ids && question === asked) covers.setDoubtful(new Set(ids));
  };
  whenIdle(renew);
  return { follow, showPresent, renew, accept: () => run(true), refuse: () => run(false) };
}

/** Whether a line of evidence is about a field: it begins with its name, or with what the source says. */
function isAbout(text, field, value) {
  const begins = (word) => word && text.startsWith(word) && !/^[\p{L}\p{N}]/u.test(text.slice(word.length));
  return begins(field) || (begins(value) && (field === "tracks") === /\btracks?\b/.test(text));
}

/** The button that shows another service's cover. */
function choice({ digest, source, year, tracks }, run) {
  const picture = digest ? make("img", { src: `${coverPath(digest)}?w=150`, alt: "" }) : "";
  const facts = [year, tracks && counted(tracks, "track")].filter(Boolean).join(" · ");
  return make("li", {}, make("button", { type: "button", onclick: run }, picture, source, facts && make("small", {}, facts)));
}
