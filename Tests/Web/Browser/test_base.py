"""The gallery below a path, beside other applications of the same origin."""
import urllib.parse

from case import GONE, GalleryTest


class BelowAPath(GalleryTest):
    expected = GONE

    def begin(self):
        self.stage.serve(self.stage.albums(12), "--base", "/music/sleeve")
        self.assertTrue(self.stage.server.url.endswith("/music/sleeve/"), self.stage.server.url)
        return self.open()

    def test_every_request_is_below_the_path_and_everything_works_there(self):
        page = self.begin()
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
        page.installed()
        scope = page.run("return (await navigator.serviceWorker.getRegistration()).scope")
        self.assertEqual(scope, self.stage.server.url)
        page.click("#delete")
        page.size(11)
        page.click("#undo")
        page.size(12)
        page.wait_for_place(1)
        # An edit by another program arrives by an event.
        self.stage.write_library(self.stage.albums(13))
        page.size(13)
        page.edit()
        page.press("Escape")
        page.click("#activity-open")
        page.click("#find-covers")
        page.until("document.querySelector('#progress-text').textContent.startsWith('13 of 13')", what="all covers")
        icons = page.run("""
            const address = document.querySelector('link[rel=manifest]').href, manifest = await (await fetch(address)).json();
            return [manifest.start_url, manifest.scope, ...manifest.icons.map((icon) => icon.src)]
                .map((each) => new URL(each, address).href);""")
        paths = [urllib.parse.urlsplit(url).path for url in [*page.browser.requests(), *icons] if url.startswith("http")]
        self.assertEqual([path for path in paths if not path.startswith("/music/sleeve/")], [])
        cookies = page.browser.cdp("Network.getCookies", urls=[self.stage.server.url])["cookies"]
        self.assertEqual({cookie["path"] for cookie in cookies}, {"/music/sleeve"})

    def test_without_its_slash_the_path_leads_to_the_page(self):
        page = self.begin()
        page.open(page.url.removesuffix("/"))
        self.assertEqual(page.run("return location.origin + location.pathname + location.search"), page.url)

    def test_it_is_available_offline_and_leaves_what_other_applications_store(self):
        self.stage.serve(self.stage.albums(5), "--base", "/sleeve/")
        page = self.open(self.other_browser())
        # A worker that is being installed would not be listed, and would not be installed again.
        page.installed()
        # As another application of the same origin, before the gallery is installed.
        page.run("""
            for (const each of await navigator.serviceWorker.getRegistrations()) await each.unregister();
            for (const name of await caches.keys()) await caches.delete(name);
            for (const name of ['player-v1', 'sleeve-shell-0123', 'sleeve-shell-0123 /sleeve/']) await caches.open(name);""")
        page.reload()
        page.installed()
        page.covers_settle()
        page.stored(5)
        names = page.run("return await caches.keys()")
        self.assertIn("sleeve-seen /sleeve/", names)
        self.assertIn("player-v1", names)
        self.assertIn("sleeve-shell-0123", names, "that of a gallery at the root")
        self.assertNotIn("sleeve-shell-0123 /sleeve/", names, "that of a former version")
        self.stage.server.close(at_once=True)
        page.reload()
        page.size(5)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})
