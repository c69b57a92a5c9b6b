// Changes of the page in which a cover grows out of its former place into the new one, where the browser has View Transitions.

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {() => Element | null} place the element that moves: asked before the change of the page and after it */
export async function grow(change, place) {
  if (!document.startViewTransition || reducedMotion.matches || document.hidden) return change();
  let moving = null;
  const name = (element) => {
    if (moving) moving.style.viewTransitionName = "";
    if ((moving = element)) moving.style.viewTransitionName = "cover";
  };
  name(place());
  let made;
  const transition = document.startViewTransition(async () => {
    made = change();
    await made;
    name(place());
  });
  transition.ready.catch(() => {}); // another one came, or the window is hidden
  transition.finished.then(() => name(null), () => name(null));
  await transition.updateCallbackDone;
  return made;
}
