"""The memento of a browser, and two pages at once."""
from case import GalleryTest


class Remembering(GalleryTest):
    expected = ("favicon.ico",)

    def choose(self, page, place):
        page.focus_covers()
        page.press("Home")
        page.wait_for_place(1)
        for _ in range(place - 1):
            page.press("Right")
        chosen = page.wait_for_place(place)
        page.remembered()
        return chosen

    def test_a_reload_comes_back_to_the_album_in_the_middle_of_the_same_order(self):
        page = self.gallery(20)
        page.sort("artist")
        before = self.choose(page, 7)
        page.reload()
        page.rest()
        self.assertEqual(page.chosen(), before)
        self.assertLess(page.off_centre(), 2)
        self.assertEqual(page.run("return document.querySelector('#sort').value"), "artist")

    def test_the_choice_made_just_before_leaving_is_kept(self):
        page = self.gallery(20)
        page.focus_covers()
        page.press("End")
        chosen = page.wait_for_place(20)["id"]
        # Another page of the origin, which waits until the server has the choice.
        page.browser.get(page.url + "icon.svg")
        page.remembered(chosen)
        page.open()
        self.assertEqual(page.wait_for_place(20)["place"], 20)

    def test_when_the_album_is_gone_the_nearest_one_is_chosen(self):
        page = self.gallery(20)
        self.choose(page, 7)
        page.leave()
        self.stage.server.close()
        albums = self.stage.saved()
        self.stage.write_library(albums[:6] + albums[7:])
        self.stage.start_server()
        page.open()
        page.rest()
        self.assertIn(page.chosen()["place"], (6, 7))
        self.assertLess(page.off_centre(), 2)

    def test_a_choice_beyond_the_end_of_a_library_that_shrank_becomes_the_last(self):
        page = self.gallery(20)
        self.choose(page, 15)
        page.leave()
        self.stage.server.close()
        self.stage.write_library(self.stage.saved()[:5])
        self.stage.start_server()
        page.open()
        self.assertEqual(page.wait_for_place(5)["of"], 5)


class TwoPages(GalleryTest):
    def test_an_edit_in_one_page_shows_in_the_other(self):
        one = self.gallery(6)
        other = self.second_page()
        other.size(6)
        one.front()
        one.click("#delete")
        one.size(5)
        other.front()
        other.size(5)
        other.until("document.querySelector('#undo').disabled === false", what="undo in the other page")
        other.click("#undo")
        other.size(6)
        one.front()
        one.size(6)
        self.assertEqual(len(self.stage.saved()), 6)

    def test_a_cover_arrives_in_every_page_that_shows_it(self):
        one = self.gallery(3, warm=False, query="?delay=1500")
        other = self.second_page()
        self.assertEqual(set(other.covers_settle().values()), {"ready"})
        one.front()
        self.assertEqual(set(one.covers_settle().values()), {"ready"})

    def test_another_browser_has_its_own_place(self):
        one = self.gallery(6)
        one.focus_covers()
        one.press("End")
        one.wait_for_place(6)
        one.remembered()
        other = self.open(self.other_browser())
        self.assertEqual(other.chosen()["place"], 1)
