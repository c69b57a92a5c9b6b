"""Frames while 10,000 albums are scrolled, as the browser's own tracing tells: when each was presented, and what kept the
main thread busy. Headless Chromium draws in software, on the same cores as everything else here."""
import bisect
import time

from gallery_page import percentile
from page import Gallery

CATEGORIES = (
    "blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame")
PROMISE = 50  # milliseconds


def scrolling(bench):
    seconds = 3 if bench.quick else 6
    for name, warm in (("covers in the cache", True), ("covers arriving", False)):
        with bench.stage() as stage:
            stage.start_origin(*([] if warm else ["--delay", 60]))
            stage.write_library(stage.albums(10_000))
            if warm:
                bench.note("  filling the cache with 10,000 covers")
                stage.warm()
            stage.start_server()
            measure(bench, stage, name, seconds)


def measure(bench, stage, name, seconds):
    frames, tasks = [], []
    for way in (wheel, finger, keys):
        # A browser each: its trace is read once, at the end, and holds one way of scrolling.
        browser = bench.driver.browser(trace=CATEGORIES)
        try:
            if way is finger:  # Before the page is there: it has larger controls for fingers.
                browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
            page = Gallery(browser, stage.server.url).open()
            page.covers_settle()
            page.rest()
            page.run("performance.mark('scrolling:begin')")
            before = page.chosen()["place"]
            way(browser, page, seconds)
            page.run("performance.mark('scrolling:end')")
            page.rest()
            passed = page.chosen()["place"] - before
            trace = Trace(browser.performance_log())
        finally:
            browser.close()
        frames += trace.frames
        tasks += trace.tasks
        bench.note(f"  {name}, {way.__name__}: {passed} albums, {told(trace.frames)}; longest task {max(trace.tasks):.1f} ms")
    note = told(frames)
    bench.report.row(f"longest time between two frames on the screen, {name}", max(frames), "ms", at_most=PROMISE, note=note)
    bench.report.row(f"longest task of the page's main thread, {name}", max(tasks), "ms", at_most=PROMISE,
                     note=f"99.9 % within {percentile(tasks, 0.999):.1f} ms")


def told(frames):
    half, most = percentile(frames, 0.5), percentile(frames, 0.99)
    return f"{len(frames):,} frames, half within {half:.1f} ms, 99 % within {most:.1f}, longest {max(frames):.1f}"


def wheel(browser, page, seconds):
    gesture(browser, page, seconds, "mouse")


def finger(browser, page, seconds):
    gesture(browser, page, seconds, "touch")


def gesture(browser, page, seconds, kind):
    """Scrolls on and on without a pause, which the browser itself makes of one command; back and forth for a finger, whose
    way ends at the edge of the screen."""
    x, y = page.middle_of("#covers")
    speed = 2400
    if kind == "mouse":
        browser.cdp("Input.synthesizeScrollGesture", x=x, y=y, yDistance=-speed * seconds, speed=speed, gestureSourceType=kind)
    else:
        browser.cdp(
            "Input.synthesizeScrollGesture", x=x, y=y, xDistance=-500, speed=speed, gestureSourceType=kind,
            repeatCount=seconds * 3, repeatDelayMs=0, preventFling=False)


def keys(browser, page, seconds):
    """An arrow key held down, as fast as keyboards repeat it."""
    page.focus_covers()
    key = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
    browser.cdp("Input.dispatchKeyEvent", type="rawKeyDown", **key)
    started = time.monotonic()
    for number in range(seconds * 30):
        time.sleep(max(0, started + number / 30 - time.monotonic()))
        browser.cdp("Input.dispatchKeyEvent", type="rawKeyDown", autoRepeat=True, **key)
    browser.cdp("Input.dispatchKeyEvent", type="keyUp", **key)


class Trace:
    """What the page's process did between the two marks, in milliseconds: how long each frame was in coming, from the one
    before it, or from when there was something new to show if that was later; and how long each task of its main thread took."""

    def __init__(self, log):
        events = [entry["params"] for entry in log if entry["method"] == "Tracing.dataCollected"]
        marks = {event["name"]: event for event in events if event.get("cat") == "blink.user_timing"}
        begin, end = marks["scrolling:begin"], marks["scrolling:end"]
        inside = sorted((
            event for event in events if event["pid"] == begin["pid"] and begin["ts"] <= event["ts"] <= end["ts"]),
            key=lambda event: event["ts"])
        self.tasks = [
            event["dur"] / 1000 for event in inside
            if event["name"] == "RunTask" and event["ph"] == "X" and event["tid"] == begin["tid"]]
        began = {
            event["args"]["id"]: event["ts"] for event in inside if event["name"] == "AnimationFrame" and event["ph"] == "b"}
        frames = [
            (began[event["args"]["id"]], event["ts"]) for event in inside
            if event["name"] == "AnimationFrame::Presentation" and event["args"]["id"] in began]
        wanted = [event["ts"] for event in inside if event["name"] in ("RequestAnimationFrame", "ScheduleStyleRecalculation")]
        self.frames = []
        for (start, shown), (_, following) in zip(frames, frames[1:]):
            index = bisect.bisect_right(wanted, start)
            if index < len(wanted):
                self.frames.append((following - min(max(shown, wanted[index]), following)) / 1000)
