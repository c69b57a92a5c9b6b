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
        page = self.shared_gallery(30)
        page.sort("artist")
        before = self.choose(page, 7)
        page.reload()
        page.rest()
        self.assertEqual(page.chosen(), before)
        self.assertLess(page.off_centre(), 2)
        self.assertEqual(page.choice("sort"), "artist")

    def test_the_choice_made_just_before_leaving_is_kept(self):
        page = self.shared_gallery(30)
        page.focus_covers()
        page.press("End")
        chosen = page.wait_for_place(30)["id"]
        # Another page of the origin, which waits until the server has the choice.
        page.browser.get(page.url + "icon.svg")
        page.remembered(chosen)
        page.open()
        self.assertEqual(page.wait_for_place(30)["place"], 30)

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


class WallPlace(GalleryTest):
    """The wall is scrolled away from the chosen album."""

    top = "Math.round(document.querySelector('#wall').scrollTop)"

    def scrolled(self, page, top):
        page.run("document.querySelector('#wall').scrollTop = arguments[0]", top)
        page.until("history.state?.position > 0", what="the place in the history")
        page.rest()
        return page.run(f"return {self.top}")

    def test_the_wall_keeps_its_place_after_reloads_a_jump_and_a_change_of_view(self):
        page = self.shared_gallery(300).wall()
        before = self.scrolled(page, 1234)
        for _ in range(3):
            page.reload()
            page.until(f"{self.top} === arguments[0]", before, what="the place")
            self.assertEqual(page.chosen()["place"], 1)
        page.press("Enter")
        page.appears("#covers")
        page.run("history.back()")
        page.until(f"{self.top} === arguments[0]", before, what="the place before the change of view")
        page.sort("artist")
        page.run("history.back()")
        page.until(f"{self.top} === arguments[0]", before, what="the place in the former order")

    def test_each_tab_keeps_its_own_place(self):
        one = self.shared_gallery(300).wall()
        before = self.scrolled(one, 1234)
        other = self.second_page()
        # The server may not have been told of the view yet.
        if not other.visible("#wall"):
            other.wall()
        self.scrolled(other, 2468)
        other.leave()
        one.front()
        one.reload()
        one.until(f"{self.top} === arguments[0]", before, what="the place of the first tab")


class TwoPages(GalleryTest):
    def test_many_tabs_share_one_connection_and_each_has_every_edit_and_cover(self):
        # A browser has six connections to one server.
        first = self.gallery(3)
        pages = [first] + [self.second_page() for _ in range(8)]
        pages[-1].click("#delete")
        for page in pages:
            page.front()
            page.size(2)
            self.assertEqual(set(page.covers_settle().values()), {"ready"})

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
        one = self.shared_gallery(6)
        one.focus_covers()
        one.press("End")
        one.wait_for_place(6)
        one.remembered()
        other = self.open(self.other_browser())
        self.assertEqual(other.chosen()["place"], 1)
