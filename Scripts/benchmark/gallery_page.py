"""What the page itself marks: when spinners end, when the first covers are there."""
import statistics

from page import Gallery


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def arrivals(bench):
    """Goes through a library nobody has the covers of, until so many have arrived in front of the reader."""
    wanted = 60 if bench.quick else 300
    with bench.stage() as stage:
        stage.start_origin("--delay", 40)
        stage.write_library(stage.albums(wanted * 12))
        stage.start_server()
        browser = bench.driver.browser()
        try:
            page = Gallery(browser, stage.server.url).open()
            page.covers_settle()
            page.focus_covers()
            count, place = "performance.getEntriesByName('sleeve:arrival').length", 1
            while page.run(f"return {count}") < wanted and place < wanted * 12 - 60:
                # Further than the server is told of: nothing there is on its way yet.
                for _ in range(10):
                    page.press("PageDown")
                page.until("Number(document.querySelector('#covers [aria-selected=true]').ariaPosInSet) > arguments[0]", place)
                page.rest()
                page.covers_settle()
                place = page.chosen()["place"]
            marks = page.run(
                "return performance.getEntriesByName('sleeve:arrival').map(({detail}) => detail.stopped - detail.at)")
        finally:
            browser.close()
    bench.note(f"  {len(marks)} arrivals: {min(marks):.1f}–{max(marks):.1f} ms")
    note = f"{len(marks)} arrivals, origin answers after 40 ms; the picture is fetched, decoded and in the page"
    what = "arrival in the cache to the end of the spinner"
    bench.report.row(what + ", median", statistics.median(marks), "ms", at_most=100, note=note)
    bench.report.row(what + ", 95 %", percentile(marks, 0.95), "ms", note=f"worst {max(marks):.0f} ms")


def opening(bench):
    """Browsers that run and know nothing of the page, each opens it once; then one that has its service worker."""
    rounds = 3 if bench.quick else 9
    for name, albums in (("12 albums", 12), ("10,000 albums", 10_000)):
        with bench.stage() as stage:
            stage.start_origin()
            stage.write_library(stage.albums(albums))
            stage.warm()
            stage.start_server()
            fresh, painted = [], []
            for _ in range(rounds):
                browser = bench.driver.browser()
                try:
                    settle(browser, stage.origin.url)
                    fresh.append(first_covers(browser, stage.server.url))
                    painted.append(largest_paint(browser))
                finally:
                    browser.close()
            report(bench, f"first covers, {name}, first visit", fresh, painted)
            browser = bench.driver.browser()
            try:
                Gallery(browser, stage.server.url).open().until("navigator.serviceWorker.controller")
                again = []
                for _ in range(rounds):
                    browser.get("about:blank")
                    again.append(first_covers(browser, stage.server.url))
            finally:
                browser.close()
            report(bench, f"first covers, {name}, with its service worker", again)


def settle(browser, url):
    """Until the browser itself has started, which takes it seconds and both cores: people open pages in one that runs."""
    browser.get(url)
    browser.run_async("await new Promise((resolve) => setTimeout(() => requestIdleCallback(resolve), 2500))")


def first_covers(browser, url):
    """Milliseconds from the start of the navigation to every cover in view decoded and in the page."""
    page = Gallery(browser, url).open()
    return page.until("performance.getEntriesByName('sleeve:first-covers')[0]?.startTime", what="the first covers")


def largest_paint(browser):
    """When the largest thing so far, a cover, was on the screen, as the browser's compositor tells."""
    return browser.run_async("""
        return await new Promise((resolve) => new PerformanceObserver((list) =>
            resolve(list.getEntries().at(-1).renderTime)).observe({type: 'largest-contentful-paint', buffered: true}));""")


def report(bench, what, times, painted=()):
    bench.note(f"  {what}: " + " ".join(f"{time:.0f}" for time in times))
    note = f"{len(times)} openings, best {min(times):.0f}"
    if painted:
        note += f"; largest cover painted: median {statistics.median(painted):.0f}, worst {max(painted):.0f}"
    bench.report.row(what + ", median", statistics.median(times), "ms", at_most=300, note=note)
    bench.report.row(what + ", worst", max(times), "ms", at_most=300)
