// The view of one cover: its picture, its colour while that loads, or the names of its album. Views are recycled for other albums: a result
// that arrives for the former album must not change the view.

import { make } from "./helpers.js";

const template = document.getElementById("cover-template");
/** The longer side divided by the shorter, up to which a picture fills the square. */
const maximumCropped = 1.15;
/** The server makes smaller pictures with these longer sides, in pixels. */
const steps = [150, 300, 600, 1200];

export const makeView = () => template.content.firstElementChild.cloneNode(true);
const part = (view, name) => view.querySelector(`.${name}`);

/** Assigns a view to an album. */
export function assign(view, album) {
  if (view.dataset.id !== album.id) {
    removePicture(view);
    if (view.dataset.state !== "waiting") setState(view, "coming");
  }
  view.dataset.id = album.id;
  view.title = [album.title, album.artist].filter(Boolean).join(", ") || "Untitled";
  view.setAttribute("aria-label", view.title);
  // The style sheet shows them; as attributes they take no elements.
  Object.assign(view.dataset, { title: album.title || "Untitled", artist: album.artist, year: album.year ?? "", genre: album.genre });
  if (part(view, "name")) showName(view);
  view.style.setProperty("--hue", String(hue(album.artist)));
}

/** Shows the title and the artist in the place of a picture. */
function showName(view) {
  const name = part(view, "name") ?? view.appendChild(make("span", { className: "name", ariaHidden: "true" }));
  Object.assign(name.dataset, { title: view.dataset.title, artist: view.dataset.artist });
}

/** The hue of an artist's albums without a cover, in degrees. */
const hue = (artist) => [...artist].reduce((hash, letter) => (hash * 31 + letter.codePointAt(0)) % 360, 47);

/** Gives a view the dominant colour of its cover, which it shows first. */
export function tint(view, colour = "") { view.style.backgroundColor = colour; }

/** The cover is on its way. */
export function showWaiting(view) {
  if (view.dataset.state === "waiting") return;
  if (view.dataset.state !== "coming") removePicture(view);
  setState(view, "waiting");
}

/**
 * The page shows the reason of the chosen album; assistive technology finds every view's here.
 * @param {"missing" | "away" | false} [kind] missing: there is no cover to have; away: it is not stored, and has its colour as one that loads;
 *   else one could not be had
 */
export function showFailure(view, reason, kind) {
  setState(view, kind || "failed");
  removePicture(view);
  if (kind !== "away") showName(view);
  view.setAttribute("aria-description", reason);
}

/**
 * Shows a picture once it is loaded. The browser decodes it in the background (`decoding="async"`) and paints it a frame or two
 * later. Waiting for that with `decode()` takes four times as long.
 * @param {{size: number, urgent?: boolean, exact?: boolean}} how size: of the view, in CSS pixels; exact: this address, not one of a
 *   smaller picture
 * @returns {Promise<"shown" | "broken" | "superseded">} superseded: the view has another picture, or an earlier call reports this one
 */
export async function showPicture(view, address, { size, urgent, exact }) {
  const picture = part(view, "picture");
  if (view.dataset.address === address) return view.dataset.state === "ready" ? "shown" : "superseded";
  if (view.dataset.state !== "waiting") setState(view, "coming");
  view.dataset.address = address;
  picture.fetchPriority = urgent ? "high" : "low";
  picture.sizes = wanted(size);
  if (exact) picture.removeAttribute("srcset");
  else picture.srcset = steps.map((step) => `${address}?w=${step} ${step}w`).join();
  picture.src = address; // the whole picture, which the browser does not load if there is a set
  try {
    await loaded(picture);
  } catch {
    if (view.dataset.address !== address) return "superseded";
    removePicture(view);
    return "broken";
  }
  if (view.dataset.address !== address) return "superseded";
  const { naturalWidth, naturalHeight } = picture, ratio = naturalWidth / naturalHeight;
  picture.classList.toggle("odd", Math.max(ratio, 1 / ratio) > maximumCropped);
  view.style.setProperty("--ratio", String(ratio));
  // What is smaller than the step that was asked for is the whole picture. With a set, its natural size is as if the step were as wide as `sizes`.
  const step = exact ? 0 : Number(picture.currentSrc.split("?w=")[1]), side = (Math.max(naturalWidth, naturalHeight) * step) / parseFloat(picture.sizes);
  if (side < step - 1) view.style.setProperty("--most", `${2 * Math.round(side)}px`);
  else view.style.removeProperty("--most");
  setState(view, "ready");
  return "shown";
}

/** Two pixels of a picture for a CSS pixel are enough, whatever the screen has: three cost twice the bytes, and nobody sees them. */
const wanted = (size) => `${size * Math.min(1, 2 / devicePixelRatio)}px`;

function loaded(picture) {
  if (picture.complete && picture.naturalWidth) return null;
  return new Promise((resolve, reject) => {
    // One of each: of listeners, those of events that never came would stay with the element.
    picture.onload = resolve;
    picture.onerror = reject;
  });
}

/** The view has another size: the browser loads a larger picture if it needs one. */
export function resize(view, size) { part(view, "picture").sizes = wanted(size); }

/** The picture of a view that is ready. */
export const pictureOf = (view) => (view?.dataset.state === "ready" ? part(view, "picture") : null);

function setState(view, state) {
  view.dataset.state = state;
  view.removeAttribute("aria-description");
  part(view, "name")?.remove();
}

function removePicture(view) {
  delete view.dataset.address;
  view.style.removeProperty("--most");
  part(view, "picture").removeAttribute("srcset");
  part(view, "picture").removeAttribute("src");
}
