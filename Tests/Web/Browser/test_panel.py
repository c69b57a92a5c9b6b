"""The panel: prefetching from the page, and the cache's totals."""
from case import GalleryTest
from test_doubtful import music as write_music

BIG_ENOUGH = "/[1-9]/.test(document.querySelector(arguments[0]).textContent)"


class Panel(GalleryTest):
    def opened(self, albums=None):
        """The page with the panel, for albums without covers in the cache; those that tests share if none are given."""
        if albums:
            self.stage.serve(albums, warm=False)
        else:
            self.share(self.common.albums(6))
        page = self.open()
        page.click("#panel-toggle")
        page.until("document.querySelector('#panel-toggle').ariaExpanded === 'true'")
        page.appears("#panel")
        return page

    def test_before_the_first_cover_no_time_is_predicted(self):
        page = self.opened()
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
        self.assertEqual(page.run("return [...document.querySelectorAll('#failures a')].map((link) => link.textContent).sort()"), ["Album 00101", "Album 00201"])
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
        self.stage.start_origin()
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

    def test_a_failure_leads_to_its_album_where_it_is_tried_again(self):
        albums = self.stage.albums(20)
        albums[11]["coverUrl"] += "?status=404"
        page = self.opened(albums)
        page.click("#prefetch")
        page.until("document.querySelector('#failures a')", what="the failure")
        page.click("#failures a")
        self.assertIn("Album 00012", page.wait_for_place(12)["name"])
        page.until("document.querySelector('#cover-reason').textContent.includes('404')", what="its reason")
        self.assertTrue(page.visible("#retry"))

    def test_a_run_is_told_in_the_words_of_the_page(self):
        page = self.opened()
        page.appears("#run-refresh")  # the server's own event has come
        said = page.run("""
            const {showRun} = await import(new URL('runs.js', document.querySelector('script').src)), said = [];
            const show = (state) => {
                showRun({possible: {refresh: true, fill: true}, running: null, progress: '', name: null, result: null, problem: null, failures: [], ...state});
                said.push(document.querySelector('#run-text').textContent);
            };
            show({running: 'fill', progress: 'sleeve: 3 of 30 albums filled'});
            show({name: 'fill', result: {albums: 30, filled: 22, missing: 5, doubtful: 2, failed: 1, unwritten: 0}});
            said.push(document.querySelector('#run-review').checkVisibility());
            show({name: 'fill', problem: 'no folder was named; see `sleeve fill --help`'});
            show({name: 'refresh', result: {requested: 12, downloaded: 1, bytes: 2048, failed: 0, gone: 0}});
            show({name: 'import', result: {imported: 1, completed: 3, known: 2, skipped: 0}});
            return said;""")
        self.assertEqual(said, [
            "Looking for covers… 3 of 30 albums filled",
            "Found covers for 22 of 30 albums. 5 albums have no cover at the services that were asked. 2 albums have only doubtful covers. "
            "1 album failed; the next run tries again.", True,
            "No folder was named; see “sleeve fill --help”", "Checked 12 covers: 1 newer (2 KiB).", "Imported 1 album. 3 got what they lacked. 2 were here already."])

    def test_a_list_and_a_folder_of_music_are_added_from_the_panel(self):
        page = self.opened(self.stage.albums(2))
        page.appears("#run-more")
        page.click("#run-more summary")
        more = self.stage.folder / "more.csv"
        more.write_text("title,artist,year\nNightjar,Vela,1994\nSalt,Vela,1996\n")
        page.type("#list-file", str(more))
        page.size(4)
        page.until("document.querySelector('#run-text').textContent === 'Imported 2 albums.'", what="the outcome")
        more.write_text('[{"title": "A"},\n{"title": "B",, }]')
        page.type("#list-file", str(more))
        page.until("document.querySelector('#run-text').textContent.startsWith('The list:2:15: malformed JSON')", what="the place of the fault")
        self.assertTrue(page.text("#run-text").endswith("; nothing was imported"), page.text("#run-text"))
        page.appears("#run-import")
        music = self.stage.folder / "music" / "Low Tide"
        music.mkdir(parents=True)
        write_music(music / "1.flac", ALBUM="Low Tide", ALBUMARTIST="The Harbour Lights", DATE="1971", TITLE="One")
        page.type("#run-scan input", str(music.parent))
        page.click("#run-scan button")
        page.size(5)
        page.until("document.querySelector('#run-text').textContent === 'Found 1 album; 1 new.'", what="the outcome of the scan")
        page.appears("#run-fill")
        page.focus_covers()
        page.press("End")
        page.appears("#find")
        self.assertEqual(page.chosen()["name"].split(",")[0], "Low Tide")
        # No service is asked.
        page.run("window.fetch = async (path) => (window.asked = path, new Response('{}', {headers: {'Content-Type': 'application/json'}}))")
        page.click("#find")
        page.until("window.asked === 'api/runs/fill'", what="the fill to be started")
        page.appears("#panel")

    def test_escape_closes_the_panel_wherever_the_focus_is(self):
        page = self.opened()
        for place in ("#menu-toggle", "#panel-close", "#covers"):
            page.focus(place)
            page.press("Escape")
            page.appears("#panel", False)
            self.assertEqual(page.run("return document.activeElement.id"), "menu-toggle")
            page.click("#panel-toggle")
            page.appears("#panel")

    def test_the_panel_closes_again(self):
        page = self.opened()
        page.click("#panel-toggle")
        page.until("document.querySelector('#panel-toggle').ariaExpanded === 'false'")
        page.appears("#panel", False)
