"""The base of the tests: a stage, a browser, and a look at the console at the end."""
import json
import pathlib
import re
import time
import unittest

from page import Gallery
from stage import Stage
from webdriver import BOUND


class Settings:
    """Set by run.py before the tests are run."""

    sleeve = None
    screenshots = pathlib.Path(".build/browser")
    driver = None
    browser = None  # Used by one test after the other; a failed test leaves none.


# What a browser may say of a server that is gone.
GONE = ("ERR_", "Failed to fetch", "Failed to load resource", "icon from the Manifest",
        "error occurred when fetching the script")


class GalleryTest(unittest.TestCase):
    """Every test has its own processes and browser. What the console tells besides `expected` makes it fail."""

    expected = ()

    def setUp(self):
        self.stage = Stage(Settings.sleeve)
        self.addCleanup(self.end)
        self.stage.start_origin()

    def end(self):
        self.stage.close()
        stubborn = [server.log.stem for server in self.stage.servers if server.stubborn]
        self.assertEqual(stubborn, [], "had to be killed")

    def serve(self, albums, warm=True):
        self.stage.write_library(albums)
        if warm:
            self.stage.warm()
        self.stage.start_server()

    def open(self, **options):
        """The gallery's page: in a browser of its own when that has `options`, else in the one all tests share."""
        browser = Settings.driver.browser(**options) if options else Settings.browser or Settings.driver.browser()
        Settings.browser = Settings.browser if options else browser
        self.addCleanup(self.leave, browser)
        self.addCleanup(self.look_at_console, browser)
        self.page = Gallery(browser, self.stage.server.url)
        return self.page.open()

    def gallery(self, count=12, warm=True, query="", **options):
        """A gallery of so many albums, opened."""
        self.serve(self.stage.albums(count, query), warm)
        return self.open(**options)

    def leave(self, browser):
        if browser is not Settings.browser:
            browser.close()
        elif self.failed:
            Settings.browser = None
            browser.close()
        else:
            browser.clean()

    def screenshot(self, name):
        Settings.screenshots.mkdir(parents=True, exist_ok=True)
        self.page.browser.screenshot(Settings.screenshots / f"{name}.png")

    def look_at_console(self, browser):
        told = [entry["message"] for entry in browser.console() if entry["level"] in ("SEVERE", "WARNING")]
        told = [message for message in told if not any(re.search(pattern, message) for pattern in self.expected)]
        if self.failed:
            Settings.screenshots.mkdir(parents=True, exist_ok=True)
            browser.screenshot(Settings.screenshots / f"failed-{self._testMethodName}.png")
            print(f"   console: {json.dumps(told, ensure_ascii=False)}\n   {self.stage.said()}")
        else:
            self.assertEqual(told, [], "the console tells something")

    failed = property(lambda self: not self._outcome.success)

    def eventually(self, condition, what):
        """For what is not in a browser: looks until it is so."""
        end = time.monotonic() + BOUND
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited {BOUND} s for: {what}")
            time.sleep(0.02)
