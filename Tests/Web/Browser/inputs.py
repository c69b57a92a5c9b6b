"""Input to a browser: keys, mouse, touch, wheel, screen sizes."""
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin


def press(browser, *keys):
    """Presses the keys in order and releases them in reverse: `press(browser, "Control", "z")`."""
    codes = [key if len(key) == 1 else getattr(Keys, key.upper()) for key in keys]
    chain = ActionChains(browser, duration=0)
    for code in codes:
        chain.key_down(code)
    for code in reversed(codes):
        chain.key_up(code)
    chain.perform()


def pointer(browser, kind, *steps):
    """Input of a `mouse` or by `touch`: a place to move to, "down", "up", or the seconds of a pause."""
    builder = ActionBuilder(browser, mouse=PointerInput(kind, kind), duration=20)
    for step in steps:
        match step:
            case (x, y): builder.pointer_action.move_to_location(round(x), round(y))
            case "down": builder.pointer_action.pointer_down()
            case "up": builder.pointer_action.pointer_up()
            case seconds: builder.pointer_action.pause(seconds)
    builder.perform()


def click(browser, x, y):
    pointer(browser, "mouse", (x, y), "down", "up")


def tap(browser, x, y):
    pointer(browser, "touch", (x, y), "down", "up")


def between(start, end):
    """Eight places on the way."""
    (x0, y0), (x1, y1) = start, end
    return [(x0 + (x1 - x0) * n / 8, y0 + (y1 - y0) * n / 8) for n in range(1, 9)]


def drag(browser, start, end, kind="mouse", ends=(0.15, "up")):
    """Rests before the release, so that the speed is zero."""
    pointer(browser, kind, start, "down", *between(start, end), *ends)


def wheel(browser, x, y, across=0, down=0):
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_viewport(round(x), round(y)), across, down).perform()


def screen(browser, width, height, ratio=1, mobile=False):
    """Sets the screen size, and waits until the page has it. A smaller height alone simulates an on-screen keyboard."""
    browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=mobile)
    browser.until("[innerWidth, innerHeight, devicePixelRatio].join() === arguments[0]", f"{width},{height},{ratio}", what="the screen size")


def phone(browser):
    screen(browser, 390, 844, 3, True)
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)


def prefer(browser, **features):
    """Sets media features, and resets the others: `prefer(browser, prefers_color_scheme="dark", forced_colors="active")`."""
    browser.cdp("Emulation.setEmulatedMedia", media="", features=[
        {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])
