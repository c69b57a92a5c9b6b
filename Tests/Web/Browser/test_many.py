"""Ten thousand albums."""
from case import GalleryTest
from page import IN_VIEW, SCROLLER


class Many(GalleryTest):
    def test_they_take_few_elements_and_little_time_a_frame_the_keys_reach_both_ends_and_a_jump_reuses_the_covers_where_they_are(self):
        page = self.shared_gallery(10_000, warm=False).size(10_000).settled()
        page.focus_covers().press("End")
        self.assertIn("Album 10000", page.wait_for_place(10_000)["name"])
        self.assertLess(page.off_centre(), 2)
        page.settled()
        self.screenshot("10000")
        for _ in range(20):
            page.press("Left")
        page.wait_for_place(9_980)
        self.assertLess(page.value("$$('[role=option]').length"), 100)
        page.press("Home")
        self.assertIn("Album 00001", page.wait_for_place(1)["name"])
        self.assertLess(page.value("$$('[role=option]').length"), 100)
        page.browser.cdp("Performance.enable")
        page.browser.cdp("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"] for each in page.browser.cdp("Performance.getMetrics")["metrics"]}
        self.assertLess(metrics["JSHeapUsedSize"], 64e6)
        self.assertLess(metrics["Nodes"], 10_000)
        page.wall().settled()
        elements = "$$('*').length"
        self.assertLess(page.value(elements), 450)
        spent = self.seconds(f"""
            for (let frame = 0; frame < 60; frame++) {{
                {SCROLLER}.scrollTop += 40;
                await new Promise((resolve) => requestAnimationFrame(resolve));
            }}""")
        self.assertLess(spent / 60, 0.017, "seconds of the processor a frame")
        self.assertLess(page.value(elements), 450)
        page.scroll(0)
        covers, moved, placed = page.run(f"const scroller = {SCROLLER};" """
            const wall = $('#wall'), frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            scroller.scrollTop = scroller.scrollHeight / 3;
            await frames();
            const observer = new MutationObserver(() => {});
            observer.observe(wall, {subtree: true, childList: true});
            scroller.scrollTop *= 2;
            await frames();
            const moved = observer.takeRecords().flatMap(({addedNodes}) => [...addedNodes]).filter(({classList}) => classList?.contains('cover'));
            const covers = [...wall.querySelectorAll('.cover')];
            return [covers.length, moved.length, covers.filter((each) => each.style.transform && each.ariaSelected !== 'true').length];""")
        self.assertGreater(covers, 20)
        self.assertLess(moved, covers / 2, "a row more or less")
        self.assertEqual(placed, 0, "none but the chosen one has a place of its own")
        page.focus_covers().press("End")
        self.assertIn("Album 10000", page.wait_for_place(10_000)["name"])
        page.settled()
        self.assertLess(page.value(elements), 450)

    def test_the_first_covers_are_shown_before_all_albums_have_come_and_a_search_goes_quickly_to_the_best_match_and_back(self):
        page = self.shared_gallery(10_000, warm=False).leave()
        page.browser.cdp("Network.clearBrowserCookies")
        hold = page.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
            const original = fetch, held = new Promise((resolve) => (window.release = resolve));
            window.fetch = async (path, request) => (await (path.endsWith('api/library') && held), original(path, request));""")
        page.browser.get(self.stage.server.address)
        page.wait(f"{IN_VIEW}.some(({{dataset}}) => dataset.state === 'ready')", what="covers")
        self.assertFalse(page.value("document.documentElement.dataset.ready"))
        page.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", **hold)
        page.run("release()")
        page.ready().size(10_000)
        field = page.find("#search")
        field.send_keys("album 0123")
        page.size(11).wait("$$('output, [role=status]').some((each) => each.textContent.includes('11'))", what="the number of matches")
        field.send_keys("4")
        page.size(1)
        self.assertIn("Album 01234", page.chosen()["name"])
        field.send_keys(" nothing of that name")
        page.size(0)
        page.press("Escape").size(10_000)
        self.assertIn("Album 00001", page.chosen()["name"], "where it was before the search")
        page.focus_covers().press("End").wait_for_place(10_000)
        page.run("const field = $('#search'); field.focus(); field.value = 'artist 7';")
        spent = self.seconds("$('#search').dispatchEvent(new Event('input', {bubbles: true}))")
        self.assertIn("Artist 70", page.chosen()["name"])
        self.assertEqual(page.chosen()["place"], 1)
        self.assertLess(spent, 0.25, "seconds of the processor")
        page.press("Escape").wait_for_place(10_000)
