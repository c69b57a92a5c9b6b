"""The base class of the tests: it starts the processes and a browser, and checks the console at the end."""
import http.server
import json
import pathlib
import re
import threading
import time
import unittest

import inputs
from browser import BOUND, Browser
from page import Gallery
from stage import Common, Stage

# Console messages that an unreachable server causes.
GONE = ("ERR_", "Failed to fetch", "Failed to load resource", "icon from the Manifest", "error occurred when fetching the script")


class Settings:
    """Set by run.py before the tests run."""

    sleeve = None
    screenshots = pathlib.Path(".build/browser")
    browser = common = None  # Shared by the tests. A failed test closes the browser.


class GalleryTest(unittest.TestCase):
    """A test has a gallery and a cache of its own, or one of the run's galleries, which it leaves as it was: those of the albums that its class has
    as `shared`, and of `shared_gallery`. The origin is the run's unless the test starts its own. Console messages that do not match `expected`
    fail it."""

    expected = ()
    # Whether covers move as for most people. Without it they are at once where they belong, which takes a third of the time.
    motion = False
    shared = None  # The albums of a class whose tests share a gallery, as a method.
    failed = False

    def setUp(self):
        self.common = Settings.common = Settings.common or Common(Settings.sleeve)
        self.stage = Stage(Settings.sleeve, self.common)
        self.addCleanup(self.stage.close)
        if self.shared:
            self.share(self.shared())

    def share(self, albums, warm=True):
        """Uses the run's gallery of these albums."""
        self.stage = self.common.gallery(albums, warm)
        self.addCleanup(self.check_unchanged)

    def check_unchanged(self):
        as_it_was = self.stage.version() == self.stage.as_served
        if self.failed or not as_it_was:
            self.common.forget(self.stage)
        self.assertTrue(as_it_was, "the test has changed albums that it shares with others")

    def _callTestMethod(self, method):
        try:
            super()._callTestMethod(method)
        except BaseException:
            self.failed = True  # for the cleanups, which the framework does not tell
            raise

    def open(self, browser=None):
        """Opens the gallery's page, in the browser that the tests share unless another one is given."""
        if not browser:
            browser = Settings.browser = Settings.browser or Browser()
            self.addCleanup(self.leave)
        self.addCleanup(self.check_console, browser)
        inputs.prefer(browser, **({} if self.motion else {"prefers_reduced_motion": "reduce"}))
        self.page = Gallery(browser, self.stage.server)
        return self.page.open()

    def second_page(self):
        """Opens the gallery in another tab of the browser."""
        self.page.browser.new_tab()
        return Gallery(self.page.browser, self.stage.server).open()

    def another_browser(self):
        """Makes the browser one that has never been here, and opens the gallery."""
        Settings.browser.clean(self.stage.server.base)
        return self.page.open()

    def shared_gallery(self, count=12, warm=True):
        """Opens a gallery of `count` albums, which stay as they are."""
        self.share(self.common.albums(count), warm)
        return self.open()

    def gallery(self, count=12, warm=True, query=""):
        """Opens a gallery of `count` albums, which the test may change."""
        return self.gallery_of(self.stage.albums(count, query), warm=warm)

    def gallery_of(self, albums, *options, warm=True):
        """Opens a gallery of these albums, which the test may change."""
        self.stage.serve(albums, *options, warm=warm)
        return self.open()

    def leave(self):
        if self.failed:
            Settings.browser.quit()
            Settings.browser = None
        else:
            Settings.browser.clean(self.stage.server.base)

    def screenshot(self, name):
        Settings.screenshots.mkdir(parents=True, exist_ok=True)
        self.page.browser.save_screenshot(str(Settings.screenshots / f"{name}.png"))

    def check_console(self, browser):
        messages = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        # A new browser that opens on the stage has loaded the first covers of the wall in their size there.
        expected = (*self.expected, "preloaded using link preload but not used")
        messages = [message for message in messages if not any(re.search(pattern, message) for pattern in expected)]
        if self.failed:
            self.screenshot(f"failed-{self._testMethodName}")
            print(f"\n   console: {json.dumps(messages, ensure_ascii=False)}\n   {self.stage.log_tails()}")
        else:
            self.assertEqual(messages, [], "unexpected console messages")

    def seconds(self, script):
        """The processor's time, in seconds, that the page needs for a script and what follows from it, however busy the machine is."""
        def spent():
            metrics = self.page.browser.cdp("Performance.getMetrics")["metrics"]
            return next(each["value"] for each in metrics if each["name"] == "TaskDuration")
        self.page.browser.cdp("Performance.disable")
        self.page.browser.cdp("Performance.enable", timeDomain="threadTicks")
        before = spent()
        self.page.run(script)
        after = spent()
        self.page.browser.cdp("Performance.disable")
        return after - before

    def imitate(self, answer, port=0):
        """Starts a server of another program. `answer` returns a path's status, and its body."""
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answer(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_PUT = do_GET

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def titles(self):
        """The titles in the library file."""
        return [album["title"] for album in self.stage.saved()]

    def saved_becomes(self, titles):
        self.eventually(lambda: self.titles() == titles, f"the library file to hold {titles}")

    def eventually(self, condition, what):
        """Waits for a condition outside the browser."""
        end = time.monotonic() + BOUND
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited {BOUND} s for: {what}")
            time.sleep(0.02)
