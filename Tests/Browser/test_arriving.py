"""Covers that are not in the cache yet."""
from case import GalleryTest
from page import IN_VIEW

WAITING = f"{IN_VIEW}.some((option) => option.dataset.state === 'waiting' && option.querySelector('.spinner'))"


class Arriving(GalleryTest):
    def test_a_spinner_turns_until_its_cover_arrives_and_nobody_asks_in_between(self):
        page = self.gallery(8, warm=False, query="?delay=2500")
        page.until(WAITING, what="a spinner")
        page.until("performance.getEntriesByType('resource').some((entry) => entry.name.endsWith('/api/covers') && entry.responseEnd)")
        begun = page.run("return performance.now()")
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertEqual(page.run("return document.querySelectorAll('#covers [data-state=ready] .spinner').length"), 0)
        asked = page.run("""
            const arrivals = performance.getEntriesByName('sleeve:arrival');
            return performance.getEntriesByType('resource').filter((entry) => entry.startTime > arguments[0]
                && entry.startTime < arrivals[0].startTime).map((entry) => new URL(entry.name).pathname);""", begun)
        self.assertEqual([path for path in asked if not path.startswith("/covers/") and path != "/api/memento"], [])

    def test_every_arrival_is_marked_with_the_time_it_was_in_the_cache(self):
        page = self.gallery(4, warm=False, query="?delay=300")
        page.covers_settle()
        marks = page.run("return performance.getEntriesByName('sleeve:arrival').map((mark) => mark.detail)")
        ids = page.run("return [...document.querySelectorAll('#covers [role=option]')].map((option) => option.dataset.id)")
        self.assertTrue(marks)
        for mark in marks:
            self.assertIn(mark["id"], ids)
            self.assertLess(abs(mark["stopped"] - mark["at"]), 60_000)

    def test_covers_in_view_come_before_those_near(self):
        page = self.gallery(60, warm=False, query="?delay=150")
        page.covers_settle()
        seen = page.run(f"return {IN_VIEW}.map((option) => option.dataset.id)")
        order = page.run("return performance.getEntriesByName('sleeve:arrival').map((mark) => mark.detail.id)")
        self.assertEqual(set(seen) - set(order[:len(seen) + 16]), set(), "another cover came first")


class Failing(GalleryTest):
    expected = ("Failed to load resource",)

    def test_a_cover_that_cannot_be_had_says_why_and_comes_when_tried_again(self):
        albums = self.stage.albums(5)
        albums[0]["coverUrl"] += "?status=404&times=1"
        self.serve(albums, warm=False)
        page = self.open()
        states = page.covers_settle()
        failed = page.chosen()["id"]
        self.assertEqual(states[failed], "failed")
        reason = page.run("return document.querySelector('#covers [aria-selected=true] .reason').textContent")
        self.assertIn("404", reason)
        self.assertEqual([state for album, state in states.items() if album != failed and state != "ready"], [])
        self.screenshot("failure")
        self.try_again(page)
        page.until("document.querySelector('#covers [aria-selected=true]').dataset.state === 'ready'", what="the second try's cover")
        self.assertFalse(page.run("return document.querySelector('#covers [aria-selected=true] .reason')?.checkVisibility()"))

    def try_again(self, page):
        page.click("#retry")

    def test_an_album_without_a_cover_url_says_so(self):
        albums = self.stage.albums(3)
        albums[0]["coverUrl"] = ""
        self.serve(albums)
        page = self.open()
        page.covers_settle()
        self.assertIn("no cover URL", page.run("return document.querySelector('#covers [aria-selected=true]').textContent"))

    def test_an_origin_that_is_not_there_is_told_as_the_reason(self):
        albums = self.stage.albums(3)
        self.stage.origin.close()
        self.serve(albums, warm=False)
        page = self.open()
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        self.assertTrue(page.run("return document.querySelector('#covers [aria-selected=true] .reason').textContent.trim()"))
