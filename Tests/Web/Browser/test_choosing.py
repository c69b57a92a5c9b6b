"""Choosing an album by any input: its cover is centred and the table shows its fields."""
import inputs
from case import GalleryTest


class Choosing(GalleryTest):
    motion = True

    def shared(self):
        return self.common.albums(30)

    def begin(self):
        page = self.open()
        page.covers_settle()
        page.rest()
        return page

    def assert_chosen(self, page, place):
        chosen = page.wait_for_place(place)
        self.assertEqual(chosen["of"], 30)
        self.assertLess(page.off_centre(), 2, "the chosen cover is not in the middle")
        album = self.stage.saved()[place - 1]
        page.until("document.querySelector('#chosen-title').textContent === arguments[0]", album["title"], what="the album")
        self.assertEqual(
            {name.lower(): value for name, value in page.facts().items()},
            {"artist": album["artist"], "album": album["title"], "genre": album["genre"], "year": album["year"]})
        self.assertIn(album["title"], chosen["name"])
        self.assertIn(album["artist"], chosen["name"])
        self.assertEqual(page.run("return document.querySelectorAll('#covers [aria-selected=true]').length"), 1)

    def test_at_first_the_first_album_is_chosen(self):
        self.assert_chosen(self.begin(), 1)

    def test_a_click_chooses(self):
        page = self.begin()
        inputs.click(page.browser, *page.place_of(2))
        self.assert_chosen(page, 2)

    def test_a_tap_chooses(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        inputs.tap(page.browser, *page.place_of(2))
        self.assert_chosen(page, 2)

    def test_arrow_keys_choose_the_neighbour_and_stop_at_the_ends(self):
        page = self.begin()
        page.focus_covers()
        for key, place in (("Right", 2), ("Right", 3), ("Left", 2), ("Left", 1), ("Left", 1)):
            page.press(key)
            page.wait_for_place(place)
        self.assert_chosen(page, 1)

    def test_home_and_end_choose_the_first_and_the_last(self):
        page = self.begin()
        page.focus_covers()
        page.press("End")
        self.assert_chosen(page, 30)
        page.press("Right")
        self.assert_chosen(page, 30)
        page.press("Home")
        self.assert_chosen(page, 1)

    def test_keys_pressed_faster_than_the_covers_move_all_count(self):
        page = self.begin()
        page.focus_covers()
        for _ in range(12):
            page.press("Right")
        self.assert_chosen(page, 13)

    def chosen_elsewhere(self, page, start=1):
        page.until(
            "document.querySelector('#covers [aria-selected=true]')?.ariaPosInSet != arguments[0]", start, what="another album")
        page.rest()
        return page.chosen()["place"]

    def test_the_wheel_moves_on_and_comes_to_rest_on_a_cover(self):
        page = self.begin()
        for across, down in ((0, 600), (600, 0)):
            before = page.chosen()["place"]
            inputs.wheel(page.browser, *page.middle_of("#covers"), across=across, down=down)
            place = self.chosen_elsewhere(page, before)
            self.assertGreater(place, before)
            self.assert_chosen(page, place)

    def test_dragging_moves_on_and_comes_to_rest_on_a_cover(self):
        page = self.begin()
        x, y = page.middle_of("#covers")
        inputs.drag(page.browser, (x + 250, y), (x - 250, y))
        place = self.chosen_elsewhere(page)
        self.assertGreater(place, 1)
        self.assert_chosen(page, place)
        inputs.drag(page.browser, (x - 400, y), (x + 450, y))
        self.assertLess(self.chosen_elsewhere(page, place), place)

    def test_while_a_drag_lasts_title_highlight_and_position_follow_the_middle(self):
        page = self.begin()
        x, y = page.middle_of("#covers")
        inputs.press_and_drag(page.browser, (x + 300, y), (x - 300, y))
        page.rest()
        middle = page.until("""(() => {
            const all = document.querySelector('#covers').getBoundingClientRect(), middle = all.left + all.width / 2;
            // The middle may be between two covers.
            const distance = ({left, right}) => Math.abs((left + right) / 2 - middle);
            const [option] = [...document.querySelectorAll('#covers [role=option]')].sort((one, other) =>
                distance(one.getBoundingClientRect()) - distance(other.getBoundingClientRect()));
            return option.ariaPosInSet !== '1' && option.ariaSelected === 'true' && option.ariaPosInSet;
        })()""", what="the album in the middle to be chosen")
        self.assertTrue(page.run("return document.querySelector('#covers').classList.contains('dragging')"))
        title = self.stage.saved()[int(middle) - 1]["title"]
        self.assertEqual(page.text("#chosen-title"), title)
        self.assertTrue(page.text("#count").startswith(f"{middle} of 30"))
        inputs.release(page.browser)
        self.assert_chosen(page, int(middle))

    def test_a_finger_drags_the_covers(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        x, y = page.middle_of("#covers")
        inputs.drag(page.browser, (x + 120, y), (x - 150, y), "touch")
        place = self.chosen_elsewhere(page)
        self.assertGreater(place, 1)
        self.assert_chosen(page, place)

    def test_every_order_and_the_search_keep_the_chosen_album(self):
        page = self.begin()
        page.focus_covers()
        page.press("Right")
        name = page.wait_for_place(2)["name"]
        for order, key in (("artist", "artist"), ("title", "title"), ("year", "year"), ("library", None)):
            page.choose("sort", order)
            albums = sorted(self.stage.saved(), key=lambda album: album[key]) if key else self.stage.saved()
            page.rest()
            chosen = page.chosen()
            self.assertEqual(chosen["name"], name)
            if key:
                self.assertEqual(albums[chosen["place"] - 1][key], self.stage.saved()[1][key])
            else:
                self.assertEqual(chosen["place"], 2)
        page.search(self.stage.saved()[1]["title"])
        page.size(1)
        self.assertEqual(page.chosen()["name"], name)
