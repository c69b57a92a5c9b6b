"""The stage: one tap to a cover, its own pixels, and what leads back."""
import inputs
from case import GalleryTest

OPEN = "$('#zoom').matches(':modal')"
PICTURE = "$('#zoom-picture')"


class OnStage(GalleryTest):
    motion = True

    def on_stage(self, page, place):
        page.appears("#covers").wait_for_place(place)
        self.assertLess(page.off_centre(), 1)

    def test_the_page_opens_on_the_wall_and_a_click_or_enter_shows_an_album_which_back_or_escape_closes(self):
        page = self.shared_gallery(6).go("#view=wall").settled()
        for name, show in (("click", lambda: inputs.click(page.browser, *page.place_of(3))), ("Enter", lambda: page.press("Enter"))):
            show()
            self.on_stage(page, 3)
            self.assertRegex(page.value("location.hash"), "^#/album/[0-9a-f]+$", name)
            self.assertEqual(page.text("#count"), "3 of 6")
            page.wait("document.activeElement?.id === 'covers'", what="the focus on the covers")
            if name == "click":
                page.back()
            else:
                page.press("Escape")
            page.appears("#wall")
            self.assertEqual(page.wait_for_place(3)["of"], 6)
            self.assertEqual([page.text("#show"), page.text("#count")], ["Albums", "6"])
            page.focus_covers()

    def test_the_address_of_an_album_leads_to_it_and_that_of_one_that_is_gone_to_the_wall(self):
        page = self.shared_gallery(6).focus_covers().press("Right")
        address = page.address(f"#/album/{page.wait_for_place(2)['id']}")
        page.press("End").wait_for_place(6)
        page.go(address)
        self.on_stage(page, 2)
        page.go("#/album/nope").status("no longer in the library")
        self.assertTrue(page.visible("#wall"))

    def test_what_leads_to_the_stage_and_back_moves_the_tile_of_an_album_with_or_without_a_picture(self):
        page = self.shared_gallery(6).settled()
        page.run("""
            const start = document.startViewTransition.bind(document);
            window.moved = [];
            const record = () => window.moved.push($$('.cover').filter((each) => each.style.viewTransitionName === 'cover')
                .map((each) => [each.parentElement.closest('[role=listbox]').id, each.dataset.title]));
            document.startViewTransition = (change) => (record(), start(async () => { await change(); record(); }));""")
        page.wall()
        self.assertEqual(page.value("moved"), [[["covers", "Album 00001"]], [["wall", "Album 00001"]]])


class Resting(GalleryTest):
    motion = True

    def test_after_covers_were_recycled_every_rest_is_on_a_centre(self):
        page = self.shared_gallery(80).settled()
        x, y = page.middle_of("#covers")
        for place in range(1, 41, 7):
            page.focus_covers().press("Page_Down").rest()
            inputs.drag(page.browser, (x + 250, y), (x - 250 - place, y))
            page.rest()
            self.assertLess(page.off_centre(), 1, page.chosen())
            self.assertLessEqual(page.value("$$('#covers .cover').length"), 40)


class Leading(GalleryTest):
    """What leads to the stage and away from it."""

    def test_a_window_of_another_size_keeps_the_album(self):
        page = self.shared_gallery(60).settled().focus_covers()
        for _ in range(3):
            page.press("Page_Down")
        page.wait_for_place(31)
        for width, height in ((1000, 800), (1920, 1080), (800, 600), (1280, 400), (600, 900), (1920, 1080), (900, 700)):
            inputs.screen(page.browser, width, height)
            page.rest()
            page.run("await new Promise((resolve) => setTimeout(resolve, 200))")
            self.assertEqual(page.chosen()["place"], 31, width)
            self.assertLess(page.off_centre(), 1, width)

    def test_closing_an_album_leaves_no_entry_behind_and_leads_to_the_wall_it_came_from_with_that_album(self):
        page = self.shared_gallery(60).go("#view=wall").settled()
        page.focus_covers().press("Enter").appears("#covers")
        before = page.value("history.length")
        for close in ("#view", None, "#view"):
            page.click(close) if close else page.press("Escape")
            page.appears("#wall").wait("document.activeElement?.id === 'wall'", what="the focus on the wall")
            page.press("Enter").appears("#covers")
        self.assertEqual(page.value("history.length"), before)
        page.search("album 0004").size(11)
        for key in ("Down", "Right", "Enter"):
            page.press(key)
        page.appears("#covers")
        name = page.chosen()["name"]
        page.press("Escape").appears("#wall")
        self.assertEqual([page.chosen()["name"], page.chosen()["of"]], [name, 11])


