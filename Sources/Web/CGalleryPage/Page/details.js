// The words of the stage: the chosen album's title, what is known of it and of its cover, and the cover's state.

import { hashOf, hashOfAll } from "./address.js";
import { ask } from "./api.js";
import { byID, formatBytes, formatNumber, sentence } from "./helpers.js";
import { coverPath } from "./stored-covers.js";

const problem = byID("cover-problem"), reason = byID("cover-reason"), retry = byID("retry"), cause = byID("cover-cause");
const facts = Object.fromEntries([...document.querySelectorAll("#facts [data-field], #picture [data-field]")].map((part) => [part.dataset.field, part]));
/** Titles with more characters are smaller. */
const longTitle = 60;
/** How long an album must stay chosen before its cover's source is asked for, in milliseconds. */
const restDelay = 300;
const review = byID("cover-review");
let restTimer = 0;
/** Whose cover's source is shown, or will be. */
let shown = { id: null, digest: null };

/** @param {import("./library.js").Album | null} album */
export function showAlbum(album) {
  byID("details").hidden = !album;
  if (!album) return;
  const title = byID("chosen-title");
  title.textContent = album.title || "Untitled";
  title.classList.toggle("long", title.textContent.length > longTitle);
  showLink(byID("chosen-artist"), "artist", album.artist);
  cause.open = false;
  // What is doubtful may be accepted or refused since.
  if (!shown.digest) shown = { id: null, digest: null };
  showLink(facts.genre, "genre", album.genre);
  facts.year.textContent = String(album.year ?? "");
}

/** A name that leads to the albums that have it. */
function showLink(part, field, value) {
  const link = Object.assign(document.createElement("a"), { textContent: value, title: `Albums of this ${field}` });
  link.href = hashOf({ page: { field, value }, view: "wall" });
  part.replaceChildren(...(value ? [link] : []));
}

/**
 * Shows where the cover is from, and its pixels, once the album has stayed chosen for a moment; of an album without one, the way to the covers
 * that may be its.
 */
function showSource(id, digest) {
  if (id === shown.id && digest === shown.digest) return;
  const what = (shown = { id, digest });
  clearTimeout(restTimer);
  const show = ({ source, width, height, type, bytes, fetched, unsized, doubtful, answers } = {}) => {
    facts.source.textContent = source ?? "";
    const pixels = width ? `${formatNumber(width)} × ${formatNumber(height)}` : unsized ? "size unknown" : "";
    facts.pixels.textContent = [pixels, type?.replace(/^image\/|\+xml$/g, "").toUpperCase(), bytes && formatBytes(bytes)].filter(Boolean).join(" · ");
    what.fetched = fetched && new Date(fetched).toLocaleDateString(undefined, { dateStyle: "medium" });
    showAge();
    review.hidden = !doubtful;
    review.href = hashOfAll({ view: "stage", show: "doubtful", album: id });
    what.answers = answers;
    showCause();
  };
  show();
  restTimer = setTimeout(async () => {
    const answer = await ask("GET", `api/sources/${encodeURIComponent(id)}`).catch(() => null);
    if (answer && what === shown) show(answer);
  }, restDelay);
}

/** @param {string} id @param {{digest?: string, stale?: true, failure?: string, cause?: string, waiting?: true, final?: boolean, away?: boolean}} state */
export function showCoverState(id, state) {
  showSource(id, state.digest);
  const text = state.failure ?? "";
  shown.cause = text && sentence(state.cause ?? "");
  problem.classList.toggle("failed", Boolean(text));
  problem.classList.toggle("final", Boolean(state.final));
  if (reason.textContent !== text) reason.textContent = text;
  retry.hidden = !canRetry(state);
  showCause();
  shown.isStale = state.stale;
  showAge();
  const save = byID("save");
  save.hidden = !state.digest;
  if (state.digest) save.href = coverPath(state.digest);
}

/** Shows when the cover was fetched, and whether that is long ago for its server. */
function showAge() { facts.age.textContent = [shown.fetched, shown.isStale && "older copy"].filter(Boolean).join(" · "); }

/** Shows why there is no cover: the technical cause, else what each source answered. */
function showCause() {
  cause.querySelector("summary").textContent = shown.cause ? "Details" : "What each service answered";
  cause.querySelector("p").textContent = shown.cause || shown.answers || "";
}

/** Whether a request may bring the cover. */
export function canRetry(state) {
  return Boolean(state.failure && !state.final && !state.away);
}

/** Shows on the stage which album is shown, and how many were found. */
export function showCount(index, shown, all) {
  const isStage = document.body.dataset.view === "stage", found = shown === all ? "" : `${formatNumber(shown)} found, ${formatNumber(all)} in all`;
  byID("count").textContent = !shown ? "" : isStage ? `${formatNumber(index + 1)} of ${formatNumber(shown)}` : found;
}

export function onRetry(run) { retry.addEventListener("click", run); }
