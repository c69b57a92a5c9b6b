// The chosen album: its title under the cover, its table, and what there is to say about its cover.

import { sentence } from "./api.js";

const byID = (id) => document.getElementById(id);
const number = new Intl.NumberFormat();
const parts = {
  pane: byID("details"), title: byID("chosen-title"), artist: byID("chosen-artist"), problem: byID("cover-problem"), reason: byID("cover-reason"), retry: byID("retry"), cause: byID("cover-cause"), stale: byID("stale"), position: byID("position"), count: byID("count"),
};
const cells = [...document.querySelectorAll("#album-table td")];

/** @param {import("./library.js").Album | null} album */
export function showAlbum(album) {
  parts.pane.hidden = !album;
  if (!album) return;
  parts.title.textContent = album.title || "Untitled";
  parts.artist.textContent = album.artist;
  parts.cause.open = false;
  for (const cell of cells) cell.textContent = String(album[cell.dataset.field] ?? "") || "–";
}

/** @param {{version?: string, stale?: true, failure?: string, cause?: string, waiting?: true, final?: boolean, away?: boolean}} state */
export function showCoverState(state) {
  const text = state.failure ?? "";
  parts.problem.classList.toggle("failed", Boolean(text));
  if (parts.reason.textContent !== text) parts.reason.textContent = text;
  parts.retry.hidden = !state.failure || Boolean(state.final || state.away);
  parts.cause.hidden = !text || !state.cause;
  parts.cause.querySelector("p").textContent = sentence(state.cause ?? "");
  parts.stale.hidden = !state.stale;
}

/** Where the chosen album stands among those shown; the slider goes through all of them, however many. */
export function showPosition(index, shown, all, album) {
  parts.position.hidden = shown < 2;
  parts.position.max = String(Math.max(0, shown - 1));
  parts.position.value = String(index);
  const place = `${number.format(index + 1)} of ${number.format(shown)}`;
  parts.position.setAttribute("aria-valuetext", album ? `${place}, ${album.title}` : place);
  const of = shown === all ? "" : ` found, ${number.format(all)} in all`;
  parts.count.textContent = shown ? place + of : "";
}

export function onRetry(run) { parts.retry.addEventListener("click", run); }
export function onPosition(run) { parts.position.addEventListener("input", () => run(Number(parts.position.value))); }
