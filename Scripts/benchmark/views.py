"""What the gallery's first view costs, whatever the size of the originals, and when its covers are there over a link."""
import shutil
import statistics

import pictures
from measure import Origin
from page import Gallery
from stage import Stage

ALBUMS = 500
LINK = "60ms/5mbit"


def views(bench, driver):
    """The gallery of 500 albums whose covers have 600, 1,500 or 3,000 pixels: what its first view and sixty keys cost, and when covers are
    there over a link. The smaller pictures do not exist before."""
    if pictures.vips() is None:
        return bench.report.skip("first view of 500 albums over a link", "no pyvips")
    server = pictures.Server(pictures.make(bench.new_folder("pictures")))
    try:
        costs = {side: view(bench, driver, server, side) for side in pictures.SIDES}
    finally:
        server.close()
    least = costs[min(pictures.SIDES)]
    for side, (first, keys, shown, jump, count) in costs.items():
        name = f"{ALBUMS} albums of {side:,} pixels"
        bench.report.row(f"{name}: bytes of the first view / those of 600 pixels", first / least[0], at_most=1.2, note=f"{first / 1e6:.2f} MB")
        bench.report.row(f"{name}: bytes after sixty keys / those of 600 pixels", keys / least[1], at_most=1.2, note=f"{keys / 1e6:.2f} MB, {count} pictures")
        bench.report.row(f"{name}: first cover over {LINK}", shown[0], "s", note=f"the covers in view {shown[1]:.2f} s")
        bench.report.row(f"{name}: jump to the 41st over {LINK}", jump, "s")


# From the start of the page.
OBSERVE = """
    performance.setResourceTimingBufferSize(2000);
    document.addEventListener('load', ({target}) => {
        if (target instanceof HTMLImageElement && target.closest('.cover')) window.firstCover ??= performance.now();
    }, true);"""
COVERS = "performance.getEntriesByType('resource').filter(({name}) => name.includes('/covers/'))"


def view(bench, driver, server, side):
    with Stage(bench.sleeve) as stage:
        stage.write_library([
            {"title": f"Album {n:05}", "artist": f"Artist {n % 97:02}", "coverUrl": f"{server.url}/{side}/{n}.jpg"} for n in range(ALBUMS)])
        stage.warm()
        stage.start_server()
        link = Origin(bench.lab, "--link", LINK, "--before", f"127.0.0.1:{stage.server.port}")
        try:
            rounds = []
            for _ in range(min(3, bench.rounds)):
                shutil.rmtree(stage.cache / "sizes", ignore_errors=True)
                rounds.append(over_link(driver, f"http://{link.url}/"))
        finally:
            link.close()
        shutil.rmtree(stage.cache / "sizes", ignore_errors=True)
        first, keys, count = direct(driver, stage.server.url)
    shown, inview, jump = (statistics.median(each) for each in zip(*rounds))
    bench.note(f"  {side:,} pixels: {first / 1e6:.2f} MB, {keys / 1e6:.2f} MB, {shown:.2f} s, {inview:.2f} s, {jump:.2f} s")
    return first, keys, (shown, inview), jump, count


def over_link(driver, url):
    """Seconds until the first cover, until all in view, and from a jump to its cover."""
    browser = driver.browser()
    try:
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=OBSERVE)
        page = Gallery(browser, url).open()
        inview = page.until("performance.getEntriesByName('sleeve:first-covers')[0]?.startTime", what="the first covers")
        shown = page.until("window.firstCover", what="a cover")
        page.covers_settle()
        page.rest()
        jump = browser.run_async("""
            const slider = document.querySelector('#position'), start = performance.now();
            slider.value = 40;
            slider.dispatchEvent(new Event('input', {bubbles: true}));
            while (document.querySelector('#covers [aria-selected=true]')?.ariaPosInSet !== '41'
                || document.querySelector('#covers [aria-selected=true]').dataset.state !== 'ready') {
                await new Promise((resolve) => setTimeout(resolve, 5));
            }
            return performance.now() - start;""")
        return shown / 1000, inview / 1000, jump / 1000
    finally:
        browser.close()


def direct(driver, url):
    """Bytes of covers in the first view, and after sixty keys; the number of pictures then."""
    browser = driver.browser()
    try:
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=OBSERVE)
        page = Gallery(browser, url).open()
        page.covers_settle()
        browser.run_async("await new Promise((resolve) => setTimeout(resolve, 1000));")
        total = f"return {COVERS}.reduce((sum, {{transferSize}}) => sum + transferSize, 0)"
        first = page.run(total)
        page.focus_covers()
        for _ in range(60):
            page.press("Right")
            page.covers_settle()
        browser.run_async("await new Promise((resolve) => setTimeout(resolve, 1000));")
        return first, page.run(total), page.run(f"return {COVERS}.filter(({{transferSize}}) => transferSize > 0).length")
    finally:
        browser.close()
