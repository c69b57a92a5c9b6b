"""Covers in the size that the view needs, and what is shown before them."""
import inputs
from case import GalleryTest


class Sizes(GalleryTest):
    expected = ("covers/slow",)

    def steps(self, page):
        """The steps of the pictures in view."""
        page.covers_settle()
        return set(page.run("""
            return [...document.querySelectorAll('.cover[data-state=ready] img')].map((image) => new URL(image.currentSrc).search);"""))

    def test_each_view_loads_the_step_that_the_screen_needs(self):
        page = self.shared_gallery()
        for width, height, ratio, step in ((844, 390, 1, 300), (844, 390, 3, 600), (1280, 800, 1, 1200)):
            inputs.screen(page.browser, width, height, ratio)
            page.leave()
            page.browser.cdp("Network.clearBrowserCache")
            page.open()
            self.assertEqual(self.steps(page), {f"?w={step}"}, (width, ratio))
        page.wall()
        # A browser that has a larger picture does not load another one, so the page is left first.
        page.remembered(view="wall")
        page.leave()
        page.browser.cdp("Network.clearBrowserCache")
        page.open(page.server.address)
        self.assertEqual(self.steps(page), {"?w=300"})

    def test_the_browser_keeps_the_step_that_was_shown(self):
        page = self.shared_gallery(6)
        page.installed()
        page.until(
            "(await (await caches.open('sleeve-seen')).keys()).filter(({url}) => new URL(url).search === '?w=1200').length >= 3",
            what="three covers to be stored")

    def test_the_dominant_colour_comes_before_a_slow_picture_and_no_words_do(self):
        page = self.gallery(1)
        page.covers_settle()
        page.run("await import(new URL('cover-view.js', document.querySelector('script').src))")
        self.stage.server.pause()
        self.addCleanup(self.stage.server.resume)
        first = page.run("""
            const {makeView, assign, tint, showPicture} = await import(new URL('cover-view.js', document.querySelector('script').src));
            const view = window.view = makeView();
            document.querySelector('#covers').append(view);
            assign(view, {id: 'x', title: 'X', artist: ''});
            tint(view, '#123456');
            showPicture(view, 'covers/slow', {size: 100, exact: true});
            return [getComputedStyle(view).backgroundColor, Boolean(view.querySelector('.name'))];""")
        self.assertEqual(first, ["rgb(18, 52, 86)", False])
        self.assertEqual(page.run("return getComputedStyle(view).backgroundColor"), "rgb(18, 52, 86)")
        page.run("view.remove()")
        self.stage.server.resume()
