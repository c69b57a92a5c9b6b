// The cover in the form: an address, a MusicBrainz release, or the user's own picture.

import { ask } from "./api.js";
import { byID } from "./helpers.js";
import { coverPath } from "./stored-covers.js";

const part = byID("album-cover"), address = part.querySelector("[name=coverUrl]");
const [preview, name, chooser, choose, remove] = ["picture-preview", "picture-name", "picture-file", "picture-choose", "picture-remove"].map(byID);
const ink = preview.getContext("2d");
/** The server names stored pictures by their digests, below this address, which no server can have (RFC 6761 section 6.4). */
const own = "https://covers.invalid/";
/** A new picture that is not sent yet. @type {Blob | null} */
let picture = null;
/** Counts what the field has shown: a picture that is decoded later is not that of the field any more. */
let shown = 0;

choose.addEventListener("click", () => chooser.click());
chooser.addEventListener("change", () => {
  if (chooser.files[0]) takePicture(chooser.files[0]);
  chooser.value = ""; // so that the same file can be chosen again
});
remove.addEventListener("click", () => {
  takeAddress("");
  address.focus();
});

export const newPicture = () => picture;

/** @param {File} file */
export function takePicture(file) {
  show(file, file.name);
  draw(createImageBitmap(file));
}

/** @param {string} text an address or an id */
export function takeAddress(text) {
  address.value = text;
  show(null, "");
  if (!text.startsWith(own)) return;
  const image = new Image();
  image.src = coverPath(text.slice(own.length));
  draw(image.decode().then(() => image));
}

/** The address under which the server stored a picture. @param {Blob} file @param {AbortSignal} [signal] */
export async function addressOf(file, signal) {
  return (await ask("POST", "api/pictures", file, { signal })).coverUrl;
}

function show(file, fileName) {
  picture = file;
  shown += 1;
  preview.hidden = true;
  const isOwn = Boolean(file) || address.value.startsWith(own);
  part.classList.toggle("own", isOwn);
  name.textContent = !isOwn ? "" : fileName ? `Your own picture: ${fileName}` : "Your own picture";
  remove.hidden = !isOwn;
  choose.textContent = isOwn ? "Choose another…" : "Choose a picture…";
}

/** Draws the middle of a picture. Browsers cannot decode some files, such as SVG, in this way: those have no preview. */
async function draw(decoding) {
  const order = shown, decoded = await decoding.catch(() => null);
  if (!decoded || order !== shown) return;
  const width = decoded.naturalWidth ?? decoded.width, height = decoded.naturalHeight ?? decoded.height;
  const side = Math.min(width, height);
  ink.clearRect(0, 0, preview.width, preview.height);
  ink.drawImage(decoded, (width - side) / 2, (height - side) / 2, side, side, 0, 0, preview.width, preview.height);
  preview.hidden = false;
}
