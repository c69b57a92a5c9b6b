"""Several albums at once, on the wall."""
import inputs
from case import GalleryTest
from selenium.webdriver import ActionChains, Keys


class SeveralTest(GalleryTest):
    expected = ("Failed to load resource",)

    def albums(self):
        albums = self.stage.albums(9)
        albums[4]["coverUrl"] = f"{self.stage.origin.base}/covers/5.jpg?status=404"
        return albums

    def begin(self):
        return self.open().wall().settled()

    def click(self, page, place, key=None):
        chain = ActionChains(page.browser, duration=0)
        if key: chain.key_down(key)
        chain.click(page.find(f"#wall [aria-posinset='{place}']"))
        if key: chain.key_up(key)
        chain.perform()

    def picked(self, page):
        return page.value("$$('#wall [aria-checked=true]').map((each) => Number(each.ariaPosInSet))")


class Deleting(SeveralTest):
    def test_they_are_chosen_by_clicks_with_control_and_shift_and_deleted_and_restored_in_one_step(self):
        self.stage.serve(self.albums())
        page = self.begin()
        self.click(page, 2, Keys.CONTROL)
        self.assertEqual(self.picked(page), [2])
        self.click(page, 4, Keys.SHIFT)
        self.click(page, 7)  # once one is chosen, a plain click adds
        self.click(page, 3)
        self.assertEqual(self.picked(page), [2, 4, 7])
        self.assertEqual(page.text("#several-count"), "3 albums")
        self.assertTrue(page.visible("#wall"), "no album was opened")
        page.press("Delete").size(6)
        self.assertFalse(page.visible("#several"))
        self.saved_becomes([f"Album {n:05}" for n in (1, 3, 5, 6, 8, 9)])
        page.click("#toast-action").size(9)
        self.saved_becomes([f"Album {n:05}" for n in range(1, 10)])
        # No album is deleted that is not seen: opening one ends the choice.
        self.click(page, 2, Keys.CONTROL)
        self.click(page, 4, Keys.CONTROL)
        page.press("Control", "a")
        self.assertEqual(len(self.picked(page)), 9)
        page.press("Enter").appears("#covers")
        self.assertFalse(page.visible("#several"))
        page.press("Delete").size(8)
        page.press("Escape").appears("#wall")


class Choosing(SeveralTest):
    def shared(self):
        return self.albums()

    def test_keys_choose_them_escape_chooses_none_before_it_does_anything_else_and_those_that_failed_are_tried_again(self):
        page = self.begin().search("album").focus_covers().press("Home")
        for _ in range(2):
            page.press("Control", " ").press("Right")
        self.assertEqual(self.picked(page), [1, 2])
        self.assertEqual(page.value("$('#wall').ariaMultiSelectable"), "true")
        page.press("Escape")
        self.assertEqual(self.picked(page), [])
        self.assertEqual(page.value("$('#search').value"), "album")
        self.click(page, 1, Keys.CONTROL)
        self.assertFalse(page.visible("#several-retry"))
        self.click(page, 5, Keys.CONTROL)
        page.run("""
            const original = fetch;
            window.again = [];
            window.fetch = (path, request) => {
                if (path === 'api/covers') again.push(...JSON.parse(request.body).again ?? []);
                return original(path, request);
            };""")
        page.click("#several-retry").wait("again.length === 1", what="the failed one to be asked for again")
        self.assertEqual(self.picked(page), [])

    def test_back_ends_the_choice_and_nothing_else(self):
        page = self.begin()
        self.click(page, 3)
        page.back()
        address = page.browser.current_url
        for end in (page.back, lambda: page.click("#several-done"), lambda: self.click(page, 2)):
            self.click(page, 2, Keys.CONTROL)
            self.assertEqual(self.picked(page), [2])
            end()
            page.wait("!$('#wall [aria-checked=true]') && location.href === arguments[0] && $('#wall').checkVisibility()", address, what="nothing is chosen")
        page.wait("!$('#several:not([hidden])')", what="the bar is gone")
        page.back()
        self.eventually(lambda: page.browser.current_url != address, "the choice has left no entry")

    def test_a_long_press_chooses_one_and_a_swipe_does_not(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        box, (x, y) = page.box("#wall [aria-posinset='1']"), page.place_of(1)
        inputs.pointer(page.browser, "touch", (x, y), "down", 0.7, "up")
        self.assertEqual(self.picked(page), [1])
        inputs.tap(page.browser, x + box["width"] + 12, y)
        page.wait("$$('#wall [aria-checked=true]').length === 2", what="the second one")
        page.click("#several-done")
        inputs.pointer(page.browser, "touch", (x, y), "down", *inputs.between((x, y), (x, y - 60)), 0.7, "up")
        self.assertEqual(self.picked(page), [])
        inputs.tap(page.browser, x, y)
        page.appears("#covers")
