// On-screen keyboards. Some browsers shrink the page for them, others only the visual viewport.

const view = window.visualViewport;

/** Keeps a dialog within what is visible, and its focused field in view. */
export function keepClear(dialog) {
  const update = ({ type }) => {
    // A zoomed page has a small visual viewport too.
    const isWhole = view.scale < 1.01, above = isWhole ? view.offsetTop : 0, below = isWhole ? innerHeight - view.height - above : 0;
    dialog.style.setProperty("--above", `${above}px`);
    dialog.style.setProperty("--keyboard", `${Math.max(0, below)}px`);
    if (isWhole && type === "resize" && dialog.contains(document.activeElement)) document.activeElement.scrollIntoView({ block: "nearest" });
  };
  view.addEventListener("resize", update);
  view.addEventListener("scroll", update);
}
