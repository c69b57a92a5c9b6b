// The chosen cover in its own pixels, over the page, where it has more of them than the stage shows: moved by hand and by keys. What closes it is the
// browser's Back, too.

import { byID, coverPath } from "./helpers.js";
import { Overlay } from "./overlay.js";
import { grow } from "./transition.js";

const dialog = byID("zoom"), picture = byID("zoom-picture");
/** Where the arrow keys move it, and how far, in pixels. */
const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }, stride = 120;

/** @returns {() => void} shows the chosen album's */
export function setUpZoom(gallery, covers) {
  let dragged = 0;
  const place = () => (dialog.open ? picture : covers.pictureOf(gallery.album?.id));
  const overlay = new Overlay(() => grow(() => dialog.close(), place));
  // The entry of the browser's history goes with it.
  const close = () => overlay.closed();

  dialog.addEventListener("click", () => dragged < 5 && close());
  dialog.addEventListener("cancel", (event) => (event.preventDefault(), close()));
  dialog.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (!way) return;
    event.preventDefault();
    dialog.scrollBy(way[0] * stride, way[1] * stride);
  });
  dialog.addEventListener("pointerdown", () => (dragged = 0));
  // A finger scrolls by itself.
  dialog.addEventListener("pointermove", ({ pointerType, buttons, movementX, movementY }) => {
    if (pointerType === "touch" || buttons !== 1) return;
    dragged += Math.abs(movementX) + Math.abs(movementY);
    dialog.scrollBy(-movementX, -movementY);
  });
  dialog.addEventListener("close", () => {
    picture.removeAttribute("src");
    gallery.focus();
  });
  return async () => {
    const { album } = gallery, small = covers.pictureOf(album?.id), { digest } = covers.stateOf(album?.id);
    if (!small || dialog.open) return;
    picture.src = digest ? coverPath(digest) : small.currentSrc;
    picture.alt = `Cover of ${album.title || "Untitled"}${album.artist ? ` by ${album.artist}` : ""}`;
    await picture.decode().catch(() => {});
    // One that is shown as large as it is, or larger, has no more to show.
    const isLarger = Math.max(picture.naturalWidth, picture.naturalHeight) > Math.max(small.clientWidth, small.clientHeight);
    if (!isLarger || dialog.open || gallery.album?.id !== album.id) return;
    overlay.opened();
    await grow(() => dialog.showModal(), place);
    dialog.scrollTo((dialog.scrollWidth - dialog.clientWidth) / 2, (dialog.scrollHeight - dialog.clientHeight) / 2);
  };
}
