"""The memento of a browser, and two pages at once."""
from case import GalleryTest
from page import CHOSEN, SCROLLER


class Remembering(GalleryTest):
    expected = ("favicon.ico",)

    def choose(self, page, place):
        page.focus_covers().press("Home").wait_for_place(1)
        for _ in range(place - 1):
            page.press("Right")
        chosen = page.wait_for_place(place)
        page.remembered()
        return chosen

    def test_a_reload_comes_back_to_the_album_in_the_middle_of_the_same_order_and_the_choice_made_just_before_leaving_is_kept(self):
        page = self.shared_gallery(30).sort("artist")
        before = self.choose(page, 7)
        page.reload().rest()
        self.assertEqual(page.chosen(), before)
        self.assertLess(page.off_centre(), 2)
        self.assertEqual(page.choice("sort"), "artist")
        chosen = page.focus_covers().press("End").wait_for_place(30)["id"]
        # Another page of the origin, which waits until the server has the choice.
        page.browser.get(page.url + "icon.svg")
        page.remembered(chosen)
        page.open().wait(f"{CHOSEN}?.dataset.id === arguments[0]", chosen, what="the album that was chosen")

    def test_when_the_album_is_gone_the_nearest_one_is_chosen_and_the_last_for_one_beyond_the_end(self):
        page = self.gallery(20)
        albums = self.stage.saved()
        for place, rest, expected in ((7, albums[:6] + albums[7:], (6, 7)), (15, albums[:5], (5,))):
            self.choose(page, place)
            page.leave()
            self.stage.server.close()
            self.stage.write_library(rest)
            self.stage.start_server()
            page.open().rest()
            self.assertIn(page.chosen()["place"], expected)
            self.assertEqual(page.chosen()["of"], len(rest))
            self.assertLess(page.off_centre(), 2)

    def test_view_place_and_size_are_remembered_and_another_browser_has_its_own_and_follows_an_address(self):
        page = self.shared_gallery(60).wall()
        page.sort("artist").tile("Small").focus_covers().press("Page_Down")
        page.rest()
        before, tile = page.chosen(), page.choice("tile")
        page.remembered()
        page.leave()
        page.open(page.server.address)
        page.rest()
        self.assertEqual([page.chosen(), page.choice("tile"), page.visible("#wall")], [before, tile, True])
        page.sort("title").focus_covers().press("Down")
        chosen = page.chosen()
        address = page.address(chosen["id"])
        page.press("Enter").appears("#covers")
        page.back().appears("#wall")
        self.assertEqual(page.wait_for_place(chosen["place"]), chosen)
        page.remembered()
        other = self.another_browser()
        self.assertEqual(other.chosen()["place"], 1)
        other.go(address)
        self.assertEqual(other.wait_for_place(chosen["place"]), chosen)
        self.assertTrue(other.visible("#wall"))


class WallPlace(GalleryTest):
    """The wall is scrolled away from the chosen album."""

    top = f"Math.round({SCROLLER}.scrollTop)"

    def scrolled(self, page, top):
        page.scroll(top).wait("history.state?.position > 0", what="the place in the history").rest()
        return page.value(self.top)

    def test_each_tab_keeps_its_place_after_reloads_a_jump_and_a_change_of_view(self):
        page = self.shared_gallery(300).wall()
        before = self.scrolled(page, 1234)

        def assert_kept(what):
            page.wait(f"{self.top} === arguments[0]", before, what=f"the place after {what}")

        for _ in range(3):
            page.reload()
            assert_kept("a reload")
            self.assertEqual(page.chosen()["place"], 1)
        page.press("Enter").appears("#covers")
        page.back()
        assert_kept("a change of view")
        page.sort("artist").back()
        assert_kept("another order")
        other = self.second_page()
        # The server may not have been told of the view yet.
        if not other.visible("#wall"):
            other.wall()
        self.scrolled(other, 2468)
        other.leave()
        page.front().reload()
        assert_kept("another tab's")


class TwoPages(GalleryTest):
    def test_many_tabs_share_one_connection_and_each_has_every_edit_and_cover(self):
        # A browser has six connections to one server. The covers arrive while the first tabs are open.
        first = self.gallery(3, warm=False, query="?delay=2500")
        pages = [first] + [self.second_page() for _ in range(6)]

        def assert_each(count):
            for page in pages:
                page.front().size(count)
                page.all_ready()

        assert_each(3)
        pages[-1].click("#delete")
        assert_each(2)
        pages[2].front()
        pages[2].click("#undo")
        assert_each(3)
        self.assertEqual(len(self.stage.saved()), 3)
