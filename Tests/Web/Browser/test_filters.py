"""What a search finds, the filters of covers that need attention, and the pages of an artist and of a genre."""
import inputs
from case import GalleryTest
from page import CHOSEN, SCROLLER, SEEN


class Results(GalleryTest):
    def shared(self):
        albums = self.common.albums(30)
        for place, title in ((3, "Night Bus to Ostrava"), (9, "Oystrava"), (20, "Nights"), (22, "Low Tide"), (24, "Hip Hop"), (26, "AC/DC")):
            albums[place]["title"] = title
        return albums

    def test_one_mistake_is_tolerated_and_exact_matches_come_first(self):
        page = self.open()
        for typed, expected in (
                ("ostrava", ["Night Bus to Ostrava", "Oystrava"]), ("ostrva", ["Night Bus to Ostrava"]), ("osrtava", ["Night Bus to Ostrava"]),
                ("ostrawa", ["Night Bus to Ostrava"]), ("nigt", ["Night Bus to Ostrava", "Nights"]), ("nights", ["Nights", "Night Bus to Ostrava"]),
                ("lwo tide", ["Low Tide"]), ("lwo", ["Low Tide"]), ("low tde", ["Low Tide"]), ("lowtide", ["Low Tide"]), ("hiphop", ["Hip Hop"]),
                ("hip-hop", ["Hip Hop"]), ("acdc", ["AC/DC"]), ("ac dc", ["AC/DC"]),
                *((typed, []) for typed in ("osrvaa", "nigt ostrva", "00099", "lwi", "tde lwo"))):
            page.search(typed)
            page.wait("$$('#wall [role=option]').map(({dataset}) => dataset.title).join('|') === arguments[0]", "|".join(expected), what=f"{typed}: {expected}")


class Addresses(GalleryTest):
    def test_a_search_is_in_the_address_and_back_leaves_it_and_an_unknown_filter_shows_all(self):
        page = self.shared_gallery(30).search("album 0002 ").size(11)
        page.wait("new URLSearchParams(location.hash.slice(1)).get('q') === 'album 0002'", what="the search in the address")
        page.reload().size(11)
        self.assertEqual(page.value("$('#search').value"), "album 0002")
        for size in (1, 0):
            page.type("#search", "9").size(size)
        page.wait("location.hash.includes('q=album+000299')", what="a search without a result in the address")
        page.back().size(30)
        self.assertEqual(page.value("$('#search').value"), "")
        page.go("#show=nonsense").size(30)
        self.assertEqual(page.choice("show"), "")


class Filters(GalleryTest):
    expected = ("Failed to load resource",)

    def test_albums_without_a_cover_with_a_failed_and_with_a_small_one_are_filtered(self):
        albums = self.stage.albums(8)
        albums[1]["coverUrl"] = f"{self.stage.origin.base}/covers/2.jpg?status=404"
        albums[2]["coverUrl"] = ""
        # Not there before the test ends. A transfer without a byte would fail after 30 s.
        albums[4]["coverUrl"] = f"{self.stage.origin.base}/covers/5.jpg?rate=100"
        self.stage.write_library(albums[:4] + albums[5:])
        self.stage.warm()
        self.stage.serve(albums, "--timeout", "600", warm=False)
        page = self.open().wall()
        self.show(page, "uncovered", 2, 3, 5)
        self.show(page, "failed", 2)
        page.address("show=failed")
        self.assertEqual([page.text("#show"), page.text("#count")], ["Failed", "1"])
        page.press("Escape").size(8)
        page.back().size(1)
        self.show(page, "doubtful")
        page.click("#clear-filter").size(8)
        # The origin's covers have 400 pixels.
        self.show(page, "small", 1, 4, 6, 7, 8)

    def show(self, page, name, *numbers):
        page.choose("show", name).size(len(numbers))
        self.assertEqual(page.titles(), [f"Album {n:05}" for n in numbers])

    def test_the_answer_for_a_filter_that_is_not_wanted_any_more_changes_nothing(self):
        page = self.shared_gallery(6)
        page.run("""
            const original = fetch, gate = new Promise((resolve) => window.release = resolve);
            window.answers = [];
            window.fetch = async (path, request) => {
                const response = await original(path, request);
                if (!String(path).includes('api/filters')) return response;
                const text = await response.text();
                await gate;
                const late = new Response(text, response), answer = late.json();
                late.json = () => answer;
                window.answers.push(answer);
                return late;
            };""")
        for value in ("doubtful", "", "doubtful"):
            page.choose("show", value)
        page.back().wait("$('[name=show][aria-checked=true]').value === ''", what="the place before the filter")
        page.run("release(); while (window.answers.length < 2) await new Promise((resolve) => setTimeout(resolve));"
                 "await Promise.all(window.answers); await new Promise((resolve) => setTimeout(resolve));")
        page.size(6)
        self.assertEqual(page.choice("show"), "")

    def test_the_place_is_a_menu_with_counts_and_a_filtered_wall_begins_at_its_start_or_with_the_chosen_album_in_view(self):
        albums = self.stage.albums(90)
        for album in albums[:70]:
            album["coverUrl"] = ""
        self.stage.serve(albums)
        page = self.open().wall().scroll(1e6).choose("show", "uncovered").size(70)
        page.wait(f"{SCROLLER}.scrollTop === 0", what="the first row")
        page.focus_covers().press("End").wait_for_place(70)
        page.scroll(0).choose("show", "").size(90)
        self.assertEqual(page.chosen()["place"], 70)
        page.wait(f"{CHOSEN}.getBoundingClientRect().top < {SEEN}.bottom", what="the chosen album in view")
        inputs.phone(page.browser)
        page.click("#show").wait("$('[name=show][value=uncovered]').innerText.endsWith('70')", what="how many there are")
        for key, name in (("Down", "uncovered"), ("End", "small"), ("Down", ""), ("Up", "small"), ("Home", ""), ("Down", "uncovered")):
            page.press(key)
            self.assertEqual(page.value("document.activeElement.value"), name, key)
        page.press("Enter").size(70)
        self.assertEqual(page.focused(), "show")
        self.assertEqual([page.text("#show"), page.text("#count")], ["Without a cover", "70"])
        self.assertEqual(page.value("['#show', '#count', '.bar'].filter((each) => $(each).scrollWidth > $(each).clientWidth)"), [])


