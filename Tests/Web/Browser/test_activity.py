"""Activity: finding covers from the page, the program's runs, failures, and the cache's totals."""
from case import GalleryTest
from test_doubtful import music as write_music

PART = "(({ariaValueNow, ariaValueMax}) => Number(ariaValueNow) > 0 && Number(ariaValueNow) < Number(ariaValueMax))($('#progress'))"
SHOW = "const {showRun, showPrefetch} = await import(new URL('activity.js', $('script').src));"


class Activity(GalleryTest):
    def opened(self, albums=None):
        """The page with the dialog, for albums without covers in the cache; those that tests share if none are given."""
        if albums:
            self.stage.serve(albums, warm=False)
        else:
            self.share(self.common.albums(6))
        return self.open().click("#activity-open").appears("#activity")

    def test_a_prefetch_reaches_its_end_tells_its_rate_and_lists_what_failed_which_leads_to_the_album(self):
        albums = self.stage.albums(150, "?delay=150")
        albums[50]["coverUrl"] = f"{self.stage.origin.base}/covers/50.jpg?status=404"
        albums[100]["coverUrl"] = f"{self.stage.origin.base}/covers/100.jpg?fault=html"
        page = self.opened(albums)
        page.run("""
            window.rates = [];
            const look = () => rates.push(...$('#rate').textContent.match(/[\\d.,]+/) ?? []);
            new MutationObserver(look).observe($('#rate'), {subtree: true, childList: true, characterData: true});""")
        page.click("#find-covers")
        page.wait("(({ariaValueMax, ariaValueNow}) => ariaValueMax > 1 && ariaValueNow === ariaValueMax)($('#progress'))", what="the progress to reach its end")
        rates = page.value("rates")
        self.assertTrue(any(float(rate.replace(",", "")) > 0 for rate in rates if rate.strip(".,")), rates)
        page.wait("$('#failures').children.length >= 2", what="the failures")
        self.assertEqual(page.value("$$('#failures a').map((link) => link.textContent).sort()"), ["Album 00051", "Album 00101"])
        for part in ("Not found at", "The server answered 404", "/covers/100.jpg"):
            self.assertIn(part, page.value("$$('#failures a').map(({title}) => title).join()"))
        page.wait("/[1-9]/.test($('#cache').textContent)", what="the cache's size")
        self.screenshot("activity")
        page.click("#failures summary")
        page.run("$$('#failures a').find((each) => each.textContent === 'Album 00051').click()")
        self.assertIn("Album 00051", page.wait_for_place(51)["name"])
        page.tells("#cover-reason", "404")
        self.assertTrue(page.visible("#retry"), "it is tried again there")
        page.focus_covers().press("Home").wait_for_place(1)
        page.all_ready()

    def test_a_prefetch_can_be_stopped_and_begun_again_and_a_page_that_is_opened_meanwhile_shows_it(self):
        # The covers of most are not all there before the test ends.
        page = self.opened(self.stage.albums(20) + self.stage.albums(100, "?delay=600000")[20:])
        page.count_answers("api/prefetch")
        begin = page.value("$('#find-covers').innerText")

        def press(answers, begins):
            page.click("#find-covers")
            page.wait("($('#find-covers').innerText === arguments[0]) === arguments[1]", begin, not begins, what="the button to offer the contrary")
            # An event may tell of the beginning before the request is answered. Until then the button does nothing.
            page.wait("answers === arguments[0]", answers, what="the answer to the button")

        for pressed in (0, 2):
            press(pressed + 1, begins=True)
            press(pressed + 2, begins=False)
            self.assertTrue(page.run("const {ariaValueNow, ariaValueMax} = $('#progress'); return Number(ariaValueNow) < Number(ariaValueMax)"))
        press(5, begins=True)
        page.wait(PART, what="the progress")
        other = self.second_page()
        other.click("#activity-open").wait(PART, what="the progress in the other page")

    def test_a_refresh_starts_from_there_tells_its_progress_and_its_outcome_and_can_be_stopped(self):
        self.stage.start_origin()
        page = self.gallery_of(self.stage.albums(40, "?cache-control=max-age%3D0")).settled()
        self.stage.origin.pause()
        page.click("#activity-open").appears("#run-refresh")
        self.assertFalse(page.visible("#contact"), "no folder was scanned")
        page.click("#run-refresh").reads("#find-covers", "Stop")
        page.wait("/\\d/.test($('#run-text').textContent)", what="the progress")
        page.click("#find-covers").appears("#run-refresh")
        self.assertRegex(page.text("#run-text"), "[Ss]topped")
        self.stage.origin.resume()
        page.click("#run-refresh").wait("$('#run-refresh').checkVisibility() && !/[Ss]topped/.test($('#run-text').textContent)", what="its end")
        self.screenshot("runs")

    def test_runs_and_failures_are_told_in_the_words_of_the_page_and_the_contact_is_asked_for_once(self):
        page = self.opened()
        page.appears("#run-refresh")  # the server's own event has come
        said = page.run(SHOW + """
            const said = [];
            showPrefetch({running: true, total: 3, settled: 0, seconds: 5, downloaded: 0, fresh: 0, joined: 0, skipped: 0, failed: 0, bytes: 0});
            said.push($('#outcome').textContent.includes('left'));
            const show = (state) => {
                showRun({possible: {refresh: true, fill: true}, running: null, progress: '', name: null, result: null, problem: null, failures: [], ...state});
                said.push($('#run-text').textContent);
            };
            show({running: 'fill', progress: 'sleeve: 3 of 30 albums filled'});
            show({name: 'fill', result: {albums: 30, filled: 22, missing: 5, doubtful: 2, failed: 1, unwritten: 0}});
            said.push($('#run-review').checkVisibility());
            show({name: 'fill', problem: 'no folder was named; see `sleeve fill --help`'});
            show({name: 'refresh', result: {requested: 12, downloaded: 1, bytes: 2000, failed: 0, gone: 0}});
            show({name: 'import', result: {imported: 1, completed: 3, known: 2, skipped: 0}});
            return said;""")
        self.assertEqual(said, [
            False,  # before the first cover no time is predicted
            "Looking for covers… 3 of 30 albums filled",
            "Found covers for 22 of 30 albums. 5 albums have no cover at the services that were asked. 2 albums have only doubtful covers. "
            "1 album failed; the next run tries again.", True,
            "No folder was named; see “sleeve fill --help”", "Checked 12 covers: 1 newer (2 KB).", "Imported 1 album. 3 got what they lacked. 2 were here already."])
        page.run(SHOW + """
            const failures = ['a', 'b', 'c'].map((album) => ({album, title: album, reason: album === 'b' ? 'no answer came' : 'not found (404)'}));
            showPrefetch({total: 40, settled: 40, downloaded: 9, fresh: 0, joined: 0, skipped: 0, failed: 31, failures: [failures[0]],
                unlisted: [{reason: 'gone (404)', count: 30}]});
            showRun({possible: {}, running: null, progress: '', failures: failures.slice(1)});""")
        self.assertEqual(page.text("#failures-title"), "33 failed")
        self.assertEqual(page.value("$$('#failures > li').map((each) => each.innerText.trim().split('\\n').join(': '))"),
                         ["32 not found (404)", "1 × No answer came"], "one line a reason, with its count")
        page.click("#failures summary")
        self.assertEqual(page.value("$('#failures details li:last-child').innerText"), "and 30 more")
        self.assertTrue(page.visible("#failures details a"))
        for known in (False, True):
            page.run(SHOW + "showRun({possible: {fill: true, scan: true}, running: null, progress: ''});")
            self.assertEqual(page.visible("#contact"), not known)
            if known: continue
            page.type("#contact", "me@example.org").press("Tab").reload().click("#activity-open").appears("#run-refresh")
        page.click("#run-folder")
        self.assertEqual(page.value("$('#contact').value"), "me@example.org")

    def test_a_list_and_a_folder_of_music_are_added_there(self):
        page = self.opened(self.stage.albums(2)).appears("#run-folder")
        page.click("#run-folder")
        more = self.stage.folder / "more.csv"
        more.write_text("title,artist,year\nNightjar,Vela,1994\nSalt,Vela,1996\n")
        page.type("#list-file", str(more)).size(4).reads("#run-text", "Imported 2 albums.")
        more.write_text('[{"title": "A"},\n{"title": "B",, }]')
        page.type("#list-file", str(more))
        page.wait("$('#run-text').textContent.startsWith('The list:2:15: malformed JSON')", what="the place of the fault")
        self.assertTrue(page.text("#run-text").endswith("; nothing was imported"), page.text("#run-text"))
        page.appears("#run-import")
        music = self.stage.folder / "music" / "Low Tide"
        music.mkdir(parents=True)
        write_music(music / "1.flac", ALBUM="Low Tide", ALBUMARTIST="The Harbour Lights", DATE="1971", TITLE="One")
        page.type("#run-scan input", str(music.parent)).click("#run-scan button").size(5)
        page.reads("#run-text", "Found 1 album; 1 new.").appears("#contact")
        page.press("Escape").focus_covers().press("End").appears("#find")
        self.assertEqual(page.chosen()["name"].split(",")[0], "Low Tide")
        # No service is asked.
        page.run("""
            window.asked = [];
            window.fetch = async (path, {method, body}) => {
                if (/prefetch|runs/.test(path)) asked.push(method, path, body);
                return new Response('{}', {headers: {'Content-Type': 'application/json'}});
            };""")
        page.click("#find").wait("asked.length === 6", what="the download and the fill to be started")
        self.assertEqual(page.value("asked"), ["POST", "api/prefetch", "{}", "POST", "api/runs/fill", "{}"])
        page.appears("#activity")

    def test_escape_a_press_beside_it_and_back_close_it_and_the_form_and_leave_no_entry(self):
        page = self.shared_gallery(6).wall().focus_covers().press("Enter").appears("#covers")
        for close in (lambda: page.press("Escape"), lambda: page.run("$('#activity').click()"), page.back):
            page.click("#activity-open").appears("#activity")
            self.assertTrue(page.visible("#covers"))
            close()
            page.appears("#activity", False)
            self.assertTrue(page.visible("#covers"))
        page.edit().back().wait("!$('#album-dialog').open", what="the form to close")
        self.assertTrue(page.visible("#covers"))
        page.address("#/album/")
        page.back().appears("#wall")
