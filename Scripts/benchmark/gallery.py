"""What the gallery's page marks itself, in headless Chromium: the end of a cover's spinner, the first covers in view."""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Browser"))

from page import Gallery  # noqa: E402
from stage import Stage  # noqa: E402
from views import views  # noqa: E402
from webdriver import Driver  # noqa: E402

ARRIVALS = 300


def gallery(bench):
    try:
        with Driver() as driver:
            arrivals(bench, driver)
            for albums in (12, 10_000):
                opening(bench, driver, albums)
            scrolling(bench, driver)
            views(bench, driver)
            bench.report.facts["browser"] = driver.version
    finally:
        for stage in list(Stage.open):
            stage.close()


def arrivals(bench, driver):
    """Pages through a library without cached covers until ARRIVALS covers have arrived in view."""
    with Stage(bench.sleeve) as stage:
        stage.start_origin("--delay", 40)
        stage.write_library(stage.albums(ARRIVALS * 12))
        stage.start_server()
        browser = driver.browser()
        try:
            page = Gallery(browser, stage.server.url).open()
            page.covers_settle()
            page.focus_covers()
            count, position = "performance.getEntriesByName('sleeve:arrival').length", 1
            while page.run(f"return {count}") < ARRIVALS and position < ARRIVALS * 12 - 60:
                # Skips the albums whose covers the page has already requested.
                for _ in range(10):
                    page.press("PageDown")
                page.until(
                    "Number(document.querySelector('#covers [aria-selected=true]').ariaPosInSet) > arguments[0]", position)
                page.rest()
                page.covers_settle()
                position = page.chosen()["place"]
            times = sorted(page.run(
                "return performance.getEntriesByName('sleeve:arrival').map(({detail}) => detail.stopped - detail.at)"))
        finally:
            browser.close()
    bench.note(f"  {len(times)} arrivals: {times[0]:.1f}–{times[-1]:.1f} ms")
    bench.report.row(
        "a cover's arrival in the cache to the end of its spinner", statistics.median(times), "ms", at_most=100,
        note=f"median of {len(times)}; 95 % within {times[round(0.95 * (len(times) - 1))]:.0f} ms; "
             "the image is fetched, decoded and in the page")


def opening(bench, driver, albums):
    """Browsers without a cache each open the page once; then one that has the page's service worker opens it repeatedly."""
    with Stage(bench.sleeve) as stage:
        stage.start_origin()
        stage.write_library(stage.albums(albums))
        stage.warm()
        stage.start_server()
        first, again = [], []
        for _ in range(bench.rounds):
            browser = driver.browser()
            try:
                wait_for_start(browser, stage.origin.url)
                first.append(first_covers(browser, stage.server.url))
            finally:
                browser.close()
        browser = driver.browser()
        try:
            Gallery(browser, stage.server.url).open().until("navigator.serviceWorker.controller")
            for _ in range(bench.rounds):
                browser.get("about:blank")
                again.append(first_covers(browser, stage.server.url))
        finally:
            browser.close()
    for visit, times in (("first visit", first), ("with its service worker", again)):
        bench.note(f"  {albums:,} albums, {visit}: " + " ".join(f"{time:.0f}" for time in times))
        bench.report.row(
            f"first covers in view, {albums:,} albums, {visit}", statistics.median(times), "ms", at_most=300,
            note=f"median of {len(times)} openings; {min(times):.0f}–{max(times):.0f}")


def scrolling(bench, driver):
    """Scrolls the wall of 10,000 albums by 1,200 pixels a second."""
    with Stage(bench.sleeve) as stage:
        stage.start_origin()
        stage.write_library(stage.albums(10_000))
        stage.warm()
        stage.start_server()
        browser = driver.browser()
        try:
            page = Gallery(browser, stage.server.url).open().wall()
            page.covers_settle()
            times = browser.run_async("""
                const wall = document.querySelector('#wall'), times = [];
                for (let frame = 0, last = performance.now(); frame < 600; frame++) {
                    wall.scrollTop += 20;
                    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
                    times.push(now - last);
                    last = now;
                }
                return times.sort((one, other) => one - other);""")
            nodes = page.run("return document.querySelectorAll('*').length")
        finally:
            browser.close()
    bench.report.row(
        "time between two frames of the wall of 10,000 albums while it scrolls", statistics.median(times), "ms", at_most=17,
        note=f"median of {len(times)}; 95 % within {times[round(0.95 * (len(times) - 1))]:.0f} ms; {nodes} elements in the page")


def wait_for_start(browser, url):
    """Waits until the browser itself has started, which occupies both cores for seconds."""
    browser.get(url)
    browser.run_async("await new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve), 2500))")


def first_covers(browser, url):
    """Milliseconds from the start of the navigation until every cover in view is decoded and in the page."""
    page = Gallery(browser, url).open()
    return page.until("performance.getEntriesByName('sleeve:first-covers')[0]?.startTime", what="the first covers")
