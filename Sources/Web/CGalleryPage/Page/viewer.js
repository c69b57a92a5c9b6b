// The whole picture of the chosen cover, as large as the window allows, and at most twice as large as it is. The arrow keys and a swipe go to the
// next one; what closes it is the browser's Back, too.

import { byID } from "./helpers.js";
import { coverPath } from "./stored-covers.js";
import { steps } from "./cover-view.js";
import { grow } from "./transition.js";

const dialog = byID("viewer"), picture = byID("viewer-picture"), zoomButton = byID("viewer-zoom");
/** How far a finger moves before it goes to the next cover, in pixels. */
const swipe = 50;
/** Where the arrow keys go: to the next cover sideways, or over one that is shown in its actual size. */
const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
/** How far one of them goes over it, in pixels. */
const stride = 120;
/** How many times a picture is enlarged at most. */
const mostEnlarged = 2;

/** @param {import("./gallery.js").Gallery} gallery @param {import("./covers.js").Covers} covers @returns {() => void} shows the chosen album's */
export function setUpViewer(gallery, covers) {
  let start = null, dragged = 0;

  const tile = () => covers.pictureOf(gallery.album?.id);
  const place = () => (dialog.open ? picture : covers.viewOf(gallery.album?.id));
  const limit = ({ naturalWidth } = {}) => picture.style.setProperty("--most", naturalWidth ? `${mostEnlarged * naturalWidth}px` : "100vw");
  const show = () => {
    const { album } = gallery, small = tile(), name = album.title || "Untitled", { digest, failure } = covers.stateOf(album.id);
    picture.alt = `Cover of ${name}${album.artist ? ` by ${album.artist}` : ""}`;
    byID("viewer-title").textContent = name;
    byID("viewer-artist").textContent = digest || small ? album.artist : failure ?? "No cover yet";
    // The smaller one until the whole one is there.
    picture.style.backgroundImage = small ? `url("${small.currentSrc}")` : "";
    picture.style.setProperty("--ratio", small ? String(small.naturalWidth / small.naturalHeight) : "1");
    // A smaller one of another size is the whole one: the server enlarges none.
    limit(small && !steps.includes(Math.max(small.naturalWidth, small.naturalHeight)) ? small : {});
    if (digest) picture.src = coverPath(digest);
    else if (small) picture.src = small.currentSrc;
    else {
      picture.removeAttribute("src");
      zoomButton.hidden = true;
    }
  };
  // The entry of the browser's history goes with it.
  const close = () => history.back();
  addEventListener("popstate", (event) => {
    if (!dialog.open) return;
    event.stopImmediatePropagation();
    grow(() => dialog.close(), place);
    gallery.changed(); // the entry before has the place where it was opened
  });
  const step = (way) => {
    const key = way > 0 ? "ArrowRight" : "ArrowLeft", former = gallery.album?.id;
    gallery.step(key);
    if (gallery.album && gallery.album.id !== former) show();
  };
  const isZoomed = () => dialog.classList.contains("zoomed");
  /** Shows the picture's middle. A picture that is shown larger than it is has no actual size to go to. */
  const fit = () => {
    zoomButton.hidden = !isZoomed() && picture.naturalWidth <= picture.clientWidth;
    dialog.scrollTo((dialog.scrollWidth - dialog.clientWidth) / 2, (dialog.scrollHeight - dialog.clientHeight) / 2);
  };
  const toggleZoom = () => {
    zoomButton.setAttribute("aria-pressed", String(dialog.classList.toggle("zoomed")));
    fit();
  };

  picture.addEventListener("load", () => (limit(picture), fit())); // its size was another one's
  addEventListener("resize", () => dialog.open && fit());
  dialog.addEventListener("click", ({ target }) => {
    const button = target.closest("button")?.id;
    if (button === "viewer-zoom") toggleZoom();
    else if (button === "viewer-next" || button === "viewer-previous") step(button === "viewer-next" ? 1 : -1);
    else if (dragged < 5) close();
  });
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    if (isZoomed()) toggleZoom();
    else close();
  });
  // Of the document: a button that disappears leaves the focus to it.
  document.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (!way || !dialog.open) return;
    event.preventDefault();
    if (isZoomed()) dialog.scrollBy(way[0] * stride, way[1] * stride);
    else if (way[0]) step(way[0]);
  });
  dialog.addEventListener("pointerdown", (event) => {
    start = event.pointerType === "touch" && event.isPrimary ? event.clientX : null;
    dragged = 0;
  });
  // A finger scrolls by itself.
  dialog.addEventListener("pointermove", (event) => {
    if (!isZoomed() || event.pointerType === "touch" || event.buttons !== 1) return;
    dragged += Math.abs(event.movementX) + Math.abs(event.movementY);
    dialog.scrollBy(-event.movementX, -event.movementY);
  });
  dialog.addEventListener("pointerup", (event) => {
    const moved = start === null ? 0 : event.clientX - start;
    if (Math.abs(moved) < swipe || visualViewport.scale > 1.01) return;
    step(moved < 0 ? 1 : -1);
  });
  dialog.addEventListener("close", () => {
    if (dialog.open) return; // again, since
    picture.removeAttribute("src");
    if (isZoomed()) toggleZoom();
    gallery.focus();
  });
  return () => {
    if (dialog.open) return;
    gallery.leaves();
    grow(() => (show(), dialog.showModal()), place);
  };
}
