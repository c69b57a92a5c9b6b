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


# The paths of the covers that the service worker has stored.
STORED = """(await (await caches.open('sleeve-seen')).keys()).map((request) => new URL(request.url).pathname)
    .filter((path) => path.startsWith('/covers/'))"""


class Offline(GalleryTest):
    expected = GONE

    def seen(self, count=5):
        """Opens a gallery and waits until the service worker has stored its page and covers."""
        page = self.gallery(count)
        self.stored(page, count)
        return page

    def stored(self, page, count):
        page.installed()
        page.covers_settle()
        page.stored(count)

    def test_covers_come_from_the_cache_when_the_origin_is_gone(self):
        self.stage.start_origin()
        page = self.gallery(12)
        self.stage.origin.close()
        page.reload()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        page.focus_covers()
        page.press("End")
        page.wait_for_place(12)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertFalse(page.visible("#offline"), "the server is there")

    def test_a_stale_cover_is_marked_and_a_fresh_one_is_not(self):
        albums = self.stage.albums(3)
        albums[1]["coverUrl"] += "?cache-control=max-age%3D0"
        self.stage.serve(albums)
        page = self.open()
        seen = "(document.querySelector('#picture [data-field=age]').textContent.endsWith('older copy'))"
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        self.assertFalse(page.run(f"return {seen}"), "it is fresh")
        page.focus_covers()
        page.press("Right")
        page.until(seen, what="the mark")
        self.assertIn("may have changed", page.run("return document.querySelector('#picture [data-field=age]').title"))
        self.screenshot("stale")
        page.press("Right")
        page.until(f"!{seen}", what="the mark to go")

    def test_a_notice_appears_when_the_server_is_gone_and_disappears_when_it_is_back(self):
        page = self.gallery(5)
        self.stage.server.close(at_once=True)
        page.appears("#offline")
        self.stage.start_server()
        page.appears("#offline", False)
        page.click("#delete")
        page.size(4)

    def test_covers_are_stored_while_the_user_keeps_browsing(self):
        page = self.shared_gallery(40)
        page.installed()
        # Never a second without a key, so a delay that every new cover restarts would not end.
        page.run("""
            let presses = 0;
            window.browsing = setInterval(() => document.querySelector('#covers').dispatchEvent(new KeyboardEvent('keydown',
                {key: presses++ % 70 < 35 ? 'ArrowRight' : 'ArrowLeft', bubbles: true, cancelable: true})), 300);""")
        page.until(f"({STORED}).length >= 16", what="sixteen covers to be stored")
        page.run("clearInterval(window.browsing)")

    def test_covers_that_were_shown_are_stored_when_the_page_is_left(self):
        page = self.shared_gallery(40)
        page.installed()
        page.covers_settle()
        # The page is left before any delay of a second or more ends.
        page.run("const original = setTimeout; window.setTimeout = (run, delay) => delay >= 1000 ? 0 : original(run, delay)")
        page.focus_covers()
        page.press("End")
        page.wait_for_place(40)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        shown = page.run("return new URL(document.querySelector('#covers [aria-selected=true] img').src).pathname")
        # A page of the same origin that stores nothing.
        page.browser.get(page.url + "icon.svg")
        page.until(f"({STORED}).includes(arguments[0])", shown, what="the cover to be stored")

    def test_of_the_covers_that_a_flick_passes_those_are_stored_where_it_ends(self):
        page = self.shared_gallery(300).wall()
        page.installed()
        sent, passed, ready = page.run("""
            const wall = document.querySelector('#wall'), sent = [], ready = '.cover[data-state=ready]', passed = new Set();
            ServiceWorker.prototype.postMessage = ({covers}) => sent.push(covers.length - wall.querySelectorAll(ready).length);
            while (wall.scrollTop + wall.clientHeight < wall.scrollHeight - 1) {
                wall.scrollTop += wall.clientHeight;
                do {
                    await new Promise((done) => requestAnimationFrame(done));
                } while (wall.querySelectorAll(ready).length < 10);
                for (const {dataset} of wall.querySelectorAll(ready)) passed.add(dataset.id);
            }
            dispatchEvent(new Event('pagehide'));
            return [sent, passed.size, wall.querySelectorAll(ready).length];""")
        self.assertGreater(passed, 2 * ready)
        self.assertEqual(set(sent), {0}, "more or fewer than are on the page")

    def test_without_the_server_the_page_opens_with_the_albums_and_covers_it_has_seen(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.reload()
        page.appears("#offline")
        page.size(5)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        page.until("[...document.querySelectorAll('#covers img')].every((image) => image.complete && image.naturalWidth > 0)")
        self.screenshot("offline")
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        self.assertIn("Album 00002", page.facts()["Album"])

    def test_behind_a_proxy_that_answers_502_the_page_opens_as_without_the_server_and_recovers(self):
        page = self.seen()
        self.stage.server.close()
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", self.stage.server.port), BadGateway)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            page.reload()
            page.appears("#offline")
            page.size(5)
            self.assertEqual(set(page.covers_settle().values()), {"ready"})
        finally:
            proxy.shutdown()
            proxy.server_close()
        self.stage.start_server()
        page.appears("#offline", False)
        page.click("#delete")
        page.size(4)

    def test_a_page_opened_without_the_server_recovers_when_it_is_back(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.reload()
        page.appears("#offline")
        self.stage.start_server()
        page.appears("#offline", False)
        page.click("#delete")
        page.size(4)
        self.eventually(lambda: len(self.stage.saved()) == 4, "the edit in the library file")

    def test_a_cover_that_was_not_seen_says_so(self):
        page = self.seen()
        self.stage.write_library(self.stage.albums(60))
        page.size(60)
        page.until("(await (await caches.match('/api/library')).json()).albums.length === 60", what="the albums to be stored")
        self.stage.server.close(at_once=True)
        page.reload()
        page.size(60)
        page.focus_covers()
        page.press("End")
        page.wait_for_place(60)
        page.until(
            "document.querySelector('#cover-reason').textContent === 'Not saved on this device. Reconnect to load it.'",
            what="the words")
        self.assertFalse(page.visible("#retry"))

    def test_the_server_with_another_token_leads_to_its_form_and_the_stored_page_works_again_with_that(self):
        self.stage.serve(self.stage.albums(5), "--token", "the-first-token-of-it")
        page = self.open()
        self.stored(page, 5)
        # A page that is open, and one that the service worker opens.
        for token, address in (("the-second-token-of-it", None), ("the-third-token-of-it", page.url + "#view=stage&sort=title")):
            if address:
                page.leave()
            self.stage.server.close()
            self.stage.start_server("--token", token)
            if address:
                page.browser.get(address)
            page.until("document.querySelector('[name=token]')", what="the form")
            self.assertFalse(page.run("return document.querySelector('#covers')"), "the form alone")
            page.type("[name=token]", "wrong")
            page.press("Enter")
            page.until("location.search === '?token=wrong' && document.querySelector('[name=token]')", what="the form again")
            self.screenshot("token")
            self.assertEqual(page.run("return getComputedStyle(document.querySelector('form')).display"), "flex", "its style")
            self.assertIn("not this gallery’s", page.text("[role=alert]"))
            page.type("[name=token]", token)
            page.press("Enter")
            page.ready()
            self.assertEqual(page.run("return location.search"), "", "the token is not in the address")
            page.click("#delete")
            page.size(4)
            page.click("#undo")
            page.size(5)
        self.assertEqual(page.choice("sort"), "title", "the place in the address")
        # A server that wants another token is there. One that is away is not.
        self.assertFalse(page.visible("#offline"))
        # The worker may have stored the four albums between the deletion and the undo. It stores those that the page opens with.
        page.reload()
        page.until("(await (await caches.match('api/library')).json()).albums.length === 5", what="the albums to be stored")
        self.stage.server.close()
        page.reload()
        page.appears("#offline")
        page.size(5)

    def test_text_that_is_not_saved_stays_when_the_server_wants_another_token(self):
        self.stage.serve(self.stage.albums(2), "--token", "the-first-token-of-it")
        page = self.open()
        page.edit("#add")
        page.type("#album-dialog [name=title]", "Nightjar")
        self.stage.server.close()
        page.appears("#offline")
        self.stage.start_server("--token", "the-second-token-of-it")
        page.click("#album-save")
        page.until("document.querySelector('#album-error').textContent.includes('token')", what="the problem in the form")
        self.assertEqual(page.run("return document.querySelector('#album-dialog [name=title]').value"), "Nightjar")
        page.click("#album-cancel")
        page.until("document.querySelector('[name=token]')", what="the form for a token")

    def test_edits_made_while_the_page_was_offline_are_shown_when_the_server_is_back(self):
        page = self.seen()
        self.stage.server.close(at_once=True)
        page.appears("#offline")
        self.stage.write_library(self.stage.albums(7))
        self.stage.start_server()
        page.size(7)
