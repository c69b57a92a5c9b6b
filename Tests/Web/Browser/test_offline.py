"""The page without the server, and what it stores for that."""
from case import GONE, GalleryTest
from page import SCROLLER


# The paths of the covers that the service worker has stored.
STORED = """(await (await caches.open('sleeve-seen')).keys()).map((request) => new URL(request.url).pathname)
    .filter((path) => path.startsWith('/covers/'))"""
ALBUMS = "(await (await caches.match('/api/library')).json()).albums.length"


class Offline(GalleryTest):
    expected = GONE

    def away(self, at_once=True):
        self.stage.server.close(at_once)
        self.page.appears("#offline")

    def back(self, *options):
        self.stage.start_server(*options)
        self.page.appears("#offline", False)

    def opens_without_the_server(self, count):
        self.page.reload()
        self.page.appears("#offline")
        self.page.size(count)
        self.page.all_ready()

    def test_without_the_server_or_behind_a_proxy_that_answers_502_the_page_opens_with_what_it_has_seen_and_recovers(self):
        page = self.gallery(5).installed().settled().stored(5)
        self.away()
        self.opens_without_the_server(5)
        page.wait("$$('#covers img').every((image) => image.complete && image.naturalWidth > 0)")
        self.screenshot("offline")
        page.focus_covers().press("Right").wait_for_place(2)
        self.assertIn("Album 00002", page.facts()["Album"])
        self.back()
        page.click("#delete").size(4)
        self.saved_becomes([f"Album {n:05}" for n in (1, 3, 4, 5)])
        # Edits that are made while an open page is offline are shown when the server is back.
        self.away()
        self.stage.write_library(self.stage.albums(60))
        self.back()
        page.size(60).wait(f"{ALBUMS} === 60", what="the albums to be stored")
        page.focus_covers().press("Home").wait_for_place(1)
        page.remembered()
        self.away(at_once=False)
        proxy = self.imitate(lambda path: (502, b""), self.stage.server.port)
        self.opens_without_the_server(60)
        page.focus_covers().press("End").wait_for_place(60)
        page.reads("#cover-reason", "Not saved on this device. Reconnect to load it.")
        self.assertFalse(page.visible("#retry"))
        proxy.shutdown()
        proxy.server_close()
        self.back()
        page.click("#delete").size(59)

    def test_a_stale_cover_is_marked_and_a_fresh_one_is_not(self):
        albums = self.stage.albums(3)
        albums[1]["coverUrl"] += "?cache-control=max-age%3D0"
        page = self.gallery_of(albums)
        seen = "$('#picture [data-field=age]').textContent.endsWith('older copy')"
        page.all_ready()
        self.assertFalse(page.value(seen), "it is fresh")
        page.focus_covers().press("Right")
        page.wait(seen, what="the mark")
        self.assertIn("may have changed", page.value("$('#picture [data-field=age]').title"))
        self.screenshot("stale")
        page.press("Right").wait(f"!{seen}", what="the mark to go")

    def test_covers_are_stored_while_the_user_keeps_browsing_and_those_that_were_shown_when_the_page_is_left(self):
        page = self.shared_gallery(40).installed()
        # Never a second without a key, so a delay that every new cover restarts would not end.
        page.run("""
            let presses = 0;
            window.browsing = setInterval(() => $('#covers').dispatchEvent(new KeyboardEvent('keydown',
                {key: presses++ % 70 < 35 ? 'ArrowRight' : 'ArrowLeft', bubbles: true, cancelable: true})), 300);""")
        page.wait(f"({STORED}).length >= 16", what="sixteen covers to be stored")
        page.run("clearInterval(window.browsing)")
        # The page is left before any delay of a second or more ends.
        page.run("const original = setTimeout; window.setTimeout = (run, delay) => delay >= 1000 ? 0 : original(run, delay)")
        page.focus_covers().press("End").wait_for_place(40)
        page.all_ready()
        shown = page.value("new URL($('#covers [aria-selected=true] img').src).pathname")
        self.assertFalse(page.value(f"({STORED}).includes(arguments[0])", shown), "not yet")
        # A page of the same origin that stores nothing.
        page.browser.get(page.url + "icon.svg")
        page.wait(f"({STORED}).includes(arguments[0])", shown, what="the cover to be stored")

    def test_of_the_covers_that_a_flick_passes_those_are_stored_where_it_ends(self):
        page = self.shared_gallery(300).wall().installed()
        sent, passed, ready = page.run(f"const scroller = {SCROLLER};" """
            const sent = [], passed = new Set(), ready = () => $$('#wall .cover[data-state=ready]');
            ServiceWorker.prototype.postMessage = ({covers}) => sent.push(covers.length - ready().length);
            while (scroller.scrollTop + scroller.clientHeight < scroller.scrollHeight - 1) {
                scroller.scrollTop += scroller.clientHeight;
                do {
                    await new Promise((done) => requestAnimationFrame(done));
                } while (ready().length < 10);
                for (const {dataset} of ready()) passed.add(dataset.id);
            }
            dispatchEvent(new Event('pagehide'));
            return [sent, passed.size, ready().length];""")
        self.assertGreater(passed, 2 * ready)
        self.assertEqual(set(sent), {0}, "more or fewer than are on the page")

    def test_the_server_with_another_token_leads_to_its_form_and_the_stored_page_works_again_with_that(self):
        page = self.gallery_of(self.stage.albums(5), "--token", "the-first-token-of-it").installed().settled().stored(5)
        # A page that is open, and one that the service worker opens.
        for token, address in (("the-second-token-of-it", None), ("the-third-token-of-it", page.url + "#view=stage&sort=title")):
            if address:
                page.leave()
            self.stage.server.close()
            self.stage.start_server("--token", token)
            if address:
                page.browser.get(address)
            page.wait("$('[name=token]')", what="the form")
            self.assertFalse(page.value("$('#covers')"), "the form alone")
            page.type("[name=token]", "wrong").press("Enter")
            page.wait("location.search === '?token=wrong' && $('[name=token]')", what="the form again")
            self.screenshot("token")
            self.assertEqual(page.value("getComputedStyle($('form')).display"), "flex", "its style")
            self.assertIn("not this gallery’s", page.text("[role=alert]"))
            page.type("[name=token]", token).press("Enter")
            page.ready()
            self.assertEqual(page.value("location.search"), "", "the token is not in the address")
            page.click("#delete").size(4)
            page.click("#undo").size(5)
        self.assertEqual(page.choice("sort"), "title", "the place in the address")
        # A server that wants another token is there. One that is away is not.
        self.assertFalse(page.visible("#offline"))
        # The worker may have stored the four albums between the deletion and the undo. It stores those that the page opens with.
        page.reload().wait(f"{ALBUMS} === 5", what="the albums to be stored")
        self.stage.server.close()
        page.reload().appears("#offline").size(5)

    def test_text_that_is_not_saved_stays_when_the_server_wants_another_token(self):
        page = self.gallery_of(self.stage.albums(2), "--token", "the-first-token-of-it")
        page.edit("#add").type("#album-dialog [name=title]", "Nightjar")
        self.away(at_once=False)
        self.stage.start_server("--token", "the-second-token-of-it")
        page.click("#album-save").tells("#album-error", "token")
        self.assertEqual(page.value("$('#album-dialog [name=title]').value"), "Nightjar")
        page.click("#album-cancel").wait("$('[name=token]')", what="the form for a token")
