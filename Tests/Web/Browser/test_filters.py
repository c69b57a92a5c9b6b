"""What a search finds, and the filters of covers that need attention."""
import json

import inputs
from case import GalleryTest


class Results(GalleryTest):
    def shared(self):
        albums = self.common.albums(30)
        for place, title in ((3, "Night Bus to Ostrava"), (9, "Oystrava"), (20, "Nights"), (22, "Low Tide"), (24, "Hip Hop"), (26, "AC/DC")):
            albums[place]["title"] = title
        return albums

    def assert_found(self, page, typed, expected):
        page.search(typed)
        page.until("JSON.stringify([...document.querySelectorAll('#wall [role=option]')].map(({dataset}) => dataset.title)) === arguments[0]",
                   json.dumps(expected, separators=(",", ":")), what=f"{typed}: {expected}")

    def test_one_mistake_is_tolerated_and_exact_matches_come_first(self):
        page = self.open()
        for typed, expected in (
                ("ostrava", ["Night Bus to Ostrava", "Oystrava"]), ("ostrva", ["Night Bus to Ostrava"]), ("osrtava", ["Night Bus to Ostrava"]),
                ("ostrawa", ["Night Bus to Ostrava"]), ("nigt", ["Night Bus to Ostrava", "Nights"]), ("nights", ["Nights", "Night Bus to Ostrava"]),
                ("lwo tide", ["Low Tide"]), ("lwo", ["Low Tide"]), ("low tde", ["Low Tide"]), ("lowtide", ["Low Tide"]), ("hiphop", ["Hip Hop"]),
                ("hip-hop", ["Hip Hop"]), ("acdc", ["AC/DC"]), ("ac dc", ["AC/DC"]),
                *((typed, []) for typed in ("osrvaa", "nigt ostrva", "00099", "lwi", "tde lwo"))):
            self.assert_found(page, typed, expected)


class Addresses(GalleryTest):
    def test_a_search_is_in_the_address_and_back_leaves_it(self):
        page = self.shared_gallery(30)
        page.search("album 0002 ")
        page.size(11)
        page.until("new URLSearchParams(location.hash.slice(1)).get('q') === 'album 0002'", what="the search in the address")
        page.reload()
        page.size(11)
        self.assertEqual(page.run("return document.querySelector('#search').value"), "album 0002")
        page.type("#search", "9")
        page.size(1)
        page.type("#search", "9")
        page.size(0)
        page.until("location.hash.includes('q=album+000299')", what="a search without a result in the address")
        page.run("history.back()")
        page.size(30)
        self.assertEqual(page.run("return document.querySelector('#search').value"), "")

    def test_an_unknown_filter_in_the_address_asks_nothing_and_shows_all(self):
        page = self.shared_gallery(6)
        page.leave()
        page.open(page.url + "#show=nonsense").size(6)
        self.assertEqual(page.choice("show"), "")


class Filters(GalleryTest):
    expected = ("Failed to load resource",)

    def test_albums_without_a_cover_with_a_failed_and_with_a_small_one_are_filtered(self):
        albums = self.stage.albums(8)
        albums[1]["coverUrl"] = f"{self.stage.origin.base}/covers/2.jpg?status=404"
        albums[2]["coverUrl"] = ""
        # Not there before the test ends. A transfer without a byte would fail after 30 s.
        albums[4]["coverUrl"] = f"{self.stage.origin.base}/covers/5.jpg?rate=100"
        self.stage.serve(albums[:4] + albums[5:])
        self.stage.server.close()
        self.stage.write_library(albums)
        self.stage.start_server("--timeout", "600")
        page = self.open().wall()
        self.show(page, "uncovered", 3, "Album 00002, Album 00003, Album 00005")
        self.show(page, "failed", 1, "Album 00002")
        page.until("location.hash.includes('show=failed')", what="the filter in the address")
        self.assertEqual([page.text("#show"), page.text("#count")], ["Failed", "1"])
        page.press("Escape")
        page.size(8)
        page.run("history.back()")
        page.size(1)
        self.show(page, "doubtful", 0, "")
        page.click("#clear-filter")
        page.size(8)
        # The origin's covers have 400 pixels.
        self.show(page, "small", 5, "Album 00001, Album 00004, Album 00006, Album 00007, Album 00008")

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
        page.choose("show", "doubtful")
        page.choose("show", "")
        page.choose("show", "doubtful")
        page.run("history.back()")
        page.until("document.querySelector('[name=show][aria-checked=true]').value === ''", what="the place before the filter")
        page.run("release(); while (window.answers.length < 2) await new Promise((resolve) => setTimeout(resolve));"
                 "await Promise.all(window.answers); await new Promise((resolve) => setTimeout(resolve));")
        page.size(6)
        self.assertEqual(page.choice("show"), "")

    def test_a_filtered_wall_begins_at_its_start_or_with_the_chosen_album_in_view(self):
        albums = self.stage.albums(90)
        for album in albums[:70]:
            album["coverUrl"] = ""
        self.stage.serve(albums)
        page = self.open().wall()
        page.run("document.querySelector('#wall').scrollTop = 1e6")
        page.rest()
        page.choose("show", "uncovered")
        page.size(70)
        page.until("document.querySelector('#wall').scrollTop === 0", what="the first row")
        page.focus_covers()
        page.press("End")
        page.wait_for_place(70)
        page.run("document.querySelector('#wall').scrollTop = 0")
        page.rest()
        page.choose("show", "")
        page.size(90)
        self.assertEqual(page.chosen()["place"], 70)
        page.until("(() => { const box = (selector) => document.querySelector(selector).getBoundingClientRect();"
                   "return box('#wall [aria-selected=true]').top < box('#wall').bottom; })()", what="the chosen album in view")

    def test_the_place_is_a_menu_with_counts_for_the_mouse_and_the_keys_and_is_whole_on_a_phone(self):
        albums = self.stage.albums(12)
        for album in albums[:11]:
            album["coverUrl"] = ""
        self.stage.serve(albums)
        page = self.open().wall()
        inputs.phone(page.browser)
        page.click("#show")
        page.until("document.querySelector('[name=show][value=uncovered]').innerText.endsWith('11')", what="how many there are")
        for key, name in (("Down", "uncovered"), ("End", "small"), ("Down", ""), ("Up", "small"), ("Home", ""), ("Down", "uncovered")):
            page.press(key)
            self.assertEqual(page.run("return document.activeElement.value"), name, key)
        page.press("Enter")
        page.size(11)
        self.assertEqual(page.run("return document.activeElement.id"), "show")
        self.assertEqual([page.text("#show"), page.text("#count")], ["Without a cover", "11"])
        self.assertEqual(page.run("return ['#show', '#count', '.bar'].filter((each) => document.querySelector(each).scrollWidth > document.querySelector(each).clientWidth)"), [])

    def show(self, page, name, count, names):
        page.choose("show", name)
        page.size(count)
        shown = page.run("return [...document.querySelectorAll(':is(#covers, #wall) [role=option]')].map((option) => option.ariaLabel.split(',')[0]).join(', ')")
        self.assertEqual(shown, names)
