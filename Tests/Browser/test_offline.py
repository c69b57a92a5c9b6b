"""Without the origin, and without the server."""
from case import GONE, GalleryTest


class Offline(GalleryTest):
    expected = GONE

    def seen(self, count=5):
        """A gallery whose page and covers the service worker has kept."""
        page = self.gallery(count)
        page.browser.run_async("await navigator.serviceWorker.ready")
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        page.reload()
        page.covers_settle()
        page.browser.run_async("""
            for (;;) {
                let kept = 0;
                for (const name of await caches.keys()) {
                    const requests = await (await caches.open(name)).keys();
                    kept += requests.filter((request) => new URL(request.url).pathname.startsWith('/covers/')).length;
                }
                if (kept >= arguments[0]) return;
                await new Promise((resolve) => setTimeout(resolve, 25));
            }""", count)
        return page

    def test_covers_come_from_the_cache_when_the_origin_is_gone(self):
        page = self.gallery(12)
        self.stage.origin.close()
        page.reload()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        page.focus_covers()
        page.press("End")
        page.wait_for_place(12)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertFalse(page.run("return document.querySelector('#offline').checkVisibility()"), "the server is there")

    def test_a_cover_that_is_older_than_its_server_likes_is_marked_quietly_and_no_other_is(self):
        albums = self.stage.albums(3)
        albums[1]["coverUrl"] += "?cache-control=max-age%3D0"
        self.serve(albums)
        page = self.open()
        seen = "document.querySelector('#stale').checkVisibility()"
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertFalse(page.run(f"return {seen}"), "it is fresh")
        page.focus_covers()
        page.press("Right")
        page.until(seen, what="the mark")
        self.assertIn("older copy", page.run("return document.querySelector('#stale').title"))
        self.screenshot("stale")
        page.press("Right")
        page.until(f"!{seen}", what="the mark to go")

    def test_the_page_says_when_the_server_is_gone_and_when_it_is_back(self):
        page = self.gallery(5)
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        self.stage.start_server()
        page.until("!document.querySelector('#offline').checkVisibility()", what="the notice to go")
        page.click("#delete")
        page.size(4)

    def test_without_the_server_the_page_opens_with_the_albums_and_covers_it_has_seen(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.reload()
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        page.size(5)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        page.until("[...document.querySelectorAll('#covers img')].every((image) => image.complete && image.naturalWidth > 0)")
        self.screenshot("offline")
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        self.assertIn("Album 00002", page.table()["Album"])

    def test_a_page_opened_without_the_server_recovers_when_it_is_back(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.reload()
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        self.stage.start_server()
        page.until("!document.querySelector('#offline').checkVisibility()", what="the notice to go")
        page.click("#delete")
        page.size(4)
        self.eventually(lambda: len(self.stage.saved()) == 4, "the edit in the library file")

    def test_what_was_changed_meanwhile_is_shown_when_the_server_is_back(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        self.stage.write_library(self.stage.albums(7))
        self.stage.start_server()
        page.size(7)
