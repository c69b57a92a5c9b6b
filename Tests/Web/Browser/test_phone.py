"""The page on a phone: 390 × 844 CSS pixels at a ratio of 3, touch, and an on-screen keyboard."""
import inputs
from case import GalleryTest

KEYBOARD = 336  # The height of an on-screen keyboard, in CSS pixels.


class Phone(GalleryTest):
    motion = True

    def shared(self):
        return self.common.albums(12)

    def begin(self):
        page = self.open()
        inputs.phone(page.browser)
        page.reload()
        page.covers_settle()
        page.rest()
        return page

    def test_everything_fits_the_width_and_the_chosen_cover_is_in_the_middle(self):
        page = self.begin()
        self.assertEqual(page.run("return [innerWidth, devicePixelRatio]"), [390, 3])
        self.assertLessEqual(page.run("return document.scrollingElement.scrollWidth"), 390)
        self.assertLess(page.off_centre(), 2)
        self.screenshot("phone")
        for selector in ("#more", "#view", "#menu-toggle"):
            box = page.box(selector)
            self.assertTrue(0 <= box["left"] < box["right"] <= 390, f"{selector} lies outside: {box}")

    def test_the_page_fits_a_width_of_320_pixels(self):
        page = self.begin()
        inputs.screen(page.browser, 320, 568, 2, True)
        page.rest()
        self.assertLessEqual(page.run("return document.scrollingElement.scrollWidth"), 320)

    def test_the_viewport_makes_room_for_the_keyboard(self):
        page = self.begin()
        viewport = page.run("return document.querySelector('meta[name=viewport]').content")
        self.assertIn("interactive-widget=resizes-content", viewport)

    def test_every_field_of_the_dialog_stays_visible_above_the_keyboard(self):
        page = self.begin()
        inputs.tap(page.browser, *page.middle_of("#menu-toggle"))
        page.appears("#add")
        inputs.tap(page.browser, *page.middle_of("#add"))
        page.until("document.querySelector('#album-dialog').open")
        for name in ("title", "artist", "genre", "year", "coverUrl"):
            page.run("document.querySelector(`#album-dialog [name=${arguments[0]}]`).focus()", name)
            inputs.screen(page.browser, 390, 844 - KEYBOARD, 3, True)
            self.field_is_visible(page, name, 844 - KEYBOARD)
            if name == "coverUrl":
                self.screenshot("phone-keyboard")
            inputs.screen(page.browser, 390, 844, 3, True)
            self.field_is_visible(page, name, 844)
        # The buttons are reachable while the keyboard is open.
        inputs.screen(page.browser, 390, 844 - KEYBOARD, 3, True)
        self.field_is_visible(page, "coverUrl", 844 - KEYBOARD)
        page.rest()
        page.run("document.querySelector('#album-save').scrollIntoView({block: 'nearest'})")
        box = page.box("#album-save")
        self.assertLessEqual(box["bottom"], 844 - KEYBOARD)

    def field_is_visible(self, page, name, height):
        page.until(
            """(field => {
                const box = field.getBoundingClientRect(), view = visualViewport;
                const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
                return box.top >= 0 && box.bottom <= view.height && box.left >= 0 && box.right <= view.width && hit === field
                    && document.activeElement === field;
            })(document.querySelector(`#album-dialog [name=${arguments[0]}]`))""", name, what=f"{name} within the visible part")

    def test_the_page_is_as_it_was_when_the_keyboard_has_gone(self):
        page = self.begin()
        before = [page.box(selector) for selector in ("#covers", "#search", "#facts")]
        page.focus("#search")
        inputs.screen(page.browser, 390, 844 - KEYBOARD, 3, True)
        box = page.box("#search")
        self.assertTrue(0 <= box["top"] and box["bottom"] <= 844 - KEYBOARD)
        page.run("document.activeElement.blur()")
        inputs.screen(page.browser, 390, 844, 3, True)
        page.run("scrollTo(0, 0)")
        page.rest()
        self.assertEqual([page.box(selector) for selector in ("#covers", "#search", "#facts")], before)
        self.assertLess(page.off_centre(), 2)

    def test_turning_the_phone_keeps_the_chosen_cover_in_the_middle(self):
        page = self.begin()
        page.focus_covers()
        page.press("End")
        page.wait_for_place(12)
        inputs.screen(page.browser, 844, 390, 3, True)
        self.assertEqual(page.wait_for_place(12)["place"], 12)
        self.assertLess(page.off_centre(), 2)
        self.assertLessEqual(page.run("return document.scrollingElement.scrollWidth"), 844)