class OwnPixels(GalleryTest):
    def test_a_picture_is_at_most_twice_as_large_as_it_is_and_has_no_pixels_to_show_then(self):
        page = self.shared_gallery(6)
        inputs.screen(page.browser, 2560, 1440)
        page.settled()
        natural = page.run("const picture = new Image(); picture.src = $('#save').value; await picture.decode(); return picture.naturalWidth")
        self.assertLess(abs(page.box("#covers [aria-selected=true] .picture")["width"] - 2 * natural), 3)
        page.wait("$$('#covers [data-state=ready]').length > 1", what="a neighbour")
        boxes = page.value("$$('#covers [data-state=ready] > .picture')"
                           ".map((each) => [each.clientWidth < 900, getComputedStyle(each.parentElement).backgroundColor])")
        self.assertEqual({tuple(box) for box in boxes}, {(True, "rgba(0, 0, 0, 0)")}, "a neighbour has its own size, too, and nothing around it")
        page.focus_covers().press("Enter")
        page.run("await new Promise((resolve) => setTimeout(resolve, 300))")
        self.assertFalse(page.value(OPEN))

    def test_its_middle_is_seen_first_keys_and_the_mouse_move_it_and_whatever_closes_it_leaves_no_entry_behind(self):
        page = self.shared_gallery(6).settled()
        inputs.screen(page.browser, 200, 190)  # smaller than the picture
        page.rest()
        page.focus_covers().press("Enter")
        page.wait(f"{OPEN} && {PICTURE}.naturalWidth", what="the picture")
        before = page.value("history.length")
        self.assertIn("Album 00001", page.value(f"{PICTURE}.alt"))
        self.assertEqual(page.box("#zoom-picture")["width"], page.value(f"{PICTURE}.naturalWidth"))
        self.assertLess(page.run("""
            const zoom = $('#zoom'), {left, right, top, bottom} = $('#zoom-picture').getBoundingClientRect();
            return Math.max(Math.abs(left + right - zoom.clientWidth), Math.abs(top + bottom - zoom.clientHeight));"""), 3)
        place = "[$('#zoom').scrollLeft, $('#zoom').scrollTop]"
        left, top = page.value(place)
        page.press("Up").wait(f"{place}[1] < arguments[0]", top, what="the picture to move")
        inputs.pointer(page.browser, "mouse", (60, 100), "down", *inputs.between((60, 100), (100, 100)), "up")
        page.wait(f"{place}[0] < arguments[0] - 20", left, what="the picture to follow the mouse")
        page.press("Delete")
        self.assertTrue(page.value(OPEN), "a drag is no click, and keys are not the page's behind it")
        self.assertEqual(page.chosen()["of"], 6)
        for close in (page.back, lambda: page.press("Escape"), page.find("#zoom-close").click, lambda: inputs.click(page.browser, 60, 120)):
            if not page.value(OPEN):
                page.press("Enter").wait(OPEN, what="the picture")
            close()
            page.wait(f"!{OPEN}", what="the picture to close")
            page.wait("document.activeElement?.id === 'covers'", what="the focus on the covers")
            self.assertFalse(page.value("$('#covers').hidden"), "one step")
        self.assertEqual(page.value("history.length"), before)
        self.assertEqual(page.chosen()["place"], 1)


class Words(GalleryTest):
    def test_titles_and_values_are_laid_out_in_their_own_direction_and_a_long_one_is_whole(self):
        albums = self.stage.albums(3)
        albums[0] |= {"title": "ألف ليلة (1969)", "artist": "أم كلثوم", "genre": "טרב!"}
        albums[2]["title"] = "A Title of Many Words " * 12
        page = self.gallery_of(albums).settled()
        self.screenshot("right-to-left")
        texts = ["#chosen-title", "#chosen-artist", "#facts [data-field=genre]"]
        direction = "arguments[0].map((each) => getComputedStyle($(each)).direction)"
        self.assertEqual(page.value(direction, texts), ["rtl"] * 3)
        page.edit()
        self.assertEqual(page.value(direction, [f"#album-dialog [name={name}]" for name in ("title", "artist", "genre")]), ["rtl"] * 3)
        page.press("Escape").focus_covers().press("Right").wait_for_place(2)
        self.assertEqual(page.value(direction, texts), ["ltr"] * 3)
        page.press("Left").wait_for_place(1)
        page.press("Delete").status("Deleted “ألف ليلة (1969)”")
        self.assertEqual(page.text("#status bdi"), albums[0]["title"])
        page.press("End").wait_for_place(2)
        for width, height in ((390, 844), (844, 390), (1280, 800)):
            inputs.screen(page.browser, width, height)
            page.rest()
            # The last line's letters may reach some pixels below its line.
            cut = page.run("""
                const title = $('#chosen-title'), words = $('#details');
                return [title.scrollWidth > title.clientWidth, title.scrollHeight > title.clientHeight + 8, words.scrollWidth > words.clientWidth];""")
            self.assertEqual(cut, [False] * 3, width)
