"""The page without the origin, and without the server."""
import http.server
import threading

from case import GONE, GalleryTest


class BadGateway(http.server.BaseHTTPRequestHandler):
    """What a proxy answers for a server that is away."""

    def do_GET(self):
        self.send_response(502)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_PUT = do_GET

    def log_message(self, *_):
        pass


class Offline(GalleryTest):
    expected = GONE

    def seen(self, count=5):
        """Opens a gallery and waits until the service worker has stored its page and covers."""
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
                if (kept >= arguments[0] && await caches.match('/api/library')) return;
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

    def test_a_stale_cover_is_marked_and_a_fresh_one_is_not(self):
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

    def test_a_notice_appears_when_the_server_is_gone_and_disappears_when_it_is_back(self):
        page = self.gallery(5)
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        self.stage.start_server()
        page.until("!document.querySelector('#offline').checkVisibility()", what="the notice to go")
        page.click("#delete")
        page.size(4)

    STORED = """(async () => (await (await caches.open('sleeve-seen')).keys()).map((request) => new URL(request.url).pathname)
        .filter((path) => path.startsWith('/covers/')))()"""

    def test_covers_are_stored_while_the_user_keeps_browsing(self):
        page = self.gallery(40)
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        # Never a second without a key, so a delay that every new cover restarts would not end.
        page.run("""
            let presses = 0;
            window.browsing = setInterval(() => document.querySelector('#covers').dispatchEvent(new KeyboardEvent('keydown',
                {key: presses++ % 70 < 35 ? 'ArrowRight' : 'ArrowLeft', bubbles: true, cancelable: true})), 300);""")
        page.browser.run_async(
            f"while ((await {self.STORED}).length < 16) await new Promise((resolve) => setTimeout(resolve, 50));")
        page.run("clearInterval(window.browsing)")

    def test_covers_that_were_shown_are_stored_when_the_page_is_left(self):
        page = self.gallery(30)
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        page.covers_settle()
        # The page is left before any delay of a second or more ends.
        page.run("const original = setTimeout; window.setTimeout = (run, delay) => delay >= 1000 ? 0 : original(run, delay)")
        page.focus_covers()
        page.press("End")
        page.wait_for_place(30)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        shown = page.run("return new URL(document.querySelector('#covers [aria-selected=true] img').src).pathname")
        # A page of the same origin that stores nothing.
        page.browser.get(page.url + "icon.svg")
        page.browser.run_async(
            f"while (!(await {self.STORED}).includes(arguments[0]))"
            " await new Promise((resolve) => setTimeout(resolve, 25));", shown)

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

    def test_behind_a_proxy_that_answers_502_the_page_opens_as_without_the_server_and_recovers(self):
        page = self.seen()
        self.stage.server.close()
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", self.stage.server.port), BadGateway)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            page.reload()
            page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
            page.size(5)
            self.assertEqual(set(page.covers_settle().values()), {"ready"})
        finally:
            proxy.shutdown()
            proxy.server_close()
        self.stage.start_server()
        page.until("!document.querySelector('#offline').checkVisibility()", what="the notice to go")
        page.click("#delete")
        page.size(4)

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

    def keep_all(self, page, count):
        page.click("#panel-toggle")
        page.until("document.querySelector('#keep-hint').textContent.includes('Takes about')", what="how much it takes")
        page.click("#keep")
        page.click("#prefetch")
        page.until(
            "document.querySelector('#kept-state').textContent.startsWith(`Kept: ${arguments[0]} of ${arguments[0]} covers, `)", count,
            what=f"{count} covers to be kept")

    def test_all_covers_are_kept_with_consent_and_the_whole_library_is_there_without_the_server(self):
        page = self.gallery(120, warm=False)
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        self.keep_all(page, 120)
        self.assertEqual(page.browser.run_async(
            "const urls = (await (await caches.open('sleeve-kept')).keys()).map(({url}) => new URL(url));"
            "return [...new Set(urls.filter(({pathname}) => pathname.startsWith('/covers/')).map(({search}) => search))]"), ["?w=600"])
        self.assertRegex(page.run("return document.querySelector('#kept-state').textContent"), r"[\d.]+ MiB")
        self.screenshot("kept")
        self.stage.server.close(at_once=True)
        page.reload()
        page.size(120)
        page.focus_covers()
        for key, place in (("End", 120), ("Home", 1)):
            page.press(key)
            page.wait_for_place(place)
            self.assertEqual(set(page.covers_settle().values()), {"ready"})
        for place in range(9, 113, 13):
            page.run("const slider = document.querySelector('#position'); slider.value = arguments[0];"
                     "slider.dispatchEvent(new Event('input', {bubbles: true}))", place)
            page.wait_for_place(place + 1)
            self.assertEqual(set(page.covers_settle().values()), {"ready"}, place)

    def test_without_consent_a_cover_that_was_not_seen_says_so(self):
        page = self.seen()
        self.stage.write_library(self.stage.albums(60))
        page.size(60)
        page.browser.run_async("""
            for (;;) {
                const kept = await (await caches.match('/api/library'))?.json();
                if (kept?.albums.length === 60) return;
                await new Promise((resolve) => setTimeout(resolve, 25));
            }""")
        self.stage.server.close(at_once=True)
        page.reload()
        page.size(60)
        page.focus_covers()
        page.press("End")
        page.wait_for_place(60)
        page.until(
            "document.querySelector('#cover-reason').textContent === 'Not saved on this device. Reconnect to load it.'",
            what="the words")
        self.assertFalse(page.run("return document.querySelector('#retry').checkVisibility()"))

    def test_what_is_kept_can_be_removed_and_follows_the_library(self):
        page = self.gallery(6)
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        self.keep_all(page, 6)
        page.click("#delete")
        page.size(5)
        page.until("document.querySelector('#kept-state').textContent.startsWith('Kept: 5 of 5')", what="one to be dropped")
        page.click("#kept-remove")
        page.until("document.querySelector('#kept-state').textContent === ''", what="nothing to be kept")
        self.assertFalse(page.run("return document.querySelector('#keep').checked"))
        self.assertFalse(page.browser.run_async("return await caches.has('sleeve-kept')"))

    def test_kept_covers_leave_room_in_the_browser_and_the_limit_is_shown(self):
        self.serve(self.stage.albums(40))
        page = self.open(width=1280)
        page.browser.cdp("Page.addScriptToEvaluateOnNewDocument",
                         source="StorageManager.prototype.estimate = async () => ({quota: 500_000, usage: 0})")
        page.reload()
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        page.click("#panel-toggle")
        page.click("#keep")
        page.until("document.querySelector('#kept-state').textContent.includes('No more than 391 KiB fit')", what="the bound")
        kept = page.browser.run_async("""
            const cache = await caches.open('sleeve-kept');
            const responses = await Promise.all((await cache.keys()).map((request) => cache.match(request)));
            const covers = responses.filter((response) => response.url.includes('/covers/'));
            return (await Promise.all(covers.map((response) => response.blob()))).reduce((sum, blob) => sum + blob.size, 0);""")
        self.assertLessEqual(kept, 400_000)
        self.assertGreater(kept, 200_000)

    def test_a_browser_without_a_service_worker_says_that_it_cannot_keep_covers(self):
        self.serve(self.stage.albums(3))
        page = self.open(width=1280)
        page.browser.cdp("Page.addScriptToEvaluateOnNewDocument",
                         source="Object.defineProperty(Navigator.prototype, 'serviceWorker', {get: () => undefined})")
        page.reload()
        page.click("#panel-toggle")
        self.assertTrue(page.run("return document.querySelector('#keep').disabled"))
        self.assertIn("HTTPS", page.run("return document.querySelector('#keep-hint').textContent"))

    def test_edits_made_while_the_page_was_offline_are_shown_when_the_server_is_back(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()", what="the notice")
        self.stage.write_library(self.stage.albums(7))
        self.stage.start_server()
        page.size(7)
