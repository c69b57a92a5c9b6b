"""The list of search results, and the filters of covers that need attention."""
import json

from case import GalleryTest


class Results(GalleryTest):
    def shared(self):
        albums = self.common.albums(30)
        for place, title in ((3, "Night Bus to Ostrava"), (9, "Oystrava"), (20, "Nights"), (22, "Low Tide"), (24, "Hip Hop"), (26, "AC/DC")):
            albums[place]["title"] = title
        return albums

    def found(self, page):
        return page.run("return [...document.querySelectorAll('#results [role=option]')].map((each) => each.firstChild.data)")

    def test_one_mistake_is_tolerated_and_exact_matches_come_first(self):
        page = self.open()
        field = page.find("#search")
        for typed, expected in (
                ("ostrava", ["Night Bus to Ostrava", "Oystrava"]), ("ostrva", ["Night Bus to Ostrava"]), ("osrtava", ["Night Bus to Ostrava"]),
                ("ostrawa", ["Night Bus to Ostrava"]), ("nigt", ["Night Bus to Ostrava", "Nights"]), ("nights", ["Nights", "Night Bus to Ostrava"])):
            field.clear()
            field.send_keys(typed)
            page.until("JSON.stringify([...document.querySelectorAll('#results [role=option]:not(.place)')].map((each) => each.firstChild.data)) === arguments[0]",
                       json.dumps(expected, separators=(",", ":")), what=f"{typed}: {expected}")
        for typed, title in (("lwo tide", "Low Tide"), ("lwo", "Low Tide"), ("low tde", "Low Tide"), ("lowtide", "Low Tide"), ("hiphop", "Hip Hop"),
                             ("hip-hop", "Hip Hop"), ("acdc", "AC/DC"), ("ac dc", "AC/DC")):
            field.clear()
            field.send_keys(typed)
            page.size(1)
            self.assertEqual(self.found(page)[0], title, typed)
        for typed in ("osrvaa", "nigt ostrva", "00099", "lwi", "tde lwo"):
            field.clear()
            field.send_keys(typed)
            page.size(0)

    def test_arrows_go_through_the_results_and_an_artist_is_a_place_in_the_whole_list(self):
        page = self.open()
        page.type("#search", "artist 7")
        page.appears("#results")
        first, second = self.found(page)[:2]
        page.press("Down")
        page.until("document.querySelector('#chosen-title').textContent === arguments[0]", second)
        self.assertEqual(page.run("const field = document.querySelector('#search'); return document.getElementById(field.getAttribute('aria-activedescendant')).firstChild.data"), second)
        self.screenshot("results")
        page.press("Up")
        page.press("Up")
        place = self.found(page)[-1]
        page.press("Enter")
        page.size(30)
        page.rest()
        self.assertEqual(page.run("return [document.querySelector('#chosen-artist').textContent, document.querySelector('#sort').value]"), [place, "artist"])
        self.assertFalse(page.visible("#results"))
        page.press("Right")
        self.assertNotEqual(page.chosen()["name"].split(",")[0], first)


    def test_the_results_have_their_covers(self):
        page = self.open()
        page.type("#search", "ostrva")
        page.until("(() => { const [image] = document.querySelectorAll('#results img'); return image?.complete && image.naturalWidth > 0"
                   " && image.src.endsWith('?w=150'); })()", what="the cover of the result")


class Addresses(GalleryTest):
    def test_a_search_is_in_the_address_and_back_leaves_it(self):
        page = self.shared_gallery(30)
        page.type("#search", "album 0002 ")
        page.size(11)
        page.until("new URLSearchParams(location.hash.split('?')[1]).get('q') === 'album 0002'", what="the search in the address")
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
        self.assertEqual(page.run("return document.querySelector('#show').value"), "")


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
        page = self.open()
        self.show(page, "uncovered", 3, "Album 00002, Album 00003, Album 00005")
        self.show(page, "failed", 1, "Album 00002")
        page.until("location.hash.includes('show=failed')", what="the filter in the address")
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
        page.set("#show", "doubtful")
        page.set("#show", "")
        page.set("#show", "doubtful")
        page.run("history.back()")
        page.until("document.querySelector('#show').value === ''", what="the place before the filter")
        page.run("release(); while (window.answers.length < 2) await new Promise((resolve) => setTimeout(resolve));"
                 "await Promise.all(window.answers); await new Promise((resolve) => setTimeout(resolve));")
        page.size(6)
        self.assertEqual(page.run("return document.querySelector('#show').value"), "")

    def test_a_filtered_wall_begins_at_its_start_or_with_the_chosen_album_in_view(self):
        albums = self.stage.albums(90)
        for album in albums[:70]:
            album["coverUrl"] = ""
        self.stage.serve(albums)
        page = self.open().wall()
        page.run("document.querySelector('#wall').scrollTop = 1e6")
        page.rest()
        page.set("#show", "uncovered")
        page.size(70)
        page.until("document.querySelector('#wall').scrollTop === 0", what="the first row")
        page.focus_covers()
        page.press("End")
        page.wait_for_place(70)
        page.run("document.querySelector('#wall').scrollTop = 0")
        page.rest()
        page.set("#show", "")
        page.size(90)
        self.assertEqual(page.chosen()["place"], 70)
        page.until("(() => { const box = (selector) => document.querySelector(selector).getBoundingClientRect();"
                   "return box('#wall [aria-selected=true]').top < box('#wall').bottom; })()", what="the chosen album in view")

    def show(self, page, name, count, names):
        page.set("#show", name)
        page.size(count)
        shown = page.run("return [...document.querySelectorAll(':is(#covers, #wall) [role=option]')].map((option) => option.ariaLabel.split(',')[0]).join(', ')")
        self.assertEqual(shown, names)
