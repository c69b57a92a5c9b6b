"""Covers that are not in the cache yet, unreachable origins, the order of requests, and the size of what is loaded."""
import threading
import time
import urllib.request

import inputs
from case import GalleryTest
from page import CHOSEN, IN_VIEW, SCROLLER


WAITING = f"{IN_VIEW}.some((option) => option.dataset.state === 'waiting')"


class Arriving(GalleryTest):
    def test_changing_order_and_view_while_covers_arrive_throws_nothing(self):
        page = self.gallery(200, warm=False)
        for _ in range(3):
            page.run("$('#view').click()")
            # What is thrown is in the console, which every test checks.
            page.run(f"const wall = {SCROLLER};" """
                for (const order of ['artist', 'title', 'year', 'genre', 'library']) {
                    $(`[name=sort][value=${order}]`).click();
                    for (let frame = 0; frame < 10; frame++) {
                        wall.scrollTop += 150;
                        await new Promise((resolve) => requestAnimationFrame(resolve));
                    }
                }""")
        page.settled()

    def test_a_cover_waits_until_it_arrives_without_polling(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(8), warm=False)
        self.stage.origin.pause()
        page = self.open()
        page.wait(WAITING, what="a cover that waits").installed()
        # Until the page has sent no request for three seconds.
        page.run("""
            await new Promise((resolve) => {
                let timer = setTimeout(resolve, 3000);
                const later = () => { clearTimeout(timer); timer = setTimeout(resolve, 3000); };
                new PerformanceObserver(later).observe({type: 'resource'});
            });""")
        begun = page.value("performance.now()")
        page.run("await new Promise((resolve) => setTimeout(resolve, 2000));")  # The page is observed for two seconds.
        self.assertTrue(page.value(WAITING))
        asked = """performance.getEntriesByType('resource').filter((entry) => entry.startTime > arguments[0])
            .map((entry) => new URL(entry.name).pathname.split('/')[1])"""
        self.assertEqual(page.value(asked, begun), [], "the page polls")
        self.stage.origin.resume()
        page.all_ready()
        self.assertEqual(set(page.value(asked, begun)), {"covers"}, "more than the pictures")

    def test_covers_in_view_come_before_those_near_and_each_is_marked_with_the_time_it_was_in_the_cache(self):
        begun = time.time() * 1000 - 1
        page = self.gallery(60, warm=False, query="?delay=150").settled()
        # The system's clock may have been adjusted since the browser read it.
        now = page.value("performance.timeOrigin + performance.now()")
        ended = time.time() * 1000 + 2
        ahead = now - ended  # at the least
        # Those that arrived by an event; covers cached before the page's request are in its response.
        seen = set(page.value(f"{IN_VIEW}.map((option) => option.dataset.id)"))
        marks = [mark for mark in page.value("performance.getEntriesByName('sleeve:arrival').map(({detail}) => detail)") if mark["stopped"] <= now]
        at = {mark["id"]: mark["at"] for mark in marks}
        self.assertTrue(seen & set(at), "no cover in view came by an event")
        self.assertLessEqual(set(at), {album["id"] for album in self.stage.server.ask("GET", "api/library")[1]["albums"]})
        for mark in marks:
            # The server's clock counts whole milliseconds.
            self.assertTrue(begun <= mark["at"] <= ended, f"{begun}, {mark}, {ended}")
            self.assertTrue(mark["at"] <= mark["stopped"] - ahead + 1, f"{mark}, {now}, {ahead}")
        first = sorted(at, key=at.get)[:len(seen) + 16]
        self.assertEqual(seen & set(at) - set(first), set(), "another cover came first")


class Failing(GalleryTest):
    expected = ("Failed to load resource",)

    def test_a_cover_that_fails_says_why_and_arrives_when_it_is_retried_and_an_album_without_one_says_so(self):
        self.stage.start_origin()
        albums = self.stage.albums(5)
        albums[0]["coverUrl"] += "?status=404&times=1"
        albums[1]["coverUrl"] = ""
        page = self.gallery_of(albums, warm=False)
        states = page.covers_settle()
        self.assertEqual(states.pop(page.chosen()["id"]), "failed")
        self.assertLessEqual(set(states.values()), {"ready", "missing"})
        self.assertIn("Not found at", page.text("#cover-reason"))
        self.screenshot("failure")
        page.click("#retry").wait(f"{CHOSEN}.dataset.state === 'ready'", what="its cover")
        self.assertFalse(page.visible("#cover-reason"))
        page.focus_covers().press("Right").tells("#cover-reason", "No cover yet")
        self.assertFalse(page.visible("#retry"), "there is nothing to try")

    def test_a_cover_that_was_evicted_since_the_page_learnt_of_it_is_downloaded_again(self):
        page = self.gallery(40).settled()
        # The page knows that it is cached, and has not loaded its picture.
        place, picture = 16, "$('#covers [aria-posinset=\"16\"]')"
        self.assertIsNone(page.value(picture))
        self.stage.run("cache", "remove", f"{self.stage.origin.base}/covers/{place}.jpg")
        page.focus_covers()
        for key in ("Page_Down", *["Right"] * (place - 11)):
            page.press(key)
        page.wait_for_place(place)
        page.wait(f"{picture}?.dataset.state === 'ready'", what="its picture")
        self.stage.run("get", "--offline", f"{self.stage.origin.base}/covers/{place}.jpg", "-o", self.stage.folder / "cover.jpg")

    def test_an_unreachable_origin_is_named_as_the_reason_and_what_failed_has_no_pixels_to_show(self):
        self.stage.start_origin()
        albums = self.stage.albums(3)
        self.stage.origin.close()
        page = self.gallery_of(albums, warm=False)
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        self.assertRegex(page.text("#cover-reason"), r"^Can’t reach 127\.0\.0\.1:\d+\. ")
        self.assertEqual(
            page.value("$$('main button, main [class=retry]').filter((each) => /try again/i.test(each.textContent + each.ariaLabel)).length"), 1)
        self.assertFalse(page.visible("#cover-cause p"))
        page.focus("#cover-cause summary").press("Enter").appears("#cover-cause p")
        self.assertIn("onnect", page.text("#cover-cause p"))
        self.assertNotIn("onnect to", page.text("#covers"))
        self.screenshot("unreachable")
        page.rest()
        inputs.click(page.browser, *page.place_of(1))
        page.focus_covers().press("Enter").rest()
        self.assertFalse(page.value("$('#zoom').matches(':modal')"))


