"""A headless Chromium, driven by Selenium."""
import json
import os
import shutil
import time

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from stage import unused_port

BOUND = 120  # The limit of every wait, in seconds: a host that was given up is asked again after a minute. It bounds the time of a failed test.
SIZE = (1280, 800)  # Of the page, in CSS pixels.
SHORT = "const $ = (selector) => document.querySelector(selector), $$ = (selector) => [...document.querySelectorAll(selector)];"
# The page looks itself: to ask it again and again takes much more of the processor. A hidden page's timers are slow.
LOOK = """
    const look = async () => (%s);
    for (const end = performance.now() + 1000;;) {
        const found = await look().catch(() => null);
        if (found || document.hidden || performance.now() > end) return found;
        await new Promise((again) => setTimeout(again, 20));
    }"""


class Browser(webdriver.Chrome):
    """A browser with a new profile."""

    def __init__(self, records=False):
        """- `records`: whether it keeps what it requests, for `requests`."""
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
        options.unhandled_prompt_behavior = "accept"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if records else {})})
        for switch in (
                "--headless=new", "--lang=en-US", "--force-device-scale-factor=1", "--disable-background-networking",
                "--disable-component-update", "--no-first-run", "--no-default-browser-check",
                # No machine that tests has one. An imitated one takes more of the processor than none.
                "--disable-gpu",
                # Containers have a small /dev/shm.
                "--disable-dev-shm-usage", *(["--no-sandbox"] if os.getuid() == 0 else [])):
            options.add_argument(switch)
        # In its own process group, so that Ctrl-C interrupts only run.py, which then closes the browser.
        # Its port is not one that another program may be given before it listens.
        service = Service(shutil.which("chromedriver"), port=unused_port(), popen_kw={"start_new_session": True})
        super().__init__(options=options, service=service)
        self.set_script_timeout(BOUND)
        # Headless windows have an invisible frame.
        self.until("innerWidth && outerWidth", what="the window")
        frame = self.value("[outerWidth - innerWidth, outerHeight - innerHeight]")
        self.set_window_size(*(side + more for side, more in zip(SIZE, frame)))
        self.until("innerWidth === arguments[0] && innerHeight === arguments[1]", *SIZE, what="the window's size")
        self.blank = self.current_window_handle

    def run(self, script, *arguments):
        """Runs the body of an async function in the page, with `arguments`, and waits for what it returns. `$` finds an element, `$$` all."""
        return self.execute_script(f"{SHORT} return (async function () {{ {script} }}).apply(null, arguments)", *arguments)

    def value(self, expression, *arguments):
        """The value of a JavaScript expression."""
        return self.run(f"return ({expression})", *arguments)

    def until(self, expression, *arguments, what=None):
        """Waits until a JavaScript expression is true, and returns its value."""
        end = time.monotonic() + BOUND
        while time.monotonic() < end:
            try:
                if found := self.run(LOOK % expression, *arguments):
                    return found
            except WebDriverException:
                pass  # The page is being left.
            time.sleep(0.02)
        raise AssertionError(f"waited {BOUND} s for: {what or expression}")

    def find(self, selector):
        return self.find_element(By.CSS_SELECTOR, selector)

    def cdp(self, command, **parameters):
        """Sends a command of the DevTools protocol."""
        return self.execute_cdp_cmd(command, parameters)

    def requests(self):
        """The addresses that were requested since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def new_tab(self):
        self.switch_to.new_window("tab")

    def clean(self, origin):
        """Resets the browser for the next test: one tab, no storage, no emulation. The next one may be of the same server."""
        for handle in set(self.window_handles) - {self.blank}:
            self.switch_to.window(handle)
            self.close()
        self.switch_to.window(self.blank)
        self.get("about:blank")
        self.cdp("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        self.cdp("Network.clearBrowserCache")
        self.cdp("Network.clearBrowserCookies")
        self.cdp("Emulation.clearDeviceMetricsOverride")
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
        self.get_log("browser")
