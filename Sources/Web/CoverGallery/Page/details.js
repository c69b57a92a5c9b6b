// The chosen album: its title, its table, the state of its cover, and its position among the albums.

import { byID, formatNumber, sentence } from "./helpers.js";

const problem = byID("cover-problem"), reason = byID("cover-reason"), retry = byID("retry"), cause = byID("cover-cause");
const position = byID("position");
const cells = [...document.querySelectorAll("#album-table td")];

/** @param {import("./library.js").Album | null} album */
export function showAlbum(album) {
  byID("details").hidden = !album;
  if (!album) return;
  byID("chosen-title").textContent = album.title || "Untitled";
  byID("chosen-artist").textContent = album.artist;
  cause.open = false;
  for (const cell of cells) cell.textContent = String(album[cell.dataset.field] ?? "") || "–";
}

/** @param {{version?: string, stale?: true, failure?: string, cause?: string, waiting?: true, final?: boolean, away?: boolean}} state */
export function showCoverState(state) {
  const text = state.failure ?? "";
  problem.classList.toggle("failed", Boolean(text));
  if (reason.textContent !== text) reason.textContent = text;
  retry.hidden = !canRetry(state);
  cause.hidden = !text || !state.cause;
  cause.querySelector("p").textContent = sentence(state.cause ?? "");
  byID("stale").hidden = !state.stale;
}

/** Whether a request may bring the cover. */
export function canRetry(state) {
  return Boolean(state.failure && !state.final && !state.away);
}

/** Shows the album's position among those shown. */
export function showPosition(index, shown, all, album) {
  position.hidden = shown < 2;
  position.max = String(Math.max(0, shown - 1));
  position.value = String(index);
  const text = `${formatNumber(index + 1)} of ${formatNumber(shown)}`;
  position.setAttribute("aria-valuetext", album ? `${text}, ${album.title}` : text);
  const total = shown === all ? "" : ` found, ${formatNumber(all)} in all`;
  byID("count").textContent = shown ? text + total : "";
}

export function onRetry(run) { retry.addEventListener("click", run); }
export function onPosition(run) { position.addEventListener("input", () => run(Number(position.value))); }