class Recovering(GalleryTest):
    expected = ("Failed to load resource",)

    def recovers(self, act=lambda page: None):
        """Opens a gallery without its origin, which comes back before an act of the user."""
        self.stage.start_origin()
        self.stage.write_library(self.stage.albums(12))
        port = self.stage.origin.port
        self.stage.origin.close()
        self.stage.start_server()
        page = self.open()
        self.assertEqual(set(page.covers_settle().values()), {"failed"})
        self.stage.start("origin", "--port", port)
        act(page)
        page.wait(f"{IN_VIEW}.every(({{dataset}}) => dataset.state === 'ready')", what="the covers in view")

    def test_a_page_that_was_opened_before_its_origin_recovers_by_itself(self):
        self.recovers()

    def test_trying_one_cover_again_sends_a_request_and_brings_the_others_of_its_host(self):
        # Not by the mouse: the button is hidden if the page has recovered by itself in this moment.
        self.recovers(lambda page: page.run("$('#retry').click()"))


class Order(GalleryTest):
    def test_the_chosen_cover_and_its_neighbours_are_asked_for_first_and_a_change_of_place_reorders_them(self):
        asked, gate, origin = [], threading.Event(), self.stage.origin.base

        def witness(path):
            """A proxy that notes what is asked for, and answers when its gate opens."""
            asked.append(int(path.split("/")[-1].split(".")[0]))
            gate.wait(60)
            return 200, urllib.request.urlopen(origin + path).read()

        port = self.imitate(witness).server_port
        self.addCleanup(gate.set)
        albums = [{**album, "coverUrl": f"http://127.0.0.1:{port}/covers/{number}.jpg"}
                  for number, album in enumerate(self.stage.albums(200), 1)]
        # Those in flight at the same time arrive in any order.
        page = self.gallery_of(albums, "--per-host", "4", warm=False)
        self.eventually(lambda: len(asked) >= 4, "the first requests")
        self.assertEqual(sorted(asked[:4]), [1, 2, 3, 4], "the chosen one and its neighbours, outwards")
        sent = len(asked)
        page.run("""
            const original = fetch;
            window.fetch = async (path, request) => {
                const response = await original(path, request);
                if (path === 'api/covers') [window.reported] = JSON.parse(request.body).view;
                return response;
            };""")
        page.focus_covers().press("End")
        page.wait("reported === arguments[0]", page.wait_for_place(200)["id"], what="the server to know what is looked at")
        gate.set()
        page.all_ready()
        before = asked[sent:asked.index(200)]
        self.assertLessEqual(len(before), 8, f"asked for before what is looked at now: {before}")


class Sizes(GalleryTest):
    expected = ("covers/slow",)

    def assert_step(self, page, step, what):
        """The pictures in view have this step."""
        page.settled()
        self.assertEqual(set(page.value("$$('.cover[data-state=ready] img').map((image) => new URL(image.currentSrc).search)")), {f"?w={step}"}, what)

    def test_each_view_loads_the_step_that_the_screen_needs_and_the_browser_keeps_the_one_that_was_shown(self):
        page = self.shared_gallery(12)
        for width, height, ratio, step in ((844, 390, 1, 300), (844, 390, 3, 600), (1280, 800, 1, 1200)):
            inputs.screen(page.browser, width, height, ratio)
            page.leave()
            page.browser.cdp("Network.clearBrowserCache")
            page.open()
            self.assert_step(page, step, (width, ratio))
        page.until("(await (await caches.open('sleeve-seen')).keys()).filter(({url}) => new URL(url).search === '?w=1200').length >= 3",
                   what="three covers to be stored")
        page.wall()
        # A browser that has a larger picture does not load another one, so the page is left first.
        page.remembered(view="wall")
        page.leave()
        page.browser.cdp("Network.clearBrowserCache")
        page.open(page.server.address)
        self.assert_step(page, 300, "wall")

    def test_the_dominant_colour_comes_before_a_slow_picture_and_no_words_do(self):
        page = self.shared_gallery(12).settled()
        page.run("await import(new URL('cover-view.js', $('script').src))")
        self.stage.server.pause()
        self.addCleanup(self.stage.server.resume)
        first = page.run("""
            const {makeView, assign, tint, showPicture} = await import(new URL('cover-view.js', $('script').src));
            const view = window.view = makeView();
            $('#covers').append(view);
            assign(view, {id: 'x', title: 'X', artist: ''});
            tint(view, '#123456');
            showPicture(view, 'covers/slow', {size: 100, exact: true});
            return [getComputedStyle(view).backgroundColor, Boolean(view.querySelector('.name'))];""")
        self.assertEqual(first, ["rgb(18, 52, 86)", False])
        self.assertEqual(page.value("getComputedStyle(view).backgroundColor"), "rgb(18, 52, 86)")
        page.run("view.remove()")
        self.stage.server.resume()
