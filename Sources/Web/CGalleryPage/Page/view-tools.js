// The button that changes the view, and the slider of the covers' size on the wall.

import { byID } from "./helpers.js";
import { setUpPlaces } from "./places.js";

const button = byID("view"), tile = byID("tile");

/**
 * @param {import("./library.js").Library} library @param {import("./gallery.js").Gallery} gallery
 * @param {(() => void)[]} followers called when the view, the list or the chosen album changed
 */
export function setUpViews(library, gallery, followers) {
  button.addEventListener("click", async () => {
    await gallery.toggle();
    gallery.focus();
  });
  tile.addEventListener("input", () => (gallery.tile = Number(tile.value)));
  const followPlaces = setUpPlaces(library, gallery);
  const show = () => {
    followPlaces();
    for (const follow of followers) follow();
    button.setAttribute("aria-pressed", String(gallery.name === "wall"));
    measure();
  };
  const measure = () => (tile.value = String(gallery.tile || gallery.tileNow));
  gallery.resized = measure;
  gallery.selected = show;
  gallery.moved = followPlaces;
  show();
}
