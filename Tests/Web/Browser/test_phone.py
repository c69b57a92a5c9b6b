"""The page on a phone: 390 × 844 CSS pixels at a ratio of 3, touch, and an on-screen keyboard."""
import inputs
from case import GalleryTest

KEYBOARD = 336  # The height of an on-screen keyboard, in CSS pixels.


class Phone(GalleryTest):
    motion = True

    def begin(self):
        page = self.shared_gallery(12)
        inputs.phone(page.browser)
        return page.reload().settled()

    def keyboard(self, page, is_shown):
        inputs.screen(page.browser, 390, 844 - KEYBOARD * is_shown, 3, True)

    def assert_fits(self, page, width):
        self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), width)
        self.assertLess(page.off_centre(), 2)

    def test_everything_fits_the_width_with_a_keyboard_after_it_and_turned_and_the_chosen_cover_is_in_the_middle(self):
        page = self.begin()
        self.assertEqual(page.value("[innerWidth, devicePixelRatio]"), [390, 3])
        self.assert_fits(page, 390)
        self.assertIn("interactive-widget=resizes-content", page.value("$('meta[name=viewport]').content"))
        self.screenshot("phone")
        for selector in ("#more", "#view", "#menu-toggle"):
            box = page.box(selector)
            self.assertTrue(0 <= box["left"] < box["right"] <= 390, f"{selector} lies outside: {box}")
        boxes = lambda: [page.box(selector) for selector in ("#covers", "#search", "#facts")]
        before = boxes()
        page.focus("#search")
        self.keyboard(page, True)
        box = page.box("#search")
        self.assertTrue(0 <= box["top"] and box["bottom"] <= 844 - KEYBOARD)
        page.run("document.activeElement.blur()")
        self.keyboard(page, False)
        page.run("scrollTo(0, 0)")
        page.rest()
        self.assertEqual(boxes(), before, "as it was")
        self.assert_fits(page, 390)
        page.focus_covers().press("End").wait_for_place(12)
        for width, height in ((844, 390), (320, 568)):
            inputs.screen(page.browser, width, height, 3, True)
            self.assertEqual(page.wait_for_place(12)["place"], 12)
            self.assert_fits(page, width)

    def test_every_field_of_the_dialog_stays_visible_above_the_keyboard(self):
        page = self.begin()
        inputs.tap(page.browser, *page.middle_of("#menu-toggle"))
        page.appears("#add")
        inputs.tap(page.browser, *page.middle_of("#add"))
        page.wait("$('#album-dialog').open")
        for name in ("title", "artist", "genre", "year", "coverUrl"):
            page.focus(f"#album-dialog [name={name}]")
            for is_shown in (True, False):
                self.keyboard(page, is_shown)
                page.until("""(field => {
                    const box = field.getBoundingClientRect(), view = visualViewport;
                    const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
                    return box.top >= 0 && box.bottom <= view.height && box.left >= 0 && box.right <= view.width && hit === field
                        && document.activeElement === field;
                })($(`#album-dialog [name=${arguments[0]}]`))""", name, what=f"{name} within the visible part")
        self.keyboard(page, True)
        page.rest()
        page.run("$('#album-save').scrollIntoView({block: 'nearest'})")
        self.assertLessEqual(page.box("#album-save")["bottom"], 844 - KEYBOARD, "the buttons can be reached")
        self.screenshot("phone-keyboard")
