"""The keyboard focus reaches every control, is never trapped, and is visible."""
import inputs
import pixels
from case import GalleryTest


class Focus(GalleryTest):
    REACHABLE = """
        const scope = $('dialog:modal') ?? document;
        return [...scope.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
            .filter((each) => each.tabIndex >= 0 && !each.disabled && !each.closest('[inert]'))
            .filter((each) => each.checkVisibility({visibilityProperty: true}))
            .map((each) => { each.dataset.stop ||= String(Math.random()).slice(2); return each.dataset.stop; });"""

    def assert_walk(self, page, wanted, *keys):
        """Walks by these keys, and returns where it has been."""
        stops = []
        # Between the last and the first control the focus is in the browser's own controls, for one or two keys.
        for _ in range(len(wanted) + 2):
            page.press(*keys)
            stops.append(page.value("document.activeElement?.dataset.stop ?? null"))
        missed = sorted(set(wanted) - set(stops))
        self.assertEqual(missed, [], page.value("arguments[0].map((stop) => $(`[data-stop=\"${stop}\"]`)?.outerHTML.slice(0, 80))", missed))
        return [stop for stop in dict.fromkeys(stops) if stop]

    def test_tab_reaches_every_control_in_the_order_of_the_page_and_leaves_each_and_stays_in_a_dialog(self):
        page = self.shared_gallery(6).settled()
        page.run("document.activeElement.blur()")
        wanted = page.run(self.REACHABLE)
        self.assertGreater(len(wanted), 6)
        there = self.assert_walk(page, wanted, "Tab")
        self.assertEqual([stop for stop in there if stop in wanted], wanted, "not in the order of the page")
        self.assert_walk(page, wanted, "Shift", "Tab")
        page.focus("#menu-toggle").press("Enter")
        page.wait("document.activeElement?.id === 'add'", what="the focus on the menu's first line")
        page.press("Enter")
        inside = "$('#album-dialog').contains(document.activeElement)"
        page.wait(inside, what="the focus in the dialog")
        self.assert_walk(page, page.run(self.REACHABLE), "Tab")
        self.assertTrue(page.value(f"{inside} || document.activeElement === document.body"))
        page.press("Escape").wait("document.activeElement?.id === 'menu-toggle'", what="the focus where it was")

    def test_the_focus_can_be_seen_on_every_control_in_light_and_dark_and_with_forced_colours(self):
        page = self.shared_gallery(6).settled()
        unseen = []
        for features in ({"prefers_color_scheme": "light"}, {"prefers_color_scheme": "dark"}, {"forced_colors": "active"}):
            inputs.prefer(page.browser, **features, prefers_reduced_motion="reduce")
            page.run("document.activeElement.blur()")
            for _ in page.run(self.REACHABLE):
                page.press("Tab")
                unseen += [f"{features}: {each}" for each in self.unseen(page)]
        self.assertEqual(unseen, [])

    def unseen(self, page):
        """Compares screenshots of the control with and without the focus."""
        frames = "for (let n = 0; n < 2; n++) await new Promise((resolve) => requestAnimationFrame(resolve));"
        name, box = page.run(frames + """
            const focused = document.activeElement, active = document.getElementById(focused.getAttribute('aria-activedescendant'));
            return [focused.id || focused.outerHTML.slice(0, 60), (active ?? focused).getBoundingClientRect().toJSON()];""")
        if name.startswith("<body"):
            return []
        focused = pixels.capture(page.browser, box)
        page.run("window.left = document.activeElement; window.left.blur();" + frames)
        blurred = pixels.capture(page.browser, box)
        page.run("window.left.focus()")
        around = 2 * (box["width"] + box["height"])
        seen = pixels.changed(blurred, focused)
        return [] if seen >= around / 2 else [f"{name}: {seen} pixels of {around:.0f} around it"]
