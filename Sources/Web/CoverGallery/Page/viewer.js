// The whole picture of one cover, as large as the window allows.

import { byID } from "./helpers.js";

const dialog = byID("viewer"), picture = byID("viewer-picture");
let closed = () => {};

dialog.addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  if (dialog.open) return; // again, since
  picture.removeAttribute("src");
  closed();
});

/** @param {string} address @param {string} name describes the picture @param {() => void} afterwards called when the dialog has closed */
export function openViewer(address, name, afterwards) {
  closed = afterwards;
  picture.src = address;
  picture.alt = name;
  dialog.showModal();
}
