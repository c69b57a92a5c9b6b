"""Page widths from the smallest phone to a desktop: no overlaps, and no clipping without a visible edge."""
import inputs
from case import GalleryTest

SIZES = ((320, 568), (360, 640), (390, 844), (480, 800), (600, 800), (705, 800), (768, 1024), (900, 700), (1024, 768), (1280, 800))
LONG = "The Very Long and Winding Title of an Album That Nobody Ever Managed to Print on a Spine, Anniversary Edition"


class Widths(GalleryTest):
    def shared(self):
        albums = self.common.albums(12)
        albums[1].update(title=LONG, artist=LONG)
        return albums

    def begin(self):
        page = self.open()
        page.focus_covers().press("Right").wait_for_place(2)
        return page

    def sizes(self, page):
        for width, height in SIZES:
            inputs.screen(page.browser, width, height, 1, width < 500)
            page.rest()
            yield width

    BOXES = """
        return $$(arguments[0]).filter((each) => each.checkVisibility()).map((each) => {
            const {left, top, right, bottom} = each.getBoundingClientRect();
            return {name: each.id || each.className, left, top, right, bottom};
        });"""

    def test_the_head_is_one_row_with_room_for_a_word_and_its_menu_within_the_page(self):
        page = self.begin().wall()
        for width in self.sizes(page):
            controls = page.run(self.BOXES, ".bar > :is(.place, .find, button)")
            self.assertEqual(len({round(box["top"]) for box in controls}), 1, width)
            for one, other in zip(controls, controls[1:]):
                self.assertLess(one["right"], other["left"], f"{width}: {one}, {other}")
            self.assertGreaterEqual(controls[0]["left"], 0)
            page.focus("#search")
            self.assertGreater(page.box("#search")["width"], 70, width)
            page.run("document.activeElement.blur()")
            self.assertLess(page.value("document.documentElement.clientWidth") - controls[-1]["right"], 40, f"{width}: the menu is not at the right")
            for menu in ("show", "order-toggle", "menu-toggle"):
                page.click(f"#{menu}")
                for box in page.run(self.BOXES, "[role=menu], [role=menu] button"):
                    self.assertTrue(0 <= box["left"] and box["right"] <= width, f"{width}: {box}")
                page.press("Escape")

    def test_a_long_title_keeps_clear_of_the_buttons_nothing_scrolls_within_the_page_and_the_words_are_beside_the_cover_or_below_it(self):
        page = self.begin()
        for width in self.sizes(page):
            texts = page.run("""
                return ['#chosen-title', '#chosen-artist'].map((selector) => {
                    const range = document.createRange();
                    range.selectNodeContents($(selector));
                    const clip = $(selector).getBoundingClientRect(), text = range.getBoundingClientRect();
                    return [Math.max(clip.left, text.left), Math.min(clip.right, text.right), clip.top, clip.bottom];
                });""")
            for button in page.run(self.BOXES, "#replace, #more"):
                for left, right, top, bottom in texts:
                    beside = right <= button["left"] or button["right"] <= left
                    self.assertTrue(beside or bottom <= button["top"] or button["bottom"] <= top, f"{width}: {button['name']}")
            self.assertEqual(page.value("""
                $$('main, main *').filter((each) => each.scrollHeight > each.clientHeight + 1
                    && ['auto', 'scroll'].includes(getComputedStyle(each).overflowY)).map((each) => each.id)"""), [], width)
            self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), width)
        for width, height in ((390, 844), (768, 1024), (844, 390), (1280, 800), (2560, 1440)):
            inputs.screen(page.browser, width, height)
            page.rest()
            cover, words, covers = (page.box(each) for each in ("#covers [aria-selected=true]", "#chosen-title", "#covers"))
            if width < 800:
                self.assertTrue(0 < words["top"] - cover["bottom"] < 80, (width, cover, words))
            else:
                self.assertGreater(words["left"], covers["right"], width)
                self.assertLess(abs((cover["top"] + cover["bottom"] - covers["top"] - covers["bottom"]) / 2), 2, width)
                self.assertGreater(cover["height"], 0.75 * (height - 52), "as large as the window allows")
            self.assertLess(page.off_centre(), 1)
            self.screenshot(f"stage-{width}")
