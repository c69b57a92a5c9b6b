// What one cover looks like: its picture, or the sign that it is on its way, or why there is none. Views are filled again
// and again with other albums; whatever was under way for the one before must not touch the one that is there now.

const template = document.getElementById("cover-template");
const spinner = document.createElement("span");
spinner.className = "spinner";

/** A new, empty view. */
export function makeView() {
  return template.content.firstElementChild.cloneNode(true);
}

/** Has a view stand for an album. */
export function dress(view, album) {
  view.dataset.id = album.id;
  view.setAttribute("aria-label", [album.title, album.artist].filter(Boolean).join(", ") || "Untitled");
  part(view, "title").textContent = album.title;
  part(view, "artist").textContent = album.artist;
}

export function showWaiting(view) {
  if (view.dataset.state === "waiting") return;
  view.dataset.state = "waiting";
  part(view, "sleeve").append(spinner.cloneNode());
  forget(view);
}

export function showFailure(view, reason, canRetry) {
  stop(view, "failed");
  forget(view);
  part(view, "reason").textContent = reason;
  view.setAttribute("aria-description", reason);
  part(view, "retry").hidden = !canRetry;
}

/**
 * Shows a picture once it is here. The browser decodes it beside (`decoding="async"`) and shows it a frame or two later;
 * waiting for that by `decode()` takes four times as long, and keeps spinners turning meanwhile.
 * @returns {Promise<"shown" | "broken" | "overtaken">} overtaken: somebody else will tell, or nobody needs to know
 */
export async function showPicture(view, address, urgent) {
  const picture = part(view, "picture");
  if (view.dataset.address === address) return view.dataset.state === "ready" ? "shown" : "overtaken";
  showWaiting(view);
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
