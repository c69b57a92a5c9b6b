"""A small W3C WebDriver client for Chromium, with the standard library alone. It ends every process it starts."""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
BOUND = 60  # The limit of every wait, in seconds. No test depends on its value; it bounds the time of a failed one.


class BrowserError(Exception):
    """An error response of the browser."""

    def __init__(self, kind, message):
        super().__init__(f"{kind}: {message.splitlines()[0] if message else ''}")
        self.kind = kind


class Driver:
    """A chromedriver process on a free port, and its browsers."""

    def __init__(self):
        # In its own process group, so that Ctrl-C interrupts only this program, which then closes the driver.
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, start_new_session=True)
        self.browsers = []
        self.port, self.version = None, ""
        for line in self.process.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.port = int(found[1])
                break
        if self.port is None:
            self.close()
            raise BrowserError("chromedriver", "did not start")
        # Reads the rest of its output, so that a full pipe never blocks it.
        self.reader = threading.Thread(target=lambda: [None for _ in self.process.stdout], daemon=True)
        self.reader.start()

    def browser(self, **options):
        browser = Browser(self, **options)
        self.browsers.append(browser)
        return browser

    def close(self):
        for browser in list(self.browsers):
            browser.close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.port is not None:
            self.reader.join(5)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Browser:
    """A headless Chromium with a new profile. - `trace`: categories to record; read them with `performance_log`."""

    def __init__(self, driver, width=1280, height=800, trace=None, performance=False, arguments=()):
        self.driver = driver
        self.http = http.client.HTTPConnection("127.0.0.1", driver.port, timeout=BOUND * 3)
        self.profile = tempfile.mkdtemp(prefix="sleeve-browser-")
        self.process, self.session = None, None
        switches = [
            "--headless=new", f"--window-size={width},{height}", f"--user-data-dir={self.profile}", "--lang=en-US",
            "--force-device-scale-factor=1", "--disable-background-networking", "--disable-component-update",
            "--no-first-run", "--no-default-browser-check",
            # Containers have a small /dev/shm.
            "--disable-dev-shm-usage", *arguments]
        if os.getuid() == 0:
            switches.append("--no-sandbox")
        chrome = {"args": switches}
        if binary := shutil.which("chromium") or shutil.which("google-chrome"):
            chrome["binary"] = binary
        if trace:
            chrome["perfLoggingPrefs"] = {
                "enableNetwork": False, "enablePage": False, "traceCategories": ",".join(trace),
                "bufferUsageReportingInterval": 60_000}
        logs = {"browser": "ALL"} | ({"performance": "ALL"} if trace or performance else {})
        try:
            answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                "goog:chromeOptions": chrome, "goog:loggingPrefs": logs, "timeouts": {"script": BOUND * 1000},
                "unhandledPromptBehavior": "accept"}}})
            self.session, capabilities = answer["sessionId"], answer["capabilities"]
            self.process = capabilities.get("goog:processID")
            driver.version = f"{capabilities['browserName']} {capabilities['browserVersion']}"
            # Headless windows have an invisible frame.
            self.size(width, height)
        except BaseException:
            self.close()
            raise

    def ask(self, method, path, body=None):
        """Sends one command of the protocol. Returns its value, or raises `BrowserError`."""
        if self.session and not path.startswith("/session"):
            path = f"/session/{self.session}/{path}"
        data = None if method != "POST" else json.dumps(body or {})
        self.http.request(method, path, data, {"Content-Type": "application/json"})
        value = json.loads(self.http.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value and "stacktrace" in value:
            raise BrowserError(value["error"], value["message"])
        return value

    def close(self):
        if self in self.driver.browsers:
            self.driver.browsers.remove(self)
        if self.session:
            with contextlib.suppress(Exception):
                self.http.close()  # An interrupted command leaves part of its response on the connection.
                self.ask("DELETE", f"/session/{self.session}")
        self.http.close()
        if self.process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if self.profile in command_line(self.process):
                    os.kill(self.process, signal.SIGKILL)
        shutil.rmtree(self.profile, ignore_errors=True)

    def get(self, url):
        self.ask("POST", "url", {"url": url})

    def reload(self):
        self.ask("POST", "refresh")

    def run(self, script, *arguments):
        """Runs a function's body in the page, with `arguments`."""
        return self.ask("POST", "execute/sync", {"script": script, "args": arguments})

    def run_async(self, script, *arguments):
        """Runs the body of an async function in the page and waits for what it returns."""
        wrapped = (
            "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
            f"(async function () {{ {script} }}).apply(null, given)"
            ".then((value) => done({value}), (error) => done({error: String(error)}));")
        answer = self.ask("POST", "execute/async", {"script": wrapped, "args": arguments})
        if "error" in answer:
            raise BrowserError("javascript", answer["error"])
        return answer.get("value")

    def until(self, expression, *arguments, what=None):
        """Waits until a JavaScript expression is true, and returns its value. It is evaluated at every change of the document
        and every 25 ms."""
        try:
            return self.run_async(
                f"""const check = () => {{ try {{ return ({expression}); }} catch (error) {{ return undefined; }} }};
                return await new Promise((resolve) => {{
                    let timer;
                    const look = () => {{
                        const value = check();
                        if (!value) return;
                        observer.disconnect(); clearInterval(timer); resolve(value);
                    }};
                    const observer = new MutationObserver(look);
                    observer.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
                    timer = setInterval(look, 25);
                    look();
                }});""", *arguments)
        except BrowserError as error:
            if error.kind != "script timeout":
                raise
            raise AssertionError(f"waited {BOUND} s for: {what or expression}") from None

    def find(self, selector):
        return Element(self, self.ask("POST", "element", {"using": "css selector", "value": selector})[ELEMENT])

    def find_all(self, selector):
        found = self.ask("POST", "elements", {"using": "css selector", "value": selector})
        return [Element(self, each[ELEMENT]) for each in found]

    def cdp(self, command, **parameters):
        """Sends a command of the DevTools protocol."""
        return self.ask("POST", "goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height):
        """Sets the size of the page, without the window's frame."""
        self.ask("POST", "window/rect", {"width": width, "height": height})
        inner = self.run("return [innerWidth, innerHeight]")
        if inner != [width, height]:
            self.ask("POST", "window/rect", {"width": 2 * width - inner[0], "height": 2 * height - inner[1]})

    def screenshot(self, path=None):
        image = base64.b64decode(self.ask("GET", "screenshot"))
        if path:
            path.write_bytes(image)
        return image

    def console(self):
        """The console messages since the last call."""
        return self.ask("POST", "se/log", {"type": "browser"})

    def performance_log(self):
        """The DevTools events and traces since the last call."""
        return [json.loads(entry["message"])["message"] for entry in self.ask("POST", "se/log", {"type": "performance"})]

    def new_tab(self):
        return self.ask("POST", "window/new", {"type": "tab"})["handle"]

    def clean(self):
        """Resets the browser for the next test: one tab, no storage, no emulation."""
        first, *others = self.ask("GET", "window/handles")
        for handle in others:
            self.tab(handle)
            self.ask("DELETE", "window")
        self.tab(first)
        url = self.ask("GET", "url")
        self.get("about:blank")
        if url.startswith("http"):
            self.cdp("Storage.clearDataForOrigin", origin="/".join(url.split("/")[:3]), storageTypes="all")
        self.cdp("Network.clearBrowserCookies")
        self.cdp("Emulation.clearDeviceMetricsOverride")
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
        self.cdp("Emulation.setEmulatedMedia", media="", features=[])
        self.console()

    def tab(self, handle=None):
        """The tab that receives commands; with a handle, switches to that tab first."""
        if handle is not None:
            self.ask("POST", "window", {"handle": handle})
        return self.ask("GET", "window")


class Element:
    def __init__(self, browser, reference):
        self.browser, self.reference = browser, reference

    def json(self):
        return {ELEMENT: self.reference}

    def ask(self, method, path, body=None):
        return self.browser.ask(method, f"element/{self.reference}/{path}", body)

    def click(self):
        self.ask("POST", "click")

    def clear(self):
        self.ask("POST", "clear")

    def type(self, text):
        self.ask("POST", "value", {"text": text})

    text = property(lambda self: self.ask("GET", "text"))

    def property(self, name):
        return self.ask("GET", f"property/{name}")


def command_line(process):
    """The command line of a process. It tells whether a process id was reused."""
    return subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(process)], stdout=subprocess.PIPE, text=True).stdout
