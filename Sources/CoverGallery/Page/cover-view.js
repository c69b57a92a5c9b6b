// What one cover looks like: its picture, or the sign that it is on its way, or why there is none. Views are filled again
// and again with other albums; whatever was under way for the one before must not touch the one that is there now.

const template = document.getElementById("cover-template");
const spinner = document.createElement("span");
spinner.className = "spinner";
const albums = new WeakMap(); // view → the album it stands for
/** The states in which the title is to be read on the view. */
const written = { waiting: true, failed: true };
/** How long a picture may take before there is a sign that it is on its way, in milliseconds. */
const patience = 120;

/** A new, empty view. */
export function makeView() {
  return template.content.firstElementChild.cloneNode(true);
}

/** Has a view stand for an album. */
export function dress(view, album) {
  if (view.dataset.id !== album.id) {
    forget(view);
    if (view.dataset.state !== "waiting") stop(view, "coming");
  }
  view.dataset.id = album.id;
  view.setAttribute("aria-label", [album.title, album.artist].filter(Boolean).join(", ") || "Untitled");
  albums.set(view, album);
  if (view.dataset.state in written) write(view);
}

/** A picture is asked for; only one that is slow is waited for with a spinner. */
function showComing(view, address) {
  if (view.dataset.state === "waiting") return;
  stop(view, "coming");
  setTimeout(() => view.dataset.state === "coming" && view.dataset.address === address && showWaiting(view), patience);
}

export function showWaiting(view) {
  if (view.dataset.state === "waiting") return;
  if (view.dataset.state !== "coming") forget(view);
  view.dataset.state = "waiting";
  write(view);
  part(view, "sleeve").append(spinner.cloneNode());
}

/** The album's title, for as long as there is no picture: most covers never need it. */
function write(view) {
  const { title, artist } = albums.get(view);
  part(view, "title").textContent = title;
  part(view, "artist").textContent = artist;
}

/** The reason is to be read below the covers once the album is chosen; assistive technology has it here too. */
export function showFailure(view, reason) {
  stop(view, "failed");
  forget(view);
  write(view);
  view.setAttribute("aria-description", reason);
}

/**
 * Shows a picture once it is here. The browser decodes it beside (`decoding="async"`) and shows it a frame or two later;
 * waiting for that by `decode()` takes four times as long, and keeps spinners turning meanwhile.
 * @returns {Promise<"shown" | "broken" | "overtaken">} overtaken: somebody else will tell, or nobody needs to know
 */
export async function showPicture(view, address, urgent) {
  const picture = part(view, "picture");
  if (view.dataset.address === address) return view.dataset.state === "ready" ? "shown" : "overtaken";
  showComing(view, address);
  view.dataset.address = address;
  picture.fetchPriority = urgent ? "high" : "low";
  picture.src = address;
  try {
    await loaded(picture);
  } catch {
    return view.dataset.address === address ? "broken" : "overtaken";
  }
  if (view.dataset.address !== address) return "overtaken";
  stop(view, "ready");
  return "shown";
}

function loaded(picture) {
  if (picture.complete && picture.naturalWidth) return null;
  return new Promise((resolve, reject) => {
    picture.addEventListener("load", resolve, { once: true });
    picture.addEventListener("error", reject, { once: true });
  });
}

/** The picture of a view that is ready. */
export function pictureOf(view) {
  return view?.dataset.state === "ready" ? part(view, "picture") : null;
}

function part(view, name) {
  return view.querySelector(`.${name}`);
}

function stop(view, state) {
  view.dataset.state = state;
  view.removeAttribute("aria-description");
  view.querySelector(".spinner")?.remove();
}

function forget(view) {
  delete view.dataset.address;
  part(view, "picture").removeAttribute("src");
}
