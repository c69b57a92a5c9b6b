// The words of the stage: the chosen album's title, what is known of it and of its cover, and the cover's state.

import { hashOf, hashOfAll } from "./address.js";
import { ask } from "./api.js";
import { byID, counted, coverPath, formatBytes, formatNumber, make, sentence } from "./helpers.js";
import { say } from "./toast.js";

const details = byID("details"), reason = byID("cover-reason"), retry = byID("retry"), cause = byID("cover-cause"), save = byID("save");
const facts = Object.fromEntries([...document.querySelectorAll("#facts [data-field], #picture [data-field]")].map((part) => [part.dataset.field, part]));
/** Titles with more characters are smaller. */
const longTitle = 60;
/** How long an album must stay chosen before its cover's source is asked for, in milliseconds. */
const restDelay = 300;
/** How long the browser may take to save a picture, in milliseconds. */
const saveTime = 60_000;
const kindOf = ({ type }) => type?.replace(/^image\/|\+xml$/g, "");
let restTimer = 0;
/** Whose cover's source is shown, or will be; and what is known of it. What was known stays until other things are. */
let shown = { id: null, digest: null };
// A download of an address would not be answered by the service worker.
save.addEventListener("click", async () => {
  const picture = await fetch(save.value).then((response) => (response.ok ? response.blob() : null), () => null);
  if (!picture) return say("The picture is not to be had for now.", { kind: "problem" });
  const href = URL.createObjectURL(picture);
  make("a", { href, download: `${byID("chosen-title").textContent}.${kindOf(picture)}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), saveTime);
});
byID("cover-review").addEventListener("click", () => (location.hash = hashOfAll({ view: "stage", show: "doubtful", album: shown.id })));

export function showAlbum(album) {
  details.hidden = !album;
  if (!album) return;
  const title = byID("chosen-title");
  title.textContent = album.title || "Untitled";
  title.classList.toggle("long", title.textContent.length > longTitle);
  showLink(byID("chosen-artist"), "artist", album.artist);
  cause.open = false;
  // What is doubtful may be accepted or refused since.
  shown.isOld = !shown.digest;
  showLink(facts.genre, "genre", album.genre);
  facts.year.textContent = String(album.year ?? "");
}

/** A name that leads to the albums that have it. */
function showLink(part, field, value) {
  const href = hashOf({ page: { field, value }, view: "wall" });
  part.replaceChildren(value ? make("a", { href, title: `Albums of this ${field}` }, value) : "");
}

/** Shows where the cover is from, and its pixels, once the album has stayed chosen for a moment; of an album without one, how many may be its. */
function showSource(id, digest) {
  if (id === shown.id && digest === shown.digest && !shown.isOld) return;
  const what = (shown = { ...(id === shown.id ? shown : { fetched: shown.fetched }), id, digest, isOld: false });
  clearTimeout(restTimer);
  const show = ({ source, width, height, type, bytes, fetched, unsized, doubtful, answers }) => {
    facts.source.textContent = source ?? "";
    const pixels = width ? `${formatNumber(width)} × ${formatNumber(height)}` : unsized ? "size unknown" : "";
    facts.pixels.textContent = [pixels, kindOf({ type })?.toUpperCase(), bytes && formatBytes(bytes)].filter(Boolean).join(" · ");
    what.fetched = fetched && new Date(fetched).toLocaleDateString(undefined, { dateStyle: "medium" });
    showAge();
    Object.assign(what, { proposals: doubtful, answers });
  };
  restTimer = setTimeout(async () => {
    const answer = await ask("GET", `api/sources/${encodeURIComponent(id)}`).catch(() => null);
    if (what !== shown) return;
    show(answer ? { doubtful: 0, ...answer } : {});
    showProblem();
  }, restDelay);
}

/** @param {{name?: string, isDoubtful: boolean}} more the name of the picture, and whether a cover waits for a review */
export function showCoverState(id, state, { name, isDoubtful }) {
  // Proposals have come, or were decided.
  if (id === shown.id && shown.isDoubtful !== isDoubtful) Object.assign(shown, { isOld: true, proposals: isDoubtful ? shown.proposals : undefined });
  showSource(id, state.digest);
  Object.assign(shown, { state: state.waiting ? shown.state ?? state : state, isDoubtful });
  showProblem();
  showAge();
  retry.disabled = Boolean(state.waiting);
  byID("replace").textContent = shown.state.failure ? "Choose a picture…" : "Replace…";
  save.hidden = !name;
  if (name) save.value = coverPath(name);
}

/** Shows why there is no cover: in one line and, below it, the technical cause, else what each source answered. */
function showProblem() {
  const { state, isDoubtful, proposals, answers } = shown, { failure, final } = state, isReviewed = final && (proposals ?? isDoubtful);
  if (failure) details.dataset.cover = isReviewed ? "doubtful" : final ? "missing" : "failed";
  else delete details.dataset.cover;
  const count = proposals ? counted(proposals, "proposal") : "", text = (isReviewed ? count : failure) ?? "";
  const technical = failure && state.cause;
  if (reason.textContent !== text) reason.textContent = text;
  retry.hidden = !canRetry(state);
  cause.querySelector("summary").textContent = technical ? "Details" : "What each service answered";
  cause.querySelector("p").textContent = technical ? sentence(technical) : answers ?? "";
}

/** Shows when the cover was fetched, and whether that is long ago for its server. */
function showAge() { facts.age.textContent = [shown.fetched, shown.state?.stale && "older copy"].filter(Boolean).join(" · "); }

/** Whether a request may bring the cover. */
export const canRetry = ({ failure, final, away }) => Boolean(failure && !final && !away);

/** Shows on the stage which album is shown, and on the wall how many there are. */
export function showCount(library, index) {
  const { total, query, page } = library, isSearch = Boolean(query.trim()), shown = isSearch ? library.shown.length : total;
  const wall = isSearch ? `${formatNumber(shown)} of ${formatNumber(total)}` : page ? "" : formatNumber(total);
  byID("count").textContent = document.body.dataset.view === "stage" && index >= 0 ? `${formatNumber(index + 1)} of ${formatNumber(shown)}` : wall;
}
