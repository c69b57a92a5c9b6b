// On-screen keyboards. Some browsers shrink the page for them, others only the visual viewport. In both cases the focused field of a
// dialog stays visible, and the dialog's scroll position is restored when the keyboard closes.

const view = window.visualViewport;
const root = document.documentElement;

/** Keeps `dialog` clear of a keyboard while it is open. */
export function keepClear(dialog) {
  let scrolled = null;

  const update = () => {
    if (!dialog.open) return;
    // A zoomed page has a small visual viewport too.
    const zoomed = view && view.scale > 1.01;
    const covered = view && !zoomed ? Math.max(0, Math.round(innerHeight - view.height - view.offsetTop)) : 0;
    const above = view && !zoomed ? Math.max(0, Math.round(view.offsetTop)) : 0;
    root.style.setProperty("--keyboard", `${covered}px`);
    root.style.setProperty("--above", `${above}px`);
    const small = covered > 80 || innerHeight < tallest() - 80;
    if (small) {
      scrolled ??= dialog.scrollTop;
      reveal();
    } else if (scrolled !== null) {
      dialog.scrollTop = scrolled;
      scrolled = null;
    }
  };

  const reveal = () => {
    const field = dialog.contains(document.activeElement) ? document.activeElement : null;
    // With the label above the field.
    (field?.closest("label") ?? field)?.scrollIntoView({ block: "nearest" });
  };

  let width = innerWidth, height = innerHeight;
  /** The height without a keyboard: the greatest at this width. */
  const tallest = () => {
    if (innerWidth !== width) [width, height] = [innerWidth, innerHeight];
    return (height = Math.max(height, innerHeight));
  };

  view?.addEventListener("resize", update);
  view?.addEventListener("scroll", update);
  addEventListener("resize", update);
  dialog.addEventListener("focusin", () => requestAnimationFrame(reveal));
  dialog.addEventListener("close", () => {
    scrolled = null;
    root.style.removeProperty("--keyboard");
    root.style.removeProperty("--above");
  });
}
