"""Several albums at once, on the wall."""
import inputs
from case import GalleryTest
from selenium.webdriver import ActionChains, Keys


class Several(GalleryTest):
    def begin(self):
        albums = self.stage.albums(9)
        albums[4]["coverUrl"] = f"{self.stage.origin.base}/covers/5.jpg?status=404"
        self.stage.serve(albums)
        page = self.open().wall()
        page.covers_settle()
        return page

    def tile(self, page, place): return page.find(f"#wall [aria-posinset='{place}']")

    def click(self, page, place, key=None):
        chain = ActionChains(page.browser, duration=0)
        if key: chain.key_down(key)
        chain.click(self.tile(page, place))
        if key: chain.key_up(key)
        chain.perform()

    def picked(self, page):
        return page.run("return [...document.querySelectorAll('#wall [aria-checked=true]')].map((each) => Number(each.ariaPosInSet))")

    def test_they_are_chosen_by_clicks_with_control_and_shift_and_deleted_and_restored_in_one_step(self):
        page = self.begin()
        self.click(page, 2, Keys.CONTROL)
        self.assertEqual(self.picked(page), [2])
        self.click(page, 4, Keys.SHIFT)
        self.click(page, 7)  # once one is chosen, a plain click adds
        self.click(page, 3)
        self.assertEqual(self.picked(page), [2, 4, 7])
        self.assertEqual(page.text("#several-count"), "3 albums")
        self.assertTrue(page.visible("#wall"), "no album was opened")
        page.press("Delete")
        page.size(6)
        self.assertFalse(page.visible("#several"))
        self.eventually(lambda: [album["title"][-1] for album in self.stage.saved()] == list("135689"), "the file")
        page.click("#toast-action")
        page.size(9)
        self.eventually(lambda: [album["title"][-1] for album in self.stage.saved()] == list("123456789"), "the file, restored")

    def test_keys_choose_them_and_escape_chooses_none_before_it_does_anything_else(self):
        page = self.begin()
        page.search("album")
        page.focus_covers()
        page.press("Home")
        for _ in range(2):
            page.press("Control", " ")
            page.press("Right")
        self.assertEqual(self.picked(page), [1, 2])
        self.assertEqual(page.run("return document.querySelector('#wall').ariaMultiSelectable"), "true")
        page.press("Escape")
        self.assertEqual(self.picked(page), [])
        self.assertEqual(page.run("return document.querySelector('#search').value"), "album")

    def test_back_ends_the_choice_and_nothing_else(self):
        page = self.begin()
        page.find("#wall [aria-posinset='3']").click()
        page.browser.back()
        address = page.browser.current_url
        for end in [page.browser.back, lambda: page.click("#several-done"), lambda: self.click(page, 2)]:
            self.click(page, 2, Keys.CONTROL)
            self.assertEqual(self.picked(page), [2])
            end()
            self.eventually(lambda: (self.picked(page), page.browser.current_url, page.visible("#wall")) == ([], address, True), "nothing is chosen")
        self.eventually(lambda: page.run("return !document.querySelector('#several:not([hidden])')"), "the bar is gone")
        page.browser.back()
        self.eventually(lambda: page.browser.current_url != address, "the choice has left no entry")

    def test_opening_an_album_ends_the_choice_so_that_no_album_is_deleted_that_is_not_seen(self):
        page = self.begin()
        self.click(page, 2, Keys.CONTROL)
        self.click(page, 4, Keys.CONTROL)
        page.press("Control", "a")
        self.assertEqual(len(self.picked(page)), 9)
        page.press("Enter")
        page.appears("#covers")
        self.assertFalse(page.visible("#several"))
        page.press("Delete")
        page.size(8)
        page.press("Escape")
        page.appears("#wall")

    def test_those_that_failed_are_tried_again(self):
        page = self.begin()
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
        page.click("#several-retry")
        page.until("again.length === 1", what="the failed one to be asked for again")
        self.assertEqual(self.picked(page), [])

    def test_a_long_press_chooses_one_and_a_swipe_does_not(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        box = self.tile(page, 1).rect
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        inputs.pointer(page.browser, "touch", (x, y), "down", 0.7, "up")
        self.assertEqual(self.picked(page), [1])
        inputs.tap(page.browser, x + box["width"] + 12, y)
        page.until("document.querySelectorAll('#wall [aria-checked=true]').length === 2", what="the second one")
        page.click("#several-done")
        inputs.pointer(page.browser, "touch", (x, y), "down", *inputs.between((x, y), (x, y - 60)), 0.7, "up")
        self.assertEqual(self.picked(page), [])
        inputs.tap(page.browser, x, y)
        page.appears("#covers")
