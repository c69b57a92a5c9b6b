"""Activity: finding covers from the page, the program's runs, failures, and the cache's totals."""
from case import GalleryTest
from test_doubtful import music as write_music

BIG_ENOUGH = "/[1-9]/.test(document.querySelector(arguments[0]).textContent)"


class Activity(GalleryTest):
    def opened(self, albums=None):
        """The page with the dialog, for albums without covers in the cache; those that tests share if none are given."""
        if albums:
            self.stage.serve(albums, warm=False)
        else:
            self.share(self.common.albums(6))
        page = self.open()
        page.click("#activity-open")
        page.appears("#activity")
        return page

    def test_before_the_first_cover_no_time_is_predicted(self):
        page = self.opened()
        page.run("""
            const {showPrefetch} = await import(new URL('activity.js', document.querySelector('script').src)), counts = {downloaded: 0, fresh: 0, joined: 0, skipped: 0, failed: 0, bytes: 0};
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
        page.click("#find-covers")
        page.until(
            "(({ariaValueMax, ariaValueNow}) => ariaValueMax > 1 && ariaValueNow === ariaValueMax)(document.querySelector('#progress'))",
            what="the progress to reach its end")
        rates = page.run("return [...window.rates]")
        self.assertTrue(any(float(rate.replace(",", "")) > 0 for rate in rates if rate.strip(".,")), rates)
        page.until("document.querySelector('#failures').children.length >= 2", what="the failures")
        failures = page.text("#failures")
        self.assertIn("Album 00101", failures)
        self.assertEqual(page.run("return [...document.querySelectorAll('#failures a')].map((link) => link.textContent).sort()"), ["Album 00101", "Album 00201"])
        self.assertIn("Not found at", failures)
        self.assertIn("The server answered 404", failures)
        self.assertIn("/covers/200.jpg", failures)
        page.until(BIG_ENOUGH, "#cache", what="the cache's size")
        self.screenshot("activity")
        page.reload()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})

    def endless(self):
        """Albums whose covers are not all there before a test ends."""
        return self.stage.albums(20) + self.stage.albums(100, "?delay=600000")[20:]

    def test_a_prefetch_can_be_stopped_and_begun_again(self):
        page = self.opened(self.endless())
        page.count_answers("api/prefetch")
        begin = page.run("return document.querySelector('#find-covers').innerText")
        for pressed in (0, 2):
            page.click("#find-covers")
            page.until("document.querySelector('#find-covers').innerText !== arguments[0]", begin, what="the button to offer stopping")
            # An event may tell of the beginning before the request is answered. Until then the button does nothing.
            page.until("answers === arguments[0]", pressed + 1, what="the answer to the button")
            page.click("#find-covers")
            page.until("document.querySelector('#find-covers').innerText === arguments[0]", begin, what="the prefetch to stop")
            page.until("answers === arguments[0]", pressed + 2, what="the answer to the button")
            self.assertTrue(page.run("const {ariaValueNow, ariaValueMax} = document.querySelector('#progress'); return Number(ariaValueNow) < Number(ariaValueMax)"))

    def test_a_page_opened_while_a_prefetch_runs_shows_it(self):
        page = self.opened(self.endless())
        part = "(({ariaValueNow, ariaValueMax}) => Number(ariaValueNow) > 0 && Number(ariaValueNow) < Number(ariaValueMax))(document.querySelector('#progress'))"
        page.click("#find-covers")
        page.until(part, what="the progress")
        other = self.second_page()
        other.click("#activity-open")
        other.until(part, what="the progress in the other page")

    def test_a_refresh_starts_from_there_tells_its_progress_and_its_outcome_and_can_be_stopped(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(40, "?cache-control=max-age%3D0"))
        page = self.open()
        page.covers_settle()
        self.stage.origin.pause()
        page.click("#activity-open")
        page.appears("#run-refresh")
        self.assertFalse(page.visible("#contact"), "no folder was scanned")
        page.click("#run-refresh")
        page.until("document.querySelector('#find-covers').textContent === 'Stop'", what="the run")
        page.until("/\\d/.test(document.querySelector('#run-text').textContent)", what="the progress")
        page.click("#find-covers")
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
        page.click("#find-covers")
        page.until("document.querySelector('#failures a')", what="the failure")
        page.click("#failures summary")
        page.click("#failures a")
        self.assertIn("Album 00012", page.wait_for_place(12)["name"])
        page.until("document.querySelector('#cover-reason').textContent.includes('404')", what="its reason")
        self.assertTrue(page.visible("#retry"))

    def test_a_run_is_told_in_the_words_of_the_page(self):
        page = self.opened()
        page.appears("#run-refresh")  # the server's own event has come
        said = page.run("""
            const {showRun} = await import(new URL('activity.js', document.querySelector('script').src)), said = [];
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

    def test_a_list_and_a_folder_of_music_are_added_there(self):
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
        page.appears("#contact")
        page.press("Escape")
        page.focus_covers()
        page.press("End")
        page.appears("#find")
        self.assertEqual(page.chosen()["name"].split(",")[0], "Low Tide")
        # No service is asked.
        page.run("window.asked = []; window.fetch = async (path, {method, body}) => (/prefetch|runs/.test(path) && asked.push(method, path, body), new Response('{}', {headers: {'Content-Type': 'application/json'}}))")
        page.click("#find")
        page.until("asked.length === 6", what="the download and the fill to be started")
        self.assertEqual(page.run("return asked"), ["POST", "api/prefetch", "{}", "POST", "api/runs/fill", "{}"])
        page.appears("#activity")

    def test_the_contact_is_asked_for_once(self):
        page = self.opened()
        page.appears("#run-refresh")  # the server's own event has come
        for known in (False, True):
            page.run("""
                const {showRun} = await import(new URL('activity.js', document.querySelector('script').src));
                showRun({possible: {fill: true, scan: true}, running: null, progress: ''});""")
            self.assertEqual(page.visible("#contact"), not known)
            if known: continue
            page.type("#contact", "me@example.org")
            page.press("Tab")
            page.reload()
            page.click("#activity-open")
            page.appears("#run-refresh")
        page.click("#run-more summary")
        self.assertEqual(page.run("return document.querySelector('#contact').value"), "me@example.org")

    def test_albums_that_failed_for_one_reason_are_one_line_with_their_count(self):
        page = self.opened()
        page.appears("#run-refresh")
        page.run("""
            const {showRun} = await import(new URL('activity.js', document.querySelector('script').src));
            const failures = ['a', 'b', 'c'].map((album) => ({album, title: album, reason: album === 'b' ? 'no answer came' : 'not found (404)'}));
            showRun({possible: {}, running: null, progress: '', failures});""")
        self.assertEqual(page.text("#failures-title"), "3 failed")
        self.assertEqual(page.run("return [...document.querySelectorAll('#failures > li')].map((each) => each.innerText.trim().split('\\n').join(': '))"),
                         ["2 not found (404)", "1 × No answer came"])
        page.click("#failures summary")
        self.assertTrue(page.visible("#failures details a"))

    def test_escape_a_press_beside_it_and_back_close_it_and_the_form_and_leave_no_entry(self):
        page = self.shared_gallery(6).wall()
        page.focus_covers()
        page.press("Enter")
        page.appears("#covers")
        for close in (lambda: page.press("Escape"), lambda: page.run("document.querySelector('#activity').click()"), page.browser.back):
            page.click("#activity-open")
            page.appears("#activity")
            self.assertTrue(page.visible("#covers"))
            close()
            page.appears("#activity", False)
            self.assertTrue(page.visible("#covers"))
        page.edit()
        page.browser.back()
        page.until("!document.querySelector('#album-dialog').open", what="the form to close")
        self.assertTrue(page.visible("#covers"))
        page.until("location.hash.startsWith('#/album/')", what="the album's address")
        page.browser.back()
        page.appears("#wall")
