"""The stage: one tap to a cover, its own pixels, and what leads back."""
import inputs
from case import GalleryTest

OPEN = "document.querySelector('#zoom').matches(':modal')"
PICTURE = "document.querySelector('#zoom-picture')"


class OnStage(GalleryTest):
    motion = True

    def shared(self):
        return self.common.albums(6)

    def begin(self):
        page = self.open()
        page.covers_settle()
        page.rest()
        return page

    def on_stage(self, page, place):
        page.appears("#covers")
        page.wait_for_place(place)
        self.assertLess(page.off_centre(), 1)

    def test_the_page_opens_on_the_wall_and_a_click_or_enter_shows_an_album_which_back_or_escape_closes(self):
        page = self.open()
        page.leave()
        page.open(page.server.address + "#view=wall")
        page.covers_settle()
        for name, show in (("click", lambda: inputs.click(page.browser, *page.place_of(3))), ("Enter", lambda: page.press("Enter"))):
            show()
            self.on_stage(page, 3)
            self.assertRegex(page.run("return location.hash"), "^#/album/[0-9a-f]+$", name)
            self.assertEqual(page.text("#count"), "3 of 6")
            page.until("document.activeElement?.id === 'covers'", what="the focus on the covers")
            if name == "click":
                page.browser.back()
            else:
                page.press("Escape")
            page.appears("#wall")
            self.assertEqual(page.wait_for_place(3)["of"], 6)
            self.assertEqual([page.text("#show"), page.text("#count")], ["Albums", "6"])
            page.focus_covers()

    def test_the_address_of_an_album_leads_to_it_after_a_reload_and_elsewhere(self):
        page = self.begin()
        page.focus_covers()
        page.press("Right")
        chosen = page.wait_for_place(2)
        page.until("location.hash === `#/album/${arguments[0]}`", chosen["id"], what="the album in the address")
        address = page.run("return location.href")
        page.press("End")
        page.wait_for_place(6)
        page.leave()
        page.open(address)
        self.on_stage(page, 2)

    def test_what_leads_to_the_stage_and_back_moves_the_tile_of_an_album_with_or_without_a_picture(self):
        page = self.begin()
        page.run("""
            const start = document.startViewTransition.bind(document);
            window.moved = [];
            const record = () => window.moved.push([...document.querySelectorAll('.cover')].filter((each) => each.style.viewTransitionName === 'cover')
                .map((each) => [each.parentElement.closest('[role=listbox]').id, each.dataset.title]));
            document.startViewTransition = (change) => (record(), start(async () => { await change(); record(); }));""")
        page.wall()
        self.assertEqual(page.run("return window.moved"), [[["covers", "Album 00001"]], [["wall", "Album 00001"]]])

    def test_a_tap_on_a_neighbour_brings_it_to_the_middle_and_a_drag_opens_nothing(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        inputs.tap(page.browser, *page.place_of(2))
        self.on_stage(page, 2)
        x, y = page.place_of(2)
        inputs.drag(page.browser, (x, y), (x - 40, y), "touch")
        page.rest()
        self.on_stage(page, 2)
        self.assertFalse(page.run(f"return {OPEN}"), "that was a drag")


class Resting(GalleryTest):
    motion = True

    def test_after_covers_were_recycled_every_rest_is_on_a_centre(self):
        page = self.shared_gallery(80)
        page.covers_settle()
        x, y = page.middle_of("#covers")
        for place in range(1, 41, 4):
            page.focus_covers()
            page.press("Page_Down")
            page.rest()
            inputs.drag(page.browser, (x + 250, y), (x - 250 - place, y))
            page.rest()
            self.assertLess(page.off_centre(), 1, page.chosen())
            self.assertLessEqual(page.run("return document.querySelectorAll('#covers .cover').length"), 40)


class Leading(GalleryTest):
    """What leads to the stage and away from it."""

    def shared(self):
        return self.common.albums(60)

    def on_wall(self):
        page = self.open()
        page.leave()
        page.open(page.server.address + "#view=wall")
        page.covers_settle()
        return page

    def test_a_window_of_another_size_keeps_the_album(self):
        page = self.open()
        page.covers_settle()
        page.focus_covers()
        for key in ("Page_Down", "Page_Down", "Page_Down"):
            page.press(key)
        page.wait_for_place(31)
        for width, height in ((1000, 800), (1920, 1080), (800, 600), (1280, 400), (600, 900), (1920, 1080), (900, 700)):
            inputs.screen(page.browser, width, height)
            page.rest()
            page.run("await new Promise((resolve) => setTimeout(resolve, 200))")
            self.assertEqual(page.chosen()["place"], 31, width)
            self.assertLess(page.off_centre(), 1, width)

    def test_closing_an_album_leaves_no_entry_behind(self):
        page = self.on_wall()
        page.focus_covers()
        page.press("Enter")
        page.appears("#covers")
        before = page.run("return history.length")
        for close in ("#view", None, "#view"):
            page.click(close) if close else page.press("Escape")
            page.appears("#wall")
            page.until("document.activeElement?.id === 'wall'", what="the focus on the wall")
            page.press("Enter")
            page.appears("#covers")
        self.assertEqual(page.run("return history.length"), before)

    def test_escape_leads_from_a_result_to_the_wall_of_results_with_that_album(self):
        page = self.on_wall()
        page.search("album 0004")
        page.size(11)
        page.press("Down")
        page.press("Right")
        page.press("Enter")
        page.appears("#covers")
        name = page.chosen()["name"]
        page.press("Escape")
        page.appears("#wall")
        self.assertEqual([page.chosen()["name"], page.chosen()["of"]], [name, 11])

    def test_the_address_of_an_album_that_is_gone_leads_to_the_wall_and_says_so(self):
        page = self.open()
        page.leave()
        page.open(page.url + "#/album/nope")
        page.status("no longer in the library")
        self.assertTrue(page.visible("#wall"))


class OwnPixels(GalleryTest):
    def shared(self):
        return self.common.albums(6)

    def begin(self):
        """Opens the first album's picture in a window that is smaller than it."""
        page = self.open()
        page.covers_settle()
        inputs.screen(page.browser, 200, 190)
        page.rest()
        page.focus_covers()
        page.press("Enter")
        page.until(f"{OPEN} && {PICTURE}.naturalWidth", what="the picture")
        return page

    def test_a_picture_is_at_most_twice_as_large_as_it_is_and_has_no_pixels_to_show_then(self):
        page = self.open()
        inputs.screen(page.browser, 2560, 1440)
        page.covers_settle()
        natural = page.run("const picture = new Image(); picture.src = document.querySelector('#save').value; await picture.decode(); return picture.naturalWidth")
        self.assertLess(abs(page.box("#covers [aria-selected=true] .picture")["width"] - 2 * natural), 3)
        page.until("document.querySelectorAll('#covers [data-state=ready]').length > 1", what="a neighbour")
        boxes = page.run("""
            return [...document.querySelectorAll('#covers [data-state=ready] > .picture')]
                .map((each) => [each.clientWidth < 900, getComputedStyle(each.parentElement).backgroundColor]);""")
        self.assertEqual({tuple(box) for box in boxes}, {(True, "rgba(0, 0, 0, 0)")}, "a neighbour has its own size, too, and nothing around it")
        page.focus_covers()
        page.press("Enter")
        page.run("await new Promise((resolve) => setTimeout(resolve, 300))")
        self.assertFalse(page.run(f"return {OPEN}"))

    def test_its_middle_is_seen_first_and_keys_and_the_mouse_move_it(self):
        page = self.begin()
        name = page.run(f"return {PICTURE}.alt")
        self.assertIn("Album 00001", name)
        self.assertEqual(page.box("#zoom-picture")["width"], page.run(f"return {PICTURE}.naturalWidth"))
        self.assertLess(page.run("""
            const zoom = document.querySelector('#zoom'), {left, right, top, bottom} = document.querySelector('#zoom-picture').getBoundingClientRect();
            return Math.max(Math.abs(left + right - zoom.clientWidth), Math.abs(top + bottom - zoom.clientHeight));"""), 3)
        place = "[document.querySelector('#zoom').scrollLeft, document.querySelector('#zoom').scrollTop]"
        left, top = page.run(f"return {place}")
        page.press("Up")
        page.until(f"{place}[1] < arguments[0]", top, what="the picture to move")
        inputs.pointer(page.browser, "mouse", (60, 100), "down", *inputs.between((60, 100), (100, 100)), "up")
        page.until(f"{place}[0] < arguments[0] - 20", left, what="the picture to follow the mouse")
        page.press("Delete")
        self.assertTrue(page.run(f"return {OPEN}"), "a drag is no click, and keys are not the page's behind it")
        self.assertEqual(page.chosen()["of"], 6)
        page.press("Escape")
        page.until(f"!{OPEN}", what="the picture to close")
        page.until("document.activeElement?.id === 'covers'", what="the focus on the covers")
        self.assertFalse(page.run("return document.querySelector('#covers').hidden"), "one step")

    def test_back_and_a_click_close_it_where_it_is_and_leave_no_entry_behind(self):
        page = self.begin()
        before = page.run("return history.length")
        page.browser.back()
        page.until(f"!{OPEN}", what="the picture to close")
        for close in (lambda: page.press("Escape"), lambda: page.find("#zoom-close").click(), lambda: inputs.click(page.browser, 60, 120)):
            page.press("Enter")
            page.until(OPEN, what="the picture")
            close()
            page.until(f"!{OPEN}", what="the picture to close")
        self.assertEqual(page.run("return history.length"), before)
        self.assertEqual(page.chosen()["place"], 1)


class Words(GalleryTest):
    def test_a_long_title_is_whole(self):
        album = self.stage.albums(1)[0] | {"title": "A Title of Many Words " * 12}
        self.stage.serve([album])
        page = self.open()
        page.covers_settle()
        for width, height in ((390, 844), (844, 390), (1280, 800)):
            inputs.screen(page.browser, width, height)
            page.rest()
            cut = page.run("""
                const title = document.querySelector('#chosen-title'), words = document.querySelector('#details');
                return [title.scrollWidth > title.clientWidth, title.scrollHeight > title.clientHeight + 1, words.scrollWidth > words.clientWidth];""")
            self.assertEqual(cut, [False] * 3, width)

    def test_a_cover_that_failed_has_no_pixels_to_show(self):
        page = self.gallery(2, warm=False, query="?status=404")
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        page.rest()
        inputs.click(page.browser, *page.place_of(1))
        page.focus_covers()
        page.press("Enter")
        page.rest()
        self.assertFalse(page.run(f"return {OPEN}"))


class Directions(GalleryTest):
    def test_titles_and_values_are_laid_out_in_their_own_direction(self):
        albums = self.stage.albums(2)
        albums[0] |= {"title": "ألف ليلة (1969)", "artist": "أم كلثوم", "genre": "טרב!"}
        self.stage.serve(albums)
        page = self.open()
        page.covers_settle()
        self.screenshot("right-to-left")
        texts = ["#chosen-title", "#chosen-artist", "#facts [data-field=genre]"]
        direction = "return arguments[0].map((each) => getComputedStyle(document.querySelector(each)).direction)"
        self.assertEqual(page.run(direction, texts), ["rtl"] * 3)
        page.edit()
        fields = [f"#album-dialog [name={name}]" for name in ("title", "artist", "genre")]
        self.assertEqual(page.run(direction, fields), ["rtl"] * 3)
        page.press("Escape")
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        self.assertEqual(page.run(direction, texts), ["ltr"] * 3)
        page.press("Left")
        page.wait_for_place(1)
        page.press("Delete")
        page.status("Deleted “ألف ليلة (1969)”")
        self.assertEqual(page.text("#status bdi"), albums[0]["title"])
