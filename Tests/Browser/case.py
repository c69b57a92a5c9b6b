"""The base class of the tests: it starts the processes and a browser, and checks the console at the end."""
import json
import pathlib
import re
import time
import unittest

from page import Gallery
from stage import Stage
from webdriver import BOUND


class Settings:
    """Set by run.py before the tests run."""

    sleeve = None
    screenshots = pathlib.Path(".build/browser")
    driver = None
    browser = None  # Shared by the tests. A failed test closes it.


# Console messages that an unreachable server causes.
GONE = ("ERR_", "Failed to fetch", "Failed to load resource", "icon from the Manifest",
        "error occurred when fetching the script")


class GalleryTest(unittest.TestCase):
    """Every test has its own processes. Console messages that do not match `expected` make it fail."""

    expected = ()

    def setUp(self):
        self.stage = Stage(Settings.sleeve)
        self.addCleanup(self.end)
        self.stage.start_origin()

    def end(self):
        self.stage.close()
        stubborn = [server.log.stem for server in self.stage.servers if server.stubborn]
        self.assertEqual(stubborn, [], "had to be killed")

    def serve(self, albums, warm=True, *options):
        self.stage.write_library(albums)
        if warm:
            self.stage.warm()
        self.stage.start_server(*options)

    def open(self, **options):
        """Opens the gallery's page: in a new browser if there are `options`, else in the shared one."""
        browser = Settings.driver.browser(**options) if options else Settings.browser or Settings.driver.browser()
        Settings.browser = Settings.browser if options else browser
        self.addCleanup(self.leave, browser)
        self.addCleanup(self.check_console, browser)
        self.page = Gallery(browser, self.stage.server.url)
        return self.page.open()

    def gallery(self, count=12, warm=True, query="", **options):
        """Opens a gallery of `count` albums."""
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

    def check_console(self, browser):
        messages = [entry["message"] for entry in browser.console() if entry["level"] in ("SEVERE", "WARNING")]
        messages = [message for message in messages if not any(re.search(pattern, message) for pattern in self.expected)]
        if self.failed:
            Settings.screenshots.mkdir(parents=True, exist_ok=True)
            browser.screenshot(Settings.screenshots / f"failed-{self._testMethodName}.png")
            print(f"   console: {json.dumps(messages, ensure_ascii=False)}\n   {self.stage.log_tails()}")
        else:
            self.assertEqual(messages, [], "unexpected console messages")

    failed = property(lambda self: not self._outcome.success)

    def eventually(self, condition, what):
        """Waits for a condition outside the browser."""
        end = time.monotonic() + BOUND
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited {BOUND} s for: {what}")
            time.sleep(0.02)
