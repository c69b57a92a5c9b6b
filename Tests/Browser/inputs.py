"""Input to a browser: keys, mouse, touch, wheel, screen sizes."""
KEYS = {
    "Shift": "\ue008", "Control": "\ue009", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ",
    "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011", "Left": "\ue012", "Up": "\ue013",
    "Right": "\ue014", "Down": "\ue015", "Delete": "\ue017", "Backspace": "\ue003",
}


def perform(browser, source):
    browser.ask("POST", "actions", {"actions": [source]})


def press(browser, *keys):
    """Presses the keys in order and releases them in reverse: `press(browser, "Control", "z")`."""
    codes = [KEYS.get(key, key) for key in keys]
    perform(browser, {"type": "key", "id": "keyboard", "actions": [
        *({"type": "keyDown", "value": code} for code in codes), *({"type": "keyUp", "value": code} for code in reversed(codes))]})


def move(x, y, duration=0):
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": duration, "origin": "viewport"}


def pointer(browser, kind, *actions):
    perform(browser, {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": list(actions)})


DOWN, UP = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}


def click(browser, x, y):
    pointer(browser, "mouse", move(x, y), DOWN, UP)


def tap(browser, x, y):
    pointer(browser, "touch", move(x, y), DOWN, UP)


def drag(browser, start, end, kind="mouse"):
    """Moves in steps and rests before the release, so that the speed is zero."""
    (x0, y0), (x1, y1) = start, end
    steps = [move(x0 + (x1 - x0) * n / 8, y0 + (y1 - y0) * n / 8, 20) for n in range(1, 9)]
    pointer(browser, kind, move(x0, y0), DOWN, *steps, {"type": "pause", "duration": 150}, UP)


def press_and_drag(browser, start, end):
    """Moves in steps without the release; see `release`."""
    (x0, y0), (x1, y1) = start, end
    pointer(browser, "mouse", move(x0, y0), DOWN, *(move(x0 + (x1 - x0) * n / 8, y0 + (y1 - y0) * n / 8, 20) for n in range(1, 9)))


def release(browser):
    pointer(browser, "mouse", {"type": "pause", "duration": 150}, UP)


def wheel(browser, x, y, across=0, down=0):
    perform(browser, {"type": "wheel", "id": "wheel", "actions": [
        {"type": "scroll", "x": round(x), "y": round(y), "deltaX": across, "deltaY": down, "duration": 0,
         "origin": "viewport"}]})


def screen(browser, width, height, ratio=1, mobile=False):
    """Sets the screen size. A smaller height alone simulates an on-screen keyboard."""
    browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=mobile)


def phone(browser):
    screen(browser, 390, 844, 3, True)
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)


def prefer(browser, **features):
    """`prefer(browser, color_scheme="dark", reduced_motion="reduce")`"""
    browser.cdp("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-" + name.replace("_", "-"), "value": value} for name, value in features.items()])
