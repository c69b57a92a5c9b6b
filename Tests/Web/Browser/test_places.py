"""The pages of an artist and of a genre."""
from case import GalleryTest


class Pages(GalleryTest):
    def shared(self):
        albums = self.common.albums(30)
        for place, year in ((3, "1999"), (11, "1971"), (20, "1985")):
            albums[place] |= {"artist": "Wren & Sons/Co?", "year": year, "genre": "Free Jazz"}
        return albums

    def test_an_album_leads_to_its_artist_whose_albums_are_in_the_order_of_years_and_back_leads_to_all(self):
        page = self.open()
        page.letters("wren")
        page.until("document.querySelector('#chosen-artist').textContent === 'Wren & Sons/Co?'", what="the artist")
        page.sort("title")
        page.click("#chosen-artist a")
        page.size(3)
        self.assertEqual(page.chosen()["place"], 3, "it stays chosen; it is the latest one")
        self.assertEqual([page.text("#page-name"), page.text("#page-count"), page.text("#count")], ["Wren & Sons/Co?", "3 albums · 1971–1999", ""])
        page.focus_covers()
        page.press("Home")
        page.wait_for_place(1)
        self.assertEqual(page.text("#facts [data-field=year]"), "1971")
        page.until("decodeURIComponent(location.hash).startsWith('#/artist/Wren & Sons/Co?')", what="the artist in the address")
        address = page.run("return location.href")
        page.press("Escape")
        page.size(30)
        self.assertFalse(page.visible("#page"))
        self.assertEqual(page.choice("sort"), "title", "the order of before")
        page.run("history.back()")
        page.size(3)
        page.leave()
        page.open(address)
        page.size(3)

    def test_a_genre_is_a_page_on_the_wall_too_with_a_search_of_its_own(self):
        page = self.open().wall()
        page.leave()
        page.open(page.url + "#/genre/Free%20Jazz?view=wall")
        page.size(3)
        self.assertEqual([page.text("#page-name"), page.text("#page-count")], ["Free Jazz", "3 albums · 1971–1999"])
        self.assertEqual([page.visible("#show"), page.visible("#leave-page")], [False, False])
        page.search("00004")
        page.size(1)
        self.assertEqual(page.text("#count"), "1 of 3")
        page.press("Escape")
        page.size(3)
        page.click("#view")
        page.size(30)
        self.assertTrue(page.visible("#wall"))

    def test_no_page_is_a_dead_end(self):
        page = self.open()
        page.leave()
        page.open(page.url + "#/artist/Nobody")
        page.until("document.querySelector('#empty h2').textContent === 'No albums'", what="that there are none")
        page.click("#clear-filter")
        page.size(30)
        self.assertFalse(page.visible("#page"))
        page.run("location.hash = '#/genre/Free%20Jazz'")
        page.size(3)
        page.search("00005")
        page.until("document.querySelector('#empty h2').textContent === 'Nothing found here'", what="that nothing is found")
        page.click("#leave-page")
        page.size(1)
        self.assertFalse(page.visible("#page"))
        self.assertEqual(page.text("#chosen-title"), "Album 00005")
