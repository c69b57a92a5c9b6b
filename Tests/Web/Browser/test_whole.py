"""The whole picture of the chosen cover, and pictures that are far from square."""
import inputs
from case import GalleryTest

OPEN = "document.querySelector('#viewer').matches(':modal')"
PICTURE = "document.querySelector('#viewer-picture')"


class Whole(GalleryTest):
    motion = True

    def shared(self):
        return self.common.albums(6)

    def begin(self):
        page = self.open()
        page.covers_settle()
        page.rest()
        return page

    def assert_whole(self, page):
        page.until(f"{OPEN} && {PICTURE}.complete && {PICTURE}.naturalWidth", what="the picture")
        self.assertEqual(page.run(f"return getComputedStyle({PICTURE}).objectFit"), "contain")
        outside = page.run(f"""
            const box = {PICTURE}.getBoundingClientRect();
            return box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight;""")
        self.assertFalse(outside, "part of the picture is outside of the window")

    def begin_whole(self):
        """Opens the whole picture of the first album, without motion."""
        page = self.begin()
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.focus_covers()
        page.press("Enter")
        self.assert_whole(page)
        return page

    def test_a_click_on_the_chosen_cover_shows_its_whole_picture_and_escape_closes_it(self):
        page = self.begin()
        inputs.click(page.browser, *page.place_of(1))
        self.assert_whole(page)
        self.screenshot("whole")
        name = page.run(f"return {PICTURE}.alt")
        self.assertIn("Album 00001", name)
        self.assertEqual(page.run("return document.querySelector('#viewer').getAttribute('aria-labelledby')"), "viewer-picture")
        page.press("Escape")
        page.until(f"!{OPEN}", what="the picture to close")
        page.until("document.activeElement?.id === 'covers'", what="the focus on the covers")

    def test_enter_shows_the_whole_picture_and_keys_do_not_change_the_page_behind_it(self):
        page = self.begin()
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        page.press("Enter")
        self.assert_whole(page)
        self.assertIn("Album 00002", page.run(f"return {PICTURE}.alt"))
        page.press("Delete")
        page.press("Right")
        page.until(f"{PICTURE}.alt.includes('Album 00003')", what="the next cover")
        self.assert_whole(page)
        self.assertEqual(page.text("#viewer-title"), "Album 00003")
        page.press("Left")
        page.until(f"{PICTURE}.alt.includes('Album 00002')", what="the cover before")
        page.press("Enter")  # the focus is on the button that closes
        page.until(f"!{OPEN}", what="the picture to close")
        page.until("document.activeElement?.id === 'covers'", what="the focus on the covers")
        self.assertEqual(page.chosen()["place"], 2)
        self.assertEqual(page.chosen()["of"], 6)

    def test_a_tap_opens_and_closes_and_a_drag_or_another_cover_does_not_open(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        inputs.tap(page.browser, *page.place_of(2))
        page.wait_for_place(2)
        self.assertFalse(page.run(f"return {OPEN}"), "the tap chose another album")
        x, y = page.place_of(2)
        inputs.drag(page.browser, (x, y), (x - 40, y), "touch")
        page.rest()
        self.assertFalse(page.run(f"return {OPEN}"), "that was a drag")
        inputs.tap(page.browser, *page.place_of(2))
        self.assert_whole(page)
        self.screenshot("whole-phone")
        inputs.tap(page.browser, 190, 400)
        page.until(f"!{OPEN}", what="the picture to close")


    def test_a_swipe_goes_to_the_next_cover_and_the_actual_size_scrolls(self):
        page = self.begin()
        inputs.phone(page.browser)
        # While the cover grows, a swipe would not be about it.
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.rest()
        inputs.tap(page.browser, *page.place_of(1))
        self.assert_whole(page)
        inputs.pointer(page.browser, "touch", (300, 400), "down", *inputs.between((300, 400), (100, 400)), "up")
        page.until(f"{OPEN} && {PICTURE}.alt.includes('Album 00002')", what="the next cover")
        page.run("document.querySelector('#viewer-zoom').click()")
        self.assertEqual(page.run("return getComputedStyle(document.querySelector('#viewer')).overflowY"), "auto")
        page.run("document.querySelector('#viewer-zoom').click()")
        inputs.screen(page.browser, 160, 140)
        page.run("document.querySelector('#viewer-zoom').click()")
        self.assertGreater(page.run("return document.querySelector('#viewer').scrollHeight"), 190, "the actual size")
        self.assertLess(page.run("""
            const viewer = document.querySelector('#viewer'), {left, right, top, bottom} = document.querySelector('#viewer-picture').getBoundingClientRect();
            return Math.max(Math.abs(left + right - viewer.clientWidth), Math.abs(top + bottom - viewer.clientHeight));"""), 3, "its middle is seen first")
        page.run("document.querySelector('#viewer-close').click()")
        page.until(f"!{OPEN}", what="the picture to close")
        self.assertEqual(page.chosen()["place"], 2)

    def test_only_a_picture_that_is_larger_than_it_is_shown_has_an_actual_size_to_go_to(self):
        page = self.begin_whole()
        self.assertGreater(page.box("#viewer-picture")["width"], page.run(f"return {PICTURE}.naturalWidth"))
        self.assertFalse(page.visible("#viewer-zoom"))
        inputs.screen(page.browser, 160, 140)
        page.appears("#viewer-zoom")
        page.focus("#viewer-zoom")
        inputs.screen(page.browser, 1280, 800)
        page.appears("#viewer-zoom", False)
        page.press("Right")
        page.until(f"{PICTURE}.alt.includes('Album 00002')", what="the next cover, though the button that had the focus is gone")

    def test_back_closes_it_where_it_is_and_leaves_no_entry_behind(self):
        page = self.begin_whole()
        before = page.run("return history.length")
        page.press("Right")
        page.until(f"{PICTURE}.alt.includes('Album 00002')", what="the next cover")
        page.browser.back()
        page.until(f"!{OPEN}", what="the picture to close")
        page.wait_for_place(2)
        page.until("document.activeElement?.id === 'covers'", what="the focus on the covers")
        for _ in range(3):
            page.press("Enter")
            page.until(OPEN, what="the picture")
            page.press("Escape")
            page.until(f"!{OPEN}", what="the picture to close")
        self.assertEqual(page.run("return history.length"), before)
        self.assertEqual(page.chosen()["place"], 2)

    def test_a_picture_is_at_most_twice_as_large_as_it_is(self):
        page = self.begin_whole()
        natural = page.run(f"return {PICTURE}.naturalWidth")
        inputs.screen(page.browser, 2560, 1440)
        page.until(f"{PICTURE}.clientWidth > 1.9 * arguments[0]", natural, what="a large picture")
        self.assertLessEqual(page.box("#viewer-picture")["width"], 2 * natural)

    def test_a_change_of_the_view_moves_the_tile_of_an_album_with_or_without_a_picture(self):
        page = self.begin()
        page.run("""
            const start = document.startViewTransition.bind(document);
            window.moved = [];
            const record = () => window.moved.push([...document.querySelectorAll('.cover')].filter((each) => each.style.viewTransitionName === 'cover')
                .map((each) => [each.parentElement.closest('[role=listbox]').id, each.dataset.title]));
            document.startViewTransition = (change) => (record(), start(async () => { await change(); record(); }));""")
        page.wall()
        self.assertEqual(page.run("return window.moved"), [[["covers", "Album 00001"]], [["wall", "Album 00001"]]])

    def test_the_actual_size_is_moved_by_keys_and_by_the_mouse_and_escape_leads_back_to_the_whole_picture(self):
        page = self.begin_whole()
        inputs.screen(page.browser, 160, 140)
        page.appears("#viewer-zoom")
        page.click("#viewer-zoom")
        place = "[document.querySelector('#viewer').scrollLeft, document.querySelector('#viewer').scrollTop]"
        left, top = page.run(f"return {place}")
        page.press("Right")
        page.until(f"{place}[0] > arguments[0]", left, what="the picture to move")
        page.press("Up")
        page.until(f"{place}[1] < arguments[0]", top, what="the picture to move")
        left, top = page.run(f"return {place}")
        inputs.pointer(page.browser, "mouse", (60, 60), "down", *inputs.between((60, 60), (100, 60)), "up")
        page.until(f"{place}[0] < arguments[0] - 20", left, what="the picture to follow the mouse")
        self.assertTrue(page.run(f"return {OPEN}"), "a drag is no click")
        page.press("Escape")
        page.until("!document.querySelector('#viewer').classList.contains('zoomed')", what="the whole picture")
        self.assertTrue(page.run(f"return {OPEN}"))
        page.press("Escape")
        page.until(f"!{OPEN}", what="the picture to close")


class Failed(GalleryTest):
    def test_after_a_whole_picture_an_album_without_one_shows_none_and_says_why(self):
        self.stage.write_library([
            {"title": title, "artist": "A", "coverUrl": f"{self.stage.origin.base}/covers/{number}.jpg{query}"}
            for number, (title, query) in enumerate([("One", ""), ("Two", "?status=404")], 1)])
        self.stage.start_server()
        page = self.open()
        page.covers_settle()
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.focus_covers()
        page.press("Home", "Enter")
        page.until(f"{OPEN} && {PICTURE}.naturalWidth", what="the whole picture")
        page.press("Right")
        page.until(f"{PICTURE}.alt.includes('Two')", what="the next album")
        self.assertFalse(page.run(f"return {PICTURE}.hasAttribute('src')"))
        self.assertIn("404", page.text("#viewer-artist"))

    def test_a_long_title_is_whole_below_the_picture(self):
        album = self.stage.albums(1)[0] | {"title": "A Title of Many Words " * 12}
        self.stage.serve([album])
        page = self.open()
        page.covers_settle()
        inputs.phone(page.browser)
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.focus_covers()
        page.press("Enter")
        page.until(f"{OPEN} && {PICTURE}.naturalWidth", what="the whole picture")
        cut = page.run("const title = document.querySelector('#viewer-title'); return [title.scrollWidth > title.clientWidth, getComputedStyle(title).whiteSpace]")
        self.assertEqual(cut, [False, "normal"])
        self.screenshot("whole-long-title")

    def test_a_cover_that_failed_has_no_whole_picture(self):
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
