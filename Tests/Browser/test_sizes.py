"""Covers in the size that the view needs, and what is shown before them."""
import inputs
from case import GalleryTest

# Of a picture whose left half is red (220, 30, 30) and whose right half is blue (30, 60, 220).
RED_AND_BLUE = "L^IwbK{@s8J;oMn~fQa}fQfQfQfQ"


class Sizes(GalleryTest):
    expected = ("covers/slow",)

    def steps(self, page):
        """The steps of the pictures in view."""
        page.covers_settle()
        return set(page.run("""
            return [...document.querySelectorAll('.cover[data-state=ready] img')].map((image) => new URL(image.currentSrc).search);"""))

    def test_each_view_loads_the_step_that_the_screen_needs_and_the_viewer_the_whole_picture(self):
        page = self.gallery(12)
        inputs.screen(page.browser, 1280, 800)
        page.reload()
        self.assertEqual(self.steps(page), {"?w=600"})
        inputs.screen(page.browser, 1280, 800, 3)
        page.reload()
        self.assertEqual(self.steps(page), {"?w=1200"})
        inputs.screen(page.browser, 1280, 800)
        page.wall()
        # A browser that has a larger picture does not load another one, so the page is left first.
        page.until("location.hash.includes('view=wall')", what="the view in the address")
        page.browser.get("about:blank")
        page.browser.cdp("Network.clearBrowserCache")
        page.open()
        self.assertEqual(self.steps(page), {"?w=300"})
        page.focus_covers()
        page.press("Enter")
        page.until("document.querySelector('#viewer-picture').naturalWidth > 0", what="the whole picture")
        self.assertEqual(page.run("return new URL(document.querySelector('#viewer-picture').currentSrc).search"), "")

    def test_the_browser_keeps_the_step_that_was_shown(self):
        page = self.gallery(6)
        page.until("navigator.serviceWorker.controller", what="the service worker to control the page")
        page.browser.run_async("""
            for (;;) {
                const requests = await (await caches.open('sleeve-seen')).keys();
                if (requests.filter(({url}) => new URL(url).search === '?w=600').length >= 3) return;
                await new Promise((resolve) => setTimeout(resolve, 50));
            }""")

    def test_the_dominant_colour_and_the_blur_hash_come_before_a_slow_picture(self):
        page = self.gallery(1)
        pixels = page.browser.run_async("""
            const {blurCanvas} = await import('./blurhash.js');
            const canvas = blurCanvas(arguments[0]);
            const {data} = canvas.getContext('2d').getImageData(0, 8, 16, 1);
            return [2, 13].map((x) => [...data.slice(4 * x, 4 * x + 3)]);""", RED_AND_BLUE)
        for pixel, expected in zip(pixels, ((220, 30, 30), (30, 60, 220))):
            self.assertLess(max(abs(one - other) for one, other in zip(pixel, expected)), 40, pixels)
        self.assertEqual(page.browser.run_async(
            "const {blurCanvas} = await import('./blurhash.js'); return ['', 'L', arguments[0] + 'x', 'ä'.repeat(28)].map((text) => blurCanvas(text));", RED_AND_BLUE),
            [None] * 4)
        page.wall().covers_settle()
        page.browser.run_async("await Promise.all([import('./cover-view.js'), import('./blurhash.js')])")
        self.stage.server.pause()
        self.addCleanup(self.stage.server.resume)
        shown = page.browser.run_async("""
            const {makeView, assign, tint, showPicture} = await import('./cover-view.js');
            const view = makeView();
            document.querySelector('#wall > div').append(view);
            assign(view, {id: 'x', title: 'X', artist: ''});
            tint(view, '#123456');
            showPicture(view, 'covers/slow', {size: 100, exact: true, blurHash: arguments[0]});
            const first = [getComputedStyle(view).backgroundColor, view.querySelector('canvas')];
            while (!view.querySelector('canvas')) await new Promise((resolve) => setTimeout(resolve, 10));
            view.remove();
            return first;""", RED_AND_BLUE)
        self.stage.server.resume()
        self.assertEqual(shown, ["rgb(18, 52, 86)", None])
