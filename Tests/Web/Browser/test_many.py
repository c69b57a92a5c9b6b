"""A library of 10,000 albums."""
from case import GalleryTest
from page import IN_VIEW


class Many(GalleryTest):
    def test_ten_thousand_albums_take_few_elements_and_the_keys_reach_both_ends(self):
        page = self.shared_gallery(10_000, warm=False)
        page.size(10_000)
        page.covers_settle()
        self.assertLess(self.options(page), 100)
        page.focus_covers()
        page.press("End")
        self.assertIn("Album 10000", page.wait_for_place(10_000)["name"])
        self.assertLess(page.off_centre(), 2)
        page.covers_settle()
        self.screenshot("10000")
        for _ in range(20):
            page.press("Left")
        page.wait_for_place(9_980)
        self.assertLess(self.options(page), 100)
        page.press("Home")
        self.assertIn("Album 00001", page.wait_for_place(1)["name"])
        self.assertLess(self.options(page), 100)
        self.assert_lean(page)

    def test_the_first_covers_are_shown_before_all_albums_have_come(self):
        page = self.shared_gallery(10_000, warm=False)
        page.leave()
        page.browser.cdp("Network.clearBrowserCookies")
        hold = page.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
            const original = fetch, held = new Promise((resolve) => (window.release = resolve));
            window.fetch = async (path, request) => (await (path.endsWith('api/library') && held), original(path, request));""")
        page.browser.get(self.stage.server.address)
        page.until(f"{IN_VIEW}.some(({{dataset}}) => dataset.state === 'ready')", what="covers")
        self.assertFalse(page.run("return document.documentElement.dataset.ready"))
        page.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **hold)
        page.run("release()")
        page.ready().size(10_000)

    def options(self, page):
        return page.run("return document.querySelectorAll('[role=option]').length")

    def assert_lean(self, page):
        page.browser.cdp("Performance.enable")
        page.browser.cdp("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"] for each in page.browser.cdp("Performance.getMetrics")["metrics"]}
        self.assertLess(metrics["JSHeapUsedSize"], 64e6)
        self.assertLess(metrics["Nodes"], 10_000)

    def test_the_search_narrows_says_how_many_and_gives_all_back(self):
        page = self.shared_gallery(10_000, warm=False).wall()
        field = page.find("#search")
        field.send_keys("album 0123")
        found = sum("0123" in album["title"] for album in self.stage.saved())
        page.size(found)
        page.until(
            "[...document.querySelectorAll('output, [role=status]')].some((each) => each.textContent.includes(arguments[0]))",
            str(found), what="the number of matches")
        field.send_keys("4")
        page.size(1)
        self.assertIn("Album 01234", page.chosen()["name"])
        field.send_keys(" nothing of that name")
        page.size(0)
        page.press("Escape")
        page.size(10_000)
        self.assertIn("Album 00001", page.chosen()["name"], "where it was before the search")

    def test_the_search_goes_to_the_best_of_many_matches_wherever_it_begins_and_quickly(self):
        page = self.shared_gallery(10_000, warm=False).wall()
        page.focus_covers()
        page.press("End")
        page.wait_for_place(10_000)
        page.run("const field = document.querySelector('#search'); field.focus(); field.value = 'artist 7';")
        spent = self.seconds("document.querySelector('#search').dispatchEvent(new Event('input', {bubbles: true}))")
        self.assertIn("Artist 70", page.chosen()["name"])
        self.assertEqual(page.chosen()["place"], 1)
        self.assertLess(spent, 0.25, "seconds of the processor")
        page.press("Escape")
        page.wait_for_place(10_000)
