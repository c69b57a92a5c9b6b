"""Covers that are not in the cache yet."""
import time

from case import GalleryTest
from page import IN_VIEW

WAITING = f"{IN_VIEW}.some((option) => option.dataset.state === 'waiting')"


class Arriving(GalleryTest):
    def test_changing_order_and_view_while_covers_arrive_throws_nothing(self):
        page = self.gallery(400, warm=False)
        for _ in range(3):
            page.run("document.querySelector('#view').click()")
            # What is thrown is in the console, which every test checks.
            page.run("""
                const wall = document.querySelector('#wall');
                for (const order of ['artist', 'title', 'year', 'genre', 'library']) {
                    document.querySelector(`[name=sort][value=${order}]`).click();
                    for (let frame = 0; frame < 10; frame++) {
                        wall.scrollTop += 150;
                        await new Promise((resolve) => requestAnimationFrame(resolve));
                    }
                }""")
        page.covers_settle()

    def test_a_cover_waits_until_it_arrives_without_polling(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(8), warm=False)
        self.stage.origin.pause()
        page = self.open()
        page.until(WAITING, what="a cover that waits")
        page.installed()
        self.quiet(page)
        begun = page.run("return performance.now()")
        page.run("await new Promise((resolve) => setTimeout(resolve, 2000));")  # The page is observed for two seconds.
        self.assertTrue(page.run(f"return {WAITING}"))
        self.assertEqual(self.asked(page, begun), [], "the page polls")
        self.stage.origin.resume()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertEqual({path.split("/")[1] for path in self.asked(page, begun)}, {"covers"}, "more than the pictures")

    def asked(self, page, begun):
        return page.run("""
            return performance.getEntriesByType('resource').filter((entry) => entry.startTime > arguments[0])
                .map((entry) => new URL(entry.name).pathname);""", begun)

    def quiet(self, page):
        """Waits until the page has sent no request for three seconds."""
        page.run("""
            await new Promise((resolve) => {
                let timer = setTimeout(resolve, 3000);
                const later = () => { clearTimeout(timer); timer = setTimeout(resolve, 3000); };
                new PerformanceObserver(later).observe({type: 'resource'});
            });""")

    def test_every_arrival_is_marked_with_the_time_it_was_in_the_cache(self):
        begun = time.time() * 1000 - 1
        page = self.gallery(4, warm=False, query="?delay=300")
        page.covers_settle()
        # The system's clock may have been adjusted since the browser read it.
        now = page.run("return performance.timeOrigin + performance.now()")
        ended = time.time() * 1000 + 2
        ahead = now - ended  # at the least
        marks = page.run("return performance.getEntriesByName('sleeve:arrival').map((mark) => mark.detail)")
        ids = page.run("return [...document.querySelectorAll('#covers [role=option]')].map((option) => option.dataset.id)")
        self.assertTrue(marks)
        for mark in marks:
            self.assertIn(mark["id"], ids)
            # The server's clock counts whole milliseconds.
            self.assertTrue(begun <= mark["at"] <= ended, f"{begun}, {mark}, {ended}")
            self.assertTrue(mark["at"] <= mark["stopped"] - ahead + 1 and mark["stopped"] <= now, f"{mark}, {now}, {ahead}")

    def test_covers_in_view_come_before_those_near(self):
        page = self.gallery(60, warm=False, query="?delay=150")
        page.covers_settle()
        seen = page.run(f"return {IN_VIEW}.map((option) => option.dataset.id)")
        # Those that arrived by an event; covers cached before the page's request are in its response.
        at = dict(page.run("return performance.getEntriesByName('sleeve:arrival').map(({detail}) => [detail.id, detail.at])"))
        self.assertTrue(set(seen) & set(at), "no cover in view came by an event")
        first = sorted(at, key=at.get)[:len(seen) + 16]
        self.assertEqual(set(seen) & set(at) - set(first), set(), "another cover came first")


class Failing(GalleryTest):
    expected = ("Failed to load resource",)

    def test_a_cover_that_fails_says_why_and_arrives_when_it_is_retried(self):
        self.stage.start_origin()
        albums = self.stage.albums(5)
        albums[0]["coverUrl"] += "?status=404&times=1"
        self.stage.serve(albums, warm=False)
        page = self.open()
        states = page.covers_settle()
        failed = page.chosen()["id"]
        self.assertEqual(states[failed], "failed")
        reason = page.text("#cover-reason")
        self.assertIn("Not found at", reason)
        self.assertEqual([state for album, state in states.items() if album != failed and state != "ready"], [])
        self.screenshot("failure")
        self.try_again(page)
        page.until("document.querySelector('#covers [aria-selected=true]').dataset.state === 'ready'", what="its cover")
        self.assertFalse(page.visible("#cover-reason"))

    def test_a_cover_that_was_evicted_since_the_page_learnt_of_it_is_downloaded_again(self):
        page = self.gallery(40)
        page.covers_settle()
        # The page knows that it is cached, and has not loaded its picture.
        place, picture = 16, "document.querySelector('#covers [aria-posinset=\"16\"]')"
        self.assertIsNone(page.run(f"return {picture}"))
        self.stage.run("cache", "remove", f"{self.stage.origin.base}/covers/{place}.jpg")
        page.focus_covers()
        for key in ("Page_Down", *["Right"] * (place - 11)):
            page.press(key)
        page.wait_for_place(place)
        page.until(f"{picture}?.dataset.state === 'ready'", what="its picture")
        self.stage.run("get", "--offline", f"{self.stage.origin.base}/covers/{place}.jpg", "-o", self.stage.folder / "cover.jpg")

    def try_again(self, page):
        page.click("#retry")

    def test_an_album_without_a_cover_url_says_so(self):
        albums = self.stage.albums(3)
        albums[0]["coverUrl"] = ""
        self.stage.serve(albums)
        page = self.open()
        page.covers_settle()
        self.assertIn("No cover yet", page.text("#cover-reason"))
        self.assertFalse(page.visible("#retry"), "there is nothing to try")

    def test_an_unreachable_origin_is_named_as_the_reason(self):
        self.stage.start_origin()
        albums = self.stage.albums(3)
        self.stage.origin.close()
        self.stage.serve(albums, warm=False)
        page = self.open()
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        said = page.text("#cover-reason")
        self.assertRegex(said, r"^Can’t reach 127\.0\.0\.1:\d+\. ")
        self.assertEqual(page.run("return [...document.querySelectorAll('main button, main [class=retry]')]"
                                  ".filter((each) => /try again/i.test(each.textContent + each.ariaLabel)).length"), 1)
        cause = "document.querySelector('#cover-cause p')"
        self.assertFalse(page.run(f"return {cause}.checkVisibility()"))
        page.focus("#cover-cause summary")
        page.press("Enter")
        page.until(f"{cause}.checkVisibility()", what="the technical cause")
        self.assertIn("onnect", page.run(f"return {cause}.textContent"))
        self.assertNotIn("onnect to", page.text("#covers"))
        self.screenshot("unreachable")
