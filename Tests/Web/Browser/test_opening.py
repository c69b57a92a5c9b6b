"""Opening the page."""
import urllib.parse

from case import GalleryTest
from page import IN_VIEW


class Opening(GalleryTest):
    def test_opening_asks_no_other_host_and_the_console_stays_silent(self):
        page = self.shared_gallery()
        page.covers_settle()
        asked = [urllib.parse.urlsplit(url) for url in page.browser.requests()]
        # The browser's own pages have other schemes.
        hosts = {url.netloc for url in asked if url.scheme in ("http", "https", "ws", "wss")}
        self.assertEqual(hosts, {f"127.0.0.1:{self.stage.server.port}"})

    def test_a_warm_cache_is_shown_at_once_without_asking_the_origin(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(12))
        self.stage.origin.close()
        page = self.open()
        states = page.covers_settle()
        self.assertEqual(set(states.values()), {"ready"})
        page.until(
            f"{IN_VIEW}.every((option) => [...option.querySelectorAll('img, canvas')].some((image) =>"
            " image instanceof HTMLCanvasElement || image.complete && image.naturalWidth > 0))", what="decoded covers")
        page.until("performance.getEntriesByName('sleeve:first-covers').length", what="the mark of the first covers")
        # Covers beyond the edges may come later than those in view.
        page.until("!document.querySelector('#covers :is([data-state=waiting], [data-state=coming])')", what="all covers")
        self.screenshot("light-1280")

    def test_coming_back_again_and_again_never_waits_for_a_connection(self):
        # Pages in the back/forward cache may hold connections, of which the browser allows six to one server.
        page = self.shared_gallery(6)
        page.installed()
        for _ in range(8):
            page.leave()
            page.open(page.url)
            page.until("performance.getEntriesByName('sleeve:first-covers').length", what="the first covers")

    def test_going_back_finds_the_page_alive(self):
        page = self.gallery(5)
        page.covers_settle()
        page.leave()
        page.browser.back()
        page.ready()
        page.click("#delete")
        page.size(4)
        other = self.stage.saved()
        page.run("await fetch('api/undo', {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}})")
        page.size(5)
        self.assertEqual(len(other), 4)

    def test_an_empty_library_has_one_button_which_leads_to_adding_a_folder_of_music(self):
        page = self.shared_gallery(0)
        page.appears("#add-many")
        self.assertEqual(page.run("return [...document.querySelectorAll('button, input')].filter((each) => each.checkVisibility({visibilityProperty: true}))"
                                  ".map(({id}) => id)"), ["menu-toggle", "add-many"])
        page.click("#add-many")
        page.appears("#activity")
        self.assertEqual(page.run("return document.activeElement.name"), "folder")


class Policy(GalleryTest):
    expected = ("Content Security Policy", "violates the following", "TrustedHTML", "ERR_BLOCKED_BY_CSP")

    def test_the_policy_keeps_pictures_of_other_hosts_and_markup_from_strings_out(self):
        page = self.shared_gallery()
        violated = page.run("""
            const violation = new Promise((resolve) => addEventListener('securitypolicyviolation',
                (event) => resolve(event.effectiveDirective), {once: true}));
            const image = new Image();
            image.src = arguments[0];
            return await violation;""", self.stage.origin.base + "/covers/1.jpg")
        self.assertEqual(violated, "img-src")
        refused = page.run("try { document.createElement('p').innerHTML = '<b>x</b>' } catch (error) { return error.name }")
        self.assertEqual(refused, "TypeError")

    def test_titles_are_text_whatever_they_contain(self):
        albums = self.stage.albums(3)
        title = "<img src=x onerror=\"document.title='taken over'\"> & <b>bold</b>"
        albums[0]["title"] = title
        albums[0]["artist"] = "<script>document.title='taken over'</script>"
        self.stage.serve(albums)
        page = self.open()
        page.covers_settle()
        self.assertEqual(page.facts()["Album"], title)
        self.assertEqual(page.facts()["Artist"], albums[0]["artist"])
        self.assertIn(title, page.chosen()["name"])
        self.assertNotEqual(page.run("return document.title"), "taken over")
        self.assertEqual(page.run("return document.querySelectorAll('main b, main script, [onerror]').length"), 0)
