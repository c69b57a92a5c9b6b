"""Searching chooses the best match; Escape returns to the former album."""
from case import GalleryTest
from page import CHOSEN


class Searching(GalleryTest):
    def rows(self, *rows):
        """Opens a library in which the albums at these indices have other fields."""
        albums = self.common.albums(40)
        for place, fields in rows:
            albums[place].update(fields)
        self.share(albums)
        page = self.open().wall()
        page.focus_covers()
        page.press("End")
        page.wait_for_place(40)
        return page

    def search(self, page, text, count):
        page.search(text)
        page.size(count)
        page.rest()
        self.assertEqual(page.chosen()["place"], 1)
        return page.chosen()["name"]

    def test_the_best_match_is_chosen_by_title_then_artist_then_word_then_year(self):
        page = self.rows(
            (3, {"title": "Inmoonlit", "artist": "X", "year": "2040"}), (5, {"title": "Blue Moon", "artist": "Y", "year": "2040"}),
            (7, {"title": "Other", "artist": "Moon", "year": "2040"}), (9, {"title": "Moonrise", "artist": "Z", "year": "2040"}),
            (11, {"title": "Moon", "artist": "A", "year": "2040"}))
        self.assertEqual(self.search(page, "moon", 5), "Moon, A")
        self.assertEqual(page.run("""
            return [...document.querySelectorAll('#wall [role=option]')].map((option) => option.ariaLabel.split(',')[0]);"""),
            ["Moon", "Moonrise", "Other", "Blue Moon", "Inmoonlit"])
        self.assertEqual(page.text("#count"), "5 of 40")
        self.assertEqual(self.search(page, "2040", 5), "Inmoonlit, X")

    def test_a_year_comes_before_numbers_within_words(self):
        page = self.rows((3, {"title": "X19777", "year": "1950"}), (30, {"title": "Y", "artist": "Z", "year": "1977"}))
        page.search("1977")
        page.until(f"{CHOSEN}?.ariaLabel.startsWith('Y')", what="the album of that year")

    def test_escape_returns_to_where_one_was_and_emptying_the_field_does_not(self):
        page = self.rows()
        page.press("Left")
        before = page.wait_for_place(39)
        field = page.find("#search")
        field.send_keys("Album 00007")
        page.size(1)
        field.send_keys(" and nothing else")
        page.size(0)
        page.press("Escape")
        page.size(40)
        self.assertEqual(page.wait_for_place(39), before)
        field.send_keys("Album 00007")
        page.size(1)
        page.press("Enter")
        page.press("Escape")
        page.size(40)
        self.assertEqual(page.wait_for_place(39), before)
        field.send_keys("Album 00007")
        page.size(1)
        page.search("")
        page.size(40)
        self.assertEqual(page.wait_for_place(7)["name"].split(",")[0], "Album 00007")

    def test_a_search_on_the_stage_is_the_wall_s(self):
        page = self.shared_gallery(12)
        page.wait_for_place(1)
        self.assertFalse(page.visible("#search"))
        page.press("/")
        page.press("1", "2")
        page.size(1)
        self.assertEqual([page.visible("#wall"), page.visible("#covers")], [True, False])
        page.run("history.go(-2)")
        page.appears("#covers")
        page.size(12)
