// The menus of the bar: popovers of buttons, among which the arrow keys go. Of the buttons with one name, one is checked.

/** The buttons of a name. */
export const choicesOf = (name) => [...document.getElementsByName(name)];

/** Marks the choice that is made. */
export function check(name, value) {
  for (const each of choicesOf(name)) each.ariaChecked = String(each.value === value);
}

/** A person has chosen. */
export function onChoice(name, run) {
  for (const each of choicesOf(name)) each.addEventListener("click", () => run(each.value));
}

export function setUpMenus() {
  for (const menu of document.querySelectorAll("[role=menu]")) {
    const items = () => [...menu.querySelectorAll("button:enabled:not([hidden])")];
    menu.addEventListener("toggle", ({ newState }) => newState === "open" && (menu.querySelector("[aria-checked=true]") ?? items()[0])?.focus());
    // The focus goes back to the menu's button before a choice takes it.
    menu.addEventListener("click", ({ target }) => target.closest("button") && menu.hidePopover(), { capture: true });
    menu.addEventListener("keydown", (event) => {
      const all = items(), at = all.indexOf(document.activeElement);
      const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined || !all.length) return;
      event.preventDefault();
      all.at(to % all.length).focus();
    });
  }
}
