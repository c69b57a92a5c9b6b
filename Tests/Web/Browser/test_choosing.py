"""Choosing an album by any input: its cover is centred and the table shows its fields."""
import inputs
from case import GalleryTest


class Choosing(GalleryTest):
    motion = True

    def begin(self):
        return self.shared_gallery(30).settled()

    def assert_chosen(self, page, place):
        chosen = page.wait_for_place(place)
        self.assertEqual(chosen["of"], 30)
        self.assertLess(page.off_centre(), 2, "the chosen cover is not in the middle")
        album = self.stage.saved()[place - 1]
        page.reads("#chosen-title", album["title"])
        self.assertEqual(page.facts(), {"Artist": album["artist"], "Album": album["title"], "Genre": album["genre"], "Year": album["year"]})
        self.assertIn(album["title"], chosen["name"])
        self.assertIn(album["artist"], chosen["name"])
        self.assertEqual(page.value("$$('#covers [aria-selected=true]').length"), 1)

    def test_a_click_and_the_keys_choose_and_stop_at_the_ends_and_none_is_lost_that_comes_before_the_covers_rest(self):
        page = self.begin()
        self.assert_chosen(page, 1)
        inputs.click(page.browser, *page.place_of(2))
        self.assert_chosen(page, 2)
        page.focus_covers()
        for key, place in (("Right", 3), ("Left", 2), ("Left", 1), ("Left", 1), ("End", 30), ("Right", 30), ("Home", 1)):
            page.press(key)
            self.assert_chosen(page, place)
        for _ in range(12):
            page.press("Right")
        self.assert_chosen(page, 13)

    def chosen_elsewhere(self, page, start=1):
        page.wait("$('#covers [aria-selected=true]')?.ariaPosInSet != arguments[0]", start, what="another album").rest()
        return page.chosen()["place"]

    def test_the_wheel_and_a_drag_move_on_and_come_to_rest_on_a_cover(self):
        page, place = self.begin(), 1
        x, y = page.middle_of("#covers")
        for move in (lambda: inputs.wheel(page.browser, x, y, down=600), lambda: inputs.wheel(page.browser, x, y, across=600),
                     lambda: inputs.drag(page.browser, (x + 250, y), (x - 250, y))):
            move()
            before, place = place, self.chosen_elsewhere(page, place)
            self.assertGreater(place, before)
            self.assert_chosen(page, place)
        inputs.drag(page.browser, (x - 400, y), (x + 450, y))
        self.assertLess(self.chosen_elsewhere(page, place), place)

    def test_while_a_drag_lasts_title_highlight_and_position_follow_the_middle(self):
        page = self.begin()
        x, y = page.middle_of("#covers")
        inputs.drag(page.browser, (x + 300, y), (x - 300, y), ends=())
        page.rest()
        middle = page.until("""(() => {
            const all = $('#covers').getBoundingClientRect(), middle = all.left + all.width / 2;
            // The middle may be between two covers.
            const distance = ({left, right}) => Math.abs((left + right) / 2 - middle);
            const [option] = $$('#covers [role=option]').sort((one, other) =>
                distance(one.getBoundingClientRect()) - distance(other.getBoundingClientRect()));
            return option.ariaPosInSet !== '1' && option.ariaSelected === 'true' && option.ariaPosInSet;
        })()""", what="the album in the middle to be chosen")
        self.assertTrue(page.value("$('#covers').classList.contains('dragging')"))
        self.assertEqual(page.text("#chosen-title"), self.stage.saved()[int(middle) - 1]["title"])
        self.assertTrue(page.text("#count").startswith(f"{middle} of 30"))
        inputs.pointer(page.browser, "mouse", 0.15, "up")
        self.assert_chosen(page, int(middle))

    def test_a_tap_on_a_neighbour_and_a_finger_choose_and_a_drag_opens_nothing(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.rest()
        inputs.tap(page.browser, *page.place_of(2))
        self.assert_chosen(page, 2)
        x, y = page.place_of(2)
        inputs.drag(page.browser, (x, y), (x - 40, y), "touch")
        page.rest()
        self.assert_chosen(page, 2)
        self.assertFalse(page.value("$('#zoom').matches(':modal')"), "that was a drag")
        inputs.drag(page.browser, (x + 120, y), (x - 150, y), "touch")
        place = self.chosen_elsewhere(page, 2)
        self.assertGreater(place, 2)
        self.assert_chosen(page, place)

    def test_every_order_and_the_search_keep_the_chosen_album(self):
        page = self.begin()
        name = page.focus_covers().press("Right").wait_for_place(2)["name"]
        for order, key in (("artist", "artist"), ("title", "title"), ("year", "year"), ("library", None)):
            page.sort(order)
            albums = sorted(self.stage.saved(), key=lambda album: album[key]) if key else self.stage.saved()
            chosen = page.chosen()
            self.assertEqual(chosen["name"], name)
            self.assertEqual(albums[chosen["place"] - 1][key or "title"], self.stage.saved()[1][key or "title"])
        page.search(self.stage.saved()[1]["title"]).size(1)
        self.assertEqual(page.chosen()["name"], name)
