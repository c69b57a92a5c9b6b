"""The panel: prefetching from the page, and the cache's totals."""
from case import GalleryTest

BIG_ENOUGH = "/[1-9]/.test(document.querySelector(arguments[0]).textContent)"


class Panel(GalleryTest):
    def opened(self, albums):
        self.stage.serve(albums, warm=False)
        page = self.open()
        page.click("#panel-toggle")
        page.until("document.querySelector('#panel-toggle').ariaExpanded === 'true'")
        page.appears("#panel")
        return page

    def test_before_the_first_cover_no_time_is_predicted(self):
        page = self.opened(self.stage.albums(3))
        page.run("""
            const {showPrefetch} = await import(new URL('panel.js', document.querySelector('script').src)), counts = {downloaded: 0, fresh: 0, joined: 0, skipped: 0, failed: 0, bytes: 0};
            showPrefetch({running: true, total: 3, settled: 0, seconds: 5, ...counts});""")
        self.assertNotIn("left", page.text("#outcome"))

    def test_a_prefetch_reaches_its_end_tells_its_rate_and_lists_what_failed(self):
        albums = self.stage.albums(300, "?delay=20")
        albums[100]["coverUrl"] = f"{self.stage.origin.base}/covers/100.jpg?status=404"
        albums[200]["coverUrl"] = f"{self.stage.origin.base}/covers/200.jpg?fault=html"
        page = self.opened(albums)
        rates = page.run("""
            window.rates = new Set();
            const rate = document.querySelector('#rate');
            const look = () => { const found = rate.textContent.match(/[\\d.,]+/); if (found) window.rates.add(found[0]); };
            new MutationObserver(look).observe(rate, {subtree: true, childList: true, characterData: true});""")
        page.click("#prefetch")
        page.until(
            "(bar => bar.position === 1 || bar.max > 1 && bar.value === bar.max)(document.querySelector('#progress'))",
            what="the progress to reach its end")
        rates = page.run("return [...window.rates]")
        self.assertTrue(any(float(rate.replace(",", "")) > 0 for rate in rates if rate.strip(".,")), rates)
        page.until("document.querySelector('#failures').children.length >= 2", what="the failures")
        failures = page.text("#failures")
        self.assertIn("Album 00101", failures)
        self.assertIn("has no cover at this address (404)", failures)
        self.assertIn("The server answered 404", failures)
        self.assertIn("/covers/200.jpg", failures)
        page.until(BIG_ENOUGH, "#cache-size", what="the cache's size")
        self.screenshot("panel")
        page.reload()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})

    def endless(self):
        """Albums whose covers are not all there before a test ends."""
        return self.stage.albums(20) + self.stage.albums(100, "?delay=600000")[20:]

    def test_a_prefetch_can_be_stopped_and_begun_again(self):
        page = self.opened(self.endless())
        page.count_answers("api/prefetch")
        begin = page.run("return document.querySelector('#prefetch').innerText")
        for pressed in (0, 2):
            page.click("#prefetch")
            page.until("document.querySelector('#prefetch').innerText !== arguments[0]", begin, what="the button to offer stopping")
            # An event may tell of the beginning before the request is answered. Until then the button does nothing.
            page.until("answers === arguments[0]", pressed + 1, what="the answer to the button")
            page.click("#prefetch")
            page.until("document.querySelector('#prefetch').innerText === arguments[0]", begin, what="the prefetch to stop")
            page.until("answers === arguments[0]", pressed + 2, what="the answer to the button")
            self.assertLess(page.run("return document.querySelector('#progress').position"), 1)

    def test_a_page_opened_while_a_prefetch_runs_shows_it(self):
        page = self.opened(self.endless())
        part = "(({position}) => position > 0 && position < 1)(document.querySelector('#progress'))"
        page.click("#prefetch")
        page.until(part, what="the progress")
        other = self.second_page()
        other.click("#panel-toggle")
        other.until(part, what="the progress in the other page")

    def test_a_refresh_starts_from_the_panel_tells_its_progress_and_its_outcome_and_can_be_stopped(self):
        self.stage.serve(self.stage.albums(40, "?cache-control=max-age%3D0"))
        page = self.open()
        page.covers_settle()
        self.stage.origin.pause()
        page.click("#panel-toggle")
        page.appears("#run-refresh")
        self.assertFalse(page.visible("#run-fill"), "no folder was scanned")
        page.click("#run-refresh")
        page.appears("#run-stop")
        page.until("/\\d/.test(document.querySelector('#run-text').textContent)", what="the progress")
        page.click("#run-stop")
        page.appears("#run-refresh")
        self.assertRegex(page.text("#run-text"), "[Ss]topped")
        self.stage.origin.resume()
        page.click("#run-refresh")
        page.until("document.querySelector('#run-refresh').checkVisibility() && !/[Ss]topped/.test(document.querySelector('#run-text').textContent)", what="its end")
        self.screenshot("runs")

    def test_escape_closes_the_panel_wherever_the_focus_is(self):
        page = self.opened(self.stage.albums(3))
        for place in ("#panel-toggle", "#panel-close", "#covers"):
            page.focus(place)
            page.press("Escape")
            page.appears("#panel", False)
            self.assertEqual(page.run("return document.activeElement.id"), "panel-toggle")
            page.click("#panel-toggle")
            page.appears("#panel")

    def test_the_panel_closes_again(self):
        page = self.opened(self.stage.albums(3))
        page.click("#panel-toggle")
        page.until("document.querySelector('#panel-toggle').ariaExpanded === 'false'")
        page.appears("#panel", False)
