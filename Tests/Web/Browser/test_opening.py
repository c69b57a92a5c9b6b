"""Opening the page, what it may load and say, and the page below a path, beside other applications of the same origin."""
import urllib.parse

import inputs
from browser import Browser
from case import GONE, GalleryTest
from page import IN_VIEW


class Opening(GalleryTest):
    def test_a_warm_cache_is_shown_at_once_without_asking_the_origin(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(12))
        self.stage.origin.close()
        page = self.open().all_ready()
        page.until(
            f"{IN_VIEW}.every((option) => [...option.querySelectorAll('img, canvas')].some((image) =>"
            " image instanceof HTMLCanvasElement || image.complete && image.naturalWidth > 0))", what="decoded covers")
        page.wait("performance.getEntriesByName('sleeve:first-covers').length", what="the mark of the first covers")
        # Covers beyond the edges may come later than those in view.
        page.wait("!$('#covers :is([data-state=waiting], [data-state=coming])')", what="all covers")
        self.screenshot("light-1280")
        page.focus_covers().press("End").wait_for_place(12)
        page.all_ready()
        self.assertFalse(page.visible("#offline"), "the server is there")

    def test_the_first_covers_of_the_wall_come_with_the_page_of_a_new_browser_and_no_cover_comes_twice(self):
        page, base = self.gallery(30), self.stage.server.base
        for width, height, ratio in ((1280, 800, 1), (1920, 1080, 2), (1280, 800, 1.5), (820, 1180, 2), (390, 844, 2), (390, 844, 3)):
            page.leave()
            page.browser.cdp("Storage.clearDataForOrigin", origin=base, storageTypes="service_workers,cache_storage")
            page.browser.cdp("Network.clearBrowserCache")
            page.browser.cdp("Network.deleteCookies", name="sleeve-client", url=base)
            inputs.screen(page.browser, width, height, ratio)
            page.browser.get(self.stage.server.url)
            page.ready()
            covers = page.value("performance.getEntriesByType('resource').filter(({name}) => name.includes('/covers/'))"
                                ".map(({name, initiatorType}) => [name.split('/covers/')[1].split('?')[0], initiatorType])")
            self.assertEqual([kind for _, kind in covers].count("link"), 4, (width, ratio, covers))
            self.assertEqual(len({name for name, _ in covers}), len(covers), (width, ratio, covers))

    def test_coming_back_again_and_again_never_waits_for_a_connection_and_finds_the_page_alive(self):
        # Pages in the back/forward cache may hold connections, of which the browser allows six to one server.
        page = self.gallery(5).installed()
        for _ in range(7):
            page.go("#view=stage").wait("performance.getEntriesByName('sleeve:first-covers').length", what="the first covers")
        page.leave().back()
        page.ready()
        page.click("#delete").size(4)
        self.assertEqual(len(self.stage.saved()), 4)
        page.run("await fetch('api/undo', {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}})")
        page.size(5)

    def test_an_empty_library_says_where_covers_come_from_and_has_one_button_which_leads_to_adding_a_folder_of_music(self):
        page = self.shared_gallery(0).appears("#add-many")
        self.assertIn("a folder of music", page.value("$('#empty').innerText"))
        self.screenshot("empty")
        self.assertEqual(page.value("$$('button, input').filter((each) => each.checkVisibility({visibilityProperty: true})).map(({id}) => id)"),
                         ["menu-toggle", "add-many"])
        page.click("#add-many").appears("#activity")
        self.assertEqual(page.value("document.activeElement.name"), "folder")


class Policy(GalleryTest):
    expected = ("Content Security Policy", "violates the following", "TrustedHTML", "ERR_BLOCKED_BY_CSP")

    def test_the_policy_keeps_pictures_of_other_hosts_and_markup_from_strings_out_and_titles_are_text(self):
        albums = self.stage.albums(3)
        title = "<img src=x onerror=\"document.title='taken over'\"> & <b>bold</b>"
        albums[0] |= {"title": title, "artist": "<script>document.title='taken over'</script>"}
        page = self.gallery_of(albums).settled()
        self.assertEqual([page.facts()["Album"], page.facts()["Artist"]], [title, albums[0]["artist"]])
        self.assertIn(title, page.chosen()["name"])
        self.assertNotEqual(page.value("document.title"), "taken over")
        self.assertEqual(page.value("$$('main b, main script, [onerror]').length"), 0)
        violated = page.run("""
            const violation = new Promise((resolve) => addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), {once: true}));
            new Image().src = arguments[0];
            return await violation;""", self.stage.origin.base + "/covers/1.jpg")
        self.assertEqual(violated, "img-src")
        refused = page.run("try { document.createElement('p').innerHTML = '<b>x</b>' } catch (error) { return error.name }")
        self.assertEqual(refused, "TypeError")


class BelowAPath(GalleryTest):
    expected = GONE

    def test_every_request_is_to_the_server_below_the_path_and_everything_works_there(self):
        self.stage.serve(self.stage.albums(12), "--base", "/music/sleeve")
        self.assertTrue(self.stage.server.url.endswith("/music/sleeve/"), self.stage.server.url)
        browser = Browser(records=True)
        self.addCleanup(browser.quit)
        page = self.open(browser).all_ready().installed()
        self.assertEqual(page.value("(await navigator.serviceWorker.getRegistration()).scope"), self.stage.server.url)
        page.click("#delete").size(11)
        page.click("#undo").size(12).wait_for_place(1)
        # An edit by another program arrives by an event.
        self.stage.write_library(self.stage.albums(13))
        page.size(13)
        page.edit().press("Escape").click("#activity-open").click("#find-covers")
        page.wait("$('#progress-text').textContent.startsWith('13 of 13')", what="all covers")
        icons = page.run("""
            const address = $('link[rel=manifest]').href, manifest = await (await fetch(address)).json();
            return [manifest.start_url, manifest.scope, ...manifest.icons.map((icon) => icon.src)].map((each) => new URL(each, address).href);""")
        # The browser's own pages have other schemes.
        asked = [url for url in [*browser.requests(), *icons] if urllib.parse.urlsplit(url).scheme in ("http", "https", "ws", "wss")]
        self.assertGreater(len(asked), 12)
        self.assertEqual([url for url in asked if not url.startswith(self.stage.server.url)], [])
        cookies = browser.cdp("Network.getCookies", urls=[self.stage.server.url])["cookies"]
        self.assertEqual({cookie["path"] for cookie in cookies}, {"/music/sleeve"})
        page.open(page.url.removesuffix("/"))
        self.assertEqual(page.value("location.origin + location.pathname + location.search"), page.url, "without its slash it leads there, too")

    def test_it_is_available_offline_and_leaves_what_other_applications_store(self):
        page = self.gallery_of(self.stage.albums(5), "--base", "/sleeve/")
        # A worker that is being installed would not be listed, and would not be installed again.
        page.installed()
        # As another application of the same origin, before the gallery is installed.
        page.run("""
            for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister();
            for (const name of await caches.keys()) await caches.delete(name);
            for (const name of ['player-v1', 'sleeve-shell-0123', 'sleeve-shell-0123 /sleeve/']) await caches.open(name);""")
        page.reload().installed().settled()
        page.stored(5)
        names = page.value("await caches.keys()")
        self.assertIn("sleeve-seen /sleeve/", names)
        self.assertIn("player-v1", names)
        self.assertIn("sleeve-shell-0123", names, "that of a gallery at the root")
        self.assertNotIn("sleeve-shell-0123 /sleeve/", names, "that of a former version")
        self.stage.server.close(at_once=True)
        page.reload().size(5)
        page.all_ready()
