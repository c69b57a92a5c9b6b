// The cover in the form: an address, a MusicBrainz release, or the user's own picture.

import { ask } from "./api.js";
import { byID, coverPath, onFile } from "./helpers.js";

const part = byID("album-cover"), address = part.querySelector("[name=coverUrl]");
const [preview, name, chooser, choose, remove] = ["picture-preview", "picture-name", "picture-file", "picture-choose", "picture-remove"].map(byID);
/** The server names stored pictures by their digests, below this address, which no server can have (RFC 6761 section 6.4). */
const own = "https://covers.invalid/";
/** A new picture that is not sent yet. @type {Blob | null} */
let picture = null;

preview.addEventListener("load", () => (preview.hidden = false)); // a browser may not know the format
choose.addEventListener("click", () => chooser.click());
onFile(chooser, (file) => takePicture(file));
remove.addEventListener("click", () => {
  takeAddress("");
  address.focus();
});

export const newPicture = () => picture;

export const takePicture = (file) => show(file, file.name);

/** @param {string} text an address or an id */
export function takeAddress(text) {
  address.value = text;
  show(null, "");
}

/** The address under which the server stored a picture. */
export const addressOf = async (file, signal) => (await ask("POST", "api/pictures", file, { signal })).coverUrl;

function show(file, fileName) {
  picture = file;
  const isOwn = Boolean(file) || address.value.startsWith(own);
  URL.revokeObjectURL(preview.src);
  preview.hidden = true;
  preview.src = file ? URL.createObjectURL(file) : isOwn ? coverPath(address.value.slice(own.length)) : "";
  part.classList.toggle("own", isOwn);
  name.textContent = !isOwn ? "" : fileName ? `Your own picture: ${fileName}` : "Your own picture";
  remove.hidden = !isOwn;
  choose.textContent = isOwn ? "Choose another…" : "Choose a picture…";
}