class Searching(GalleryTest):
    def shared(self):
        albums = self.common.albums(40)
        for place, title, artist, year in (
                (3, "Inmoonlit", "X", "2040"), (5, "Blue Moon", "Y", "2040"), (7, "Other", "Moon", "2040"), (9, "Moonrise", "Z", "2040"),
                (11, "Moon", "A", "2040"), (15, "X19777", "V", "1950"), (30, "Y", "Z", "1977")):
            albums[place] |= {"title": title, "artist": artist, "year": year}
        return albums

    def begin(self):
        page = self.open().wall()
        page.focus_covers().press("End").wait_for_place(40)
        return page

    def test_the_best_match_is_chosen_by_title_then_artist_then_word_then_year_then_numbers_within_words(self):
        page = self.begin()
        for text, count, best in (("moon", 5, "Moon, A"), ("2040", 5, "Inmoonlit, X"), ("1977", 2, "Y, Z")):
            page.search(text).size(count).rest()
            self.assertEqual([page.chosen()["place"], page.chosen()["name"]], [1, best])
            if text == "moon":
                self.assertEqual(page.titles(), ["Moon", "Moonrise", "Other", "Blue Moon", "Inmoonlit"])
                self.assertEqual(page.text("#count"), "5 of 40")

    def test_escape_returns_to_where_one_was_and_emptying_the_field_does_not(self):
        page = self.begin()
        before = page.press("Left").wait_for_place(39)
        field = page.find("#search")
        field.send_keys("Album 00007")
        page.size(1)
        field.send_keys(" and nothing else")
        page.size(0)
        page.press("Escape").size(40)
        self.assertEqual(page.wait_for_place(39), before)
        field.send_keys("Album 00007")
        page.size(1)
        page.press("Enter").press("Escape").size(40)
        self.assertEqual(page.wait_for_place(39), before)
        field.send_keys("Album 00007")
        page.size(1)
        page.search("").size(40)
        self.assertEqual(page.wait_for_place(7)["name"].split(",")[0], "Album 00007")

    def test_a_search_on_the_stage_is_the_wall_s(self):
        page = self.open()
        page.wait_for_place(1)
        self.assertFalse(page.visible("#search"))
        page.press("/").press("1", "3").size(1)
        self.assertEqual([page.visible("#wall"), page.visible("#covers")], [True, False])
        page.run("history.go(-2)")
        page.appears("#covers").size(40)


class Pages(GalleryTest):
    def shared(self):
        albums = self.common.albums(30)
        for place, year in ((3, "1999"), (11, "1971"), (20, "1985")):
            albums[place] |= {"artist": "Wren & Sons/Co?", "year": year, "genre": "Free Jazz"}
        return albums

    def test_an_album_leads_to_its_artist_whose_albums_are_in_the_order_of_years_and_back_leads_to_all(self):
        page = self.open().letters("wren").reads("#chosen-artist", "Wren & Sons/Co?")
        page.sort("title").click("#chosen-artist a").size(3)
        self.assertEqual(page.chosen()["place"], 3, "it stays chosen; it is the latest one")
        self.assertEqual([page.text("#page-name"), page.text("#page-count"), page.text("#count")], ["Wren & Sons/Co?", "3 albums · 1971–1999", ""])
        page.focus_covers().press("Home").wait_for_place(1)
        self.assertEqual(page.text("#facts [data-field=year]"), "1971")
        address = page.address("#/artist/Wren & Sons/Co?")
        page.press("Escape").size(30)
        self.assertFalse(page.visible("#page"))
        self.assertEqual(page.choice("sort"), "title", "the order of before")
        page.back().size(3)
        page.go(address).size(3)

    def test_a_genre_is_a_page_on_the_wall_too_with_a_search_of_its_own_and_no_page_is_a_dead_end(self):
        page = self.open().go("#/genre/Free%20Jazz?view=wall")
        page.size(3)
        self.assertEqual([page.text("#page-name"), page.text("#page-count")], ["Free Jazz", "3 albums · 1971–1999"])
        self.assertEqual([page.visible("#show"), page.visible("#leave-page")], [False, False])
        page.search("00004").size(1)
        self.assertEqual(page.text("#count"), "1 of 3")
        page.press("Escape").size(3)
        page.click("#view").size(30)
        self.assertTrue(page.visible("#wall"))
        page.go("#/artist/Nobody").reads("#empty h2", "No albums")
        page.click("#clear-filter").size(30)
        self.assertFalse(page.visible("#page"))
        page.run("location.hash = '#/genre/Free%20Jazz'")
        page.size(3)
        page.search("00005").reads("#empty h2", "Nothing found here")
        page.click("#leave-page").size(1)
        self.assertFalse(page.visible("#page"))
        self.assertEqual(page.text("#chosen-title"), "Album 00005")
