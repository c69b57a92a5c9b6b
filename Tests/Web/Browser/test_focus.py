"""The keyboard focus reaches every control, is never trapped, and is visible."""
import inputs
import pixels
from case import GalleryTest


class Focus(GalleryTest):
    def shared(self):
        return self.common.albums(6)

    REACHABLE = """
        const scope = document.querySelector('dialog:modal') ?? document;
        return [...scope.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
            .filter((each) => each.tabIndex >= 0 && !each.disabled && !each.closest('[inert]'))
            .filter((each) => each.checkVisibility({visibilityProperty: true}))
            .map((each) => { each.dataset.stop ||= String(Math.random()).slice(2); return each.dataset.stop; });"""

    def walk(self, page, keys, count):
        stops = []
        for _ in range(count):
            page.press(*keys)
            stops.append(page.run("return document.activeElement?.dataset.stop ?? null"))
        return stops

    def assert_walk(self, page, wanted, keys):
        # Between the last and the first control the focus is in the browser's own controls, for one or two keys.
        stops = self.walk(page, keys, len(wanted) + 2)
        self.assertEqual(set(wanted) - set(stops), set(), "not reached: " + ", ".join(page.run(
            "return arguments[0].map((stop) => document.querySelector(`[data-stop=\"${stop}\"]`)?.outerHTML.slice(0, 80))",
            sorted(set(wanted) - set(stops)))))
        return [stop for stop in dict.fromkeys(stops) if stop]

    def test_tab_reaches_every_control_in_the_order_of_the_page_and_leaves_each(self):
        page = self.open()
        page.covers_settle()
        page.run("document.activeElement.blur()")
        wanted = page.run(self.REACHABLE)
        self.assertGreater(len(wanted), 6)
        there = self.assert_walk(page, wanted, ["Tab"])
        self.assertEqual([stop for stop in there if stop in wanted], wanted, "not in the order of the page")
        self.assert_walk(page, wanted, ["Shift", "Tab"])

    def test_the_focus_stays_in_the_dialog_and_comes_back(self):
        page = self.open()
        page.focus_covers()
        page.focus("#menu-toggle")
        page.press("Enter")
        page.until("document.activeElement?.id === 'add'", what="the focus on the menu's first line")
        page.press("Enter")
        page.until("document.querySelector('#album-dialog').contains(document.activeElement)")
        wanted = page.run(self.REACHABLE)
        self.assert_walk(page, wanted, ["Tab"])
        self.assertTrue(page.run("""
            const focused = document.activeElement;
            return focused === document.body || document.querySelector('#album-dialog').contains(focused);"""))
        page.press("Escape")
        page.until("document.activeElement?.id === 'menu-toggle'")

    def test_the_focus_can_be_seen_on_every_control_in_light_and_dark(self):
        page = self.open()
        page.covers_settle()
        unseen = []
        for scheme in ("light", "dark"):
            inputs.prefer(page.browser, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            page.run("document.activeElement.blur()")
            for _ in page.run(self.REACHABLE):
                page.press("Tab")
                unseen += self.unseen(page, scheme)
        self.assertEqual(unseen, [])

    def test_the_focus_can_be_seen_with_forced_colours(self):
        page = self.open()
        inputs.prefer(page.browser, forced_colors="active")
        page.covers_settle()
        unseen = []
        for _ in page.run(self.REACHABLE):
            page.press("Tab")
            unseen += self.unseen(page, "forced colours")
        self.assertEqual(unseen, [])

    def unseen(self, page, scheme):
        """Compares screenshots of the control with and without the focus."""
        name, box = page.run("""
            const focused = document.activeElement;
            const active = document.getElementById(focused.getAttribute('aria-activedescendant'));
            return [focused.id || focused.outerHTML.slice(0, 60), (active ?? focused).getBoundingClientRect().toJSON()];""")
        if name.startswith("<body"):
            return []
        frames = "for (let n = 0; n < 2; n++) await new Promise((resolve) => requestAnimationFrame(resolve));"
        page.run(frames)
        focused = pixels.capture(page.browser, box)
        page.run("window.left = document.activeElement; window.left.blur();" + frames)
        blurred = pixels.capture(page.browser, box)
        page.run("window.left.focus()")
        around = 2 * (box["width"] + box["height"])
        seen = pixels.changed(blurred, focused)
        return [] if seen >= around / 2 else [f"{scheme}: {name}: {seen} pixels of {around:.0f} around it"]
