// Pictures, their addresses, and lists of albums that are dropped on the page, or pasted into the form.

let marked = null;
/** A text that is dropped on a field is the field's. */
const isTaken = ({ target, dataTransfer: { types } }) => types.includes("Files") || types.includes("text/uri-list")
  || (types.includes("text/plain") && !target.closest?.("input"));

/**
 * @param {object} take what takes a file or an address: the open `form`, an album's `cover` on which it was dropped, or else the `page`;
 *   `list`: a list of albums, dropped anywhere; `nothing`: the name of a file that is no picture and no list
 */
export function listenForPictures(take) {
  // Without this the browser would leave the page and show the file.
  addEventListener("dragover", (event) => {
    if (!isTaken(event)) return;
    event.preventDefault();
    mark(event.target.closest?.(".cover, #album-dialog") ?? null);
  });
  addEventListener("dragleave", (event) => event.relatedTarget ?? mark(null));
  addEventListener("drop", (event) => {
    mark(null);
    if (!isTaken(event)) return;
    event.preventDefault();
    give(take, event.target, sourceIn(event.dataTransfer));
  });
  addEventListener("paste", (event) => {
    const file = event.clipboardData.files[0];
    if (!file || !event.target.closest?.("#album-dialog")) return;
    event.preventDefault();
    take.form(file);
  });
}

function give(take, target, source) {
  const dialog = document.querySelector("dialog[open]"), cover = target.closest?.(".cover");
  if (!source) take.nothing();
  else if (!dialog && /\.(jsonl?|csv|db)$/i.test(source.name ?? "")) take.list(source);
  else if (dialog) dialog.id === "album-dialog" && take.form(source);
  else if (cover) take.cover(cover.dataset.id, source);
  else if (typeof source === "string" || isPicture(source)) take.page(source);
  else take.nothing(source.name);
}

/** By its name where the system knows no type: a folder has neither. @param {File} file */
function isPicture({ type, name }) {
  return type ? type.startsWith("image/") : /\.(avif|hei[cf]|jxl|webp)$/i.test(name);
}

/** The first file, or the first address: of a link or a picture of another page, or in a text. */
function sourceIn(transfer) {
  const lines = (transfer.getData("text/uri-list") || transfer.getData("text/plain")).trim().split(/\s+/);
  return transfer.files[0] ?? lines.find((line) => /^https?:/.test(line)) ?? null;
}

function mark(element) {
  if (element === marked) return;
  marked?.classList.remove("dropping");
  marked = element;
  marked?.classList.add("dropping");
}
