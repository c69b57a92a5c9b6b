"""Light and dark colour schemes, and reduced motion."""
import pathlib
import re

import inputs
from case import GalleryTest


class Look(GalleryTest):
    motion = True

    def colours(self, page):
        return page.run("""
            return ['body', '#covers', '#facts', '#view'].map((selector) => {
                const style = getComputedStyle(document.querySelector(selector));
                return style.color + ' on ' + style.backgroundColor;
            });""")

    def test_dark_is_dark_light_is_light_and_the_page_follows_at_once(self):
        page = self.shared_gallery()
        page.covers_settle()
        inputs.prefer(page.browser, prefers_color_scheme="light")
        light, light_ground = self.colours(page), self.ground(page)
        inputs.prefer(page.browser, prefers_color_scheme="dark")
        page.until("matchMedia('(prefers-color-scheme: dark)').matches")
        dark, dark_ground = self.colours(page), self.ground(page)
        self.screenshot("dark-1280")
        self.assertNotEqual(light, dark)
        self.assertGreater(light_ground, 160)
        self.assertLess(dark_ground, 96)
        self.assertIn("dark", page.run("return getComputedStyle(document.documentElement).colorScheme"))

    def ground(self, page):
        """The brightness of the page's background as painted, 0 to 255."""
        return page.run("""
            const canvas = document.createElement('canvas').getContext('2d');
            for (const element of [document.documentElement, document.body]) {
                canvas.fillStyle = getComputedStyle(element).backgroundColor;
                canvas.fillRect(0, 0, 1, 1);
            }
            const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
            return a ? (r + g + b) / 3 : -1;""")

    STEPS = """
        const places = new Set(), option = document.querySelector('#covers [aria-selected=true]');
        const look = () => places.add(Math.round(option.getBoundingClientRect().left));
        look();
        document.querySelector('#covers [tabindex="0"]')?.focus() ?? document.querySelector('#covers').focus();
        window.places = places;
        const frame = () => { look(); window.watching = requestAnimationFrame(frame); };
        frame();"""

    def steps_to_the_next(self, page):
        page.covers_settle()
        page.rest()
        page.run(self.STEPS)
        page.press("Right")
        page.wait_for_place(2)
        return page.run("cancelAnimationFrame(window.watching); return window.places.size")

    def test_covers_glide_to_the_middle(self):
        self.assertGreater(self.steps_to_the_next(self.shared_gallery()), 2)

    def test_with_reduced_motion_nothing_glides_and_nothing_turns(self):
        page = self.shared_gallery()
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.reload()
        self.assertEqual(self.steps_to_the_next(page), 2)
        self.assertEqual(page.run("return getComputedStyle(document.querySelector('#covers')).scrollBehavior"), "auto")
        moving = page.run("""
            return document.getAnimations().filter((each) => each.effect.getComputedTiming().duration > 20
                && each.effect.getKeyframes().some((frame) => 'transform' in frame || 'translate' in frame || 'rotate' in frame))
                .map((each) => each.animationName ?? each.transitionProperty);""")
        self.assertEqual(moving, [])

    def test_with_forced_colours_the_chosen_cover_of_the_wall_and_the_place_on_the_rail_are_marked(self):
        page = self.shared_gallery().wall()
        page.sort("year")
        page.focus_covers()
        inputs.prefer(page.browser, forced_colors="active", prefers_reduced_motion="reduce")
        page.covers_settle()
        page.press("End")
        page.wait_for_place(12)
        marks = page.run("""
            const chosen = getComputedStyle(document.querySelector('#wall [aria-selected=true]'));
            const rail = getComputedStyle(document.querySelector('#rail'), '::before');
            return [chosen.outlineStyle, parseFloat(chosen.outlineWidth), rail.borderTopStyle];""")
        self.assertEqual(marks[0], "solid")
        self.assertGreaterEqual(marks[1], 2)
        self.assertEqual(marks[2], "solid")
        self.screenshot("wall-forced")


def names_tile(selector):
    """JavaScript for the colours of a tile's words and of its ground, and the contrast between them (WCAG 2, 1.4.3)."""
    return f"""
        const rgb = (colour) => {{
            const canvas = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data];
        }};
        const over = ([r, g, b, a], ground) => [r, g, b].map((part, n) => (part * a + ground[n] * (255 - a)) / 255);
        const light = (colour) => colour.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
        const contrast = (one, other) => {{
            const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
            return (bright + 0.05) / (dark + 0.05);
        }};
        return [...document.querySelectorAll({selector!r})].map((tile) => {{
            const ground = rgb(getComputedStyle(tile).backgroundColor).slice(0, 3), name = tile.querySelector('.name');
            return ['::before', '::after'].map((part) => contrast(over(rgb(getComputedStyle(name, part).color), ground), ground));
        }});"""


class Tokens(GalleryTest):
    """One scale of type, space and corners, covers with an edge, and what is shown in the place of one."""

    def test_the_style_sheets_have_one_scale(self):
        page = pathlib.Path(__file__).parents[3] / "Sources/Web/CGalleryPage/Page"
        text = "\n".join(re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL) for sheet in sorted(page.glob("*.css")))
        values = lambda name: {value.strip() for value in re.findall(rf"(?<![\w-]){name}: ([^;}}]+)", text)}
        sizes = {f"var(--{name})" for name in ("small", "body", "large", "title", "title-least")}
        self.assertEqual(values("font-size") - sizes, {"1rem", "clamp(12px, var(--size) / 9, 4rem)", "max(12px, 0.75em)"})
        self.assertEqual(values("font-weight"), {"400", "600"})
        corners = {corner for value in values("border-radius") for corner in value.split()}
        self.assertEqual(corners - {"var(--round-cover)", "var(--round)", "var(--round-sheet)", "inherit", "50%", "0"}, {"4px"})
        space = {number for value in values("(?:padding|margin)(?:-\\w+)*") | values("(?:(?:row|column)-)?gap") for number in re.findall(r"(?<![\w.-])-?([\d.]+)rem", value)}
        self.assertEqual(space - {"0.25", "0.5", "0.75", "1", "1.5", "2", "3"}, set())

    def broken(self):
        """A gallery in which the first cover has no address, the second none there; and one artist has two of the others."""
        albums = self.stage.albums(12)
        albums[0].update(coverUrl="", title="Half Seasons of a Rather Long Name", artist="Wren")
        albums[1].update(coverUrl=albums[1]["coverUrl"] + "?status=404", artist="Wren")
        self.stage.serve(albums)
        return self.open()

    def test_covers_that_are_missing_have_names_and_those_that_load_have_none(self):
        page = self.broken()
        for view in ("row", "wall"):
            if view == "wall": page.wall()
            tiles = ":is([data-state=missing], [data-state=failed])"
            page.until("document.querySelectorAll(arguments[0]).length > 1", tiles, what="the two tiles")
            for scheme in ("light", "dark"):
                inputs.prefer(page.browser, prefers_color_scheme=scheme)
                words = page.run(names_tile(tiles))
                self.assertGreaterEqual(len(words), 2)
                self.assertGreaterEqual(min(min(pair) for pair in words), 4.5, f"{view}, {scheme}")
                self.screenshot(f"missing-{view}-{scheme}")
        state = page.run("""
            return [...document.querySelectorAll('#wall .cover')].slice(0, 3).map((cover) => {
                return [cover.dataset.state, Boolean(cover.querySelector('.name')), getComputedStyle(cover).backgroundImage.includes('radial-gradient')];
            });""")
        self.assertEqual(state, [["missing", True, False], ["failed", True, True], ["ready", False, False]])

    def test_covers_have_their_own_colours_and_an_edge_and_the_page_takes_none(self):
        page = self.shared_gallery()
        page.covers_settle()
        found = page.run("""
            const pictures = [...document.querySelectorAll('#covers [data-state=ready] .picture')];
            const style = (picture) => getComputedStyle(picture), all = pictures.map(style);
            return [pictures.map((each) => style(each.parentElement).opacity), all.map((each) => each.outlineWidth + each.outlineOffset),
                all.map((each) => each.backgroundColor), getComputedStyle(document.body).backgroundImage];""")
        self.assertEqual([set(one) for one in found[:3]], [{"1"}, {"1px-1px"}, {"rgb(255, 255, 255)"}])
        self.assertEqual(found[3], "none")

    def test_captions_say_what_the_order_asks_and_are_not_cut(self):
        page = self.shared_gallery().wall()
        page.covers_settle()
        second = """
            (() => { const cover = document.querySelector('#wall .cover'), after = getComputedStyle(cover, '::after');
                const named = {artist: cover.dataset.artist, year: cover.dataset.year, genre: cover.dataset.genre};
                return Object.keys(named).find((each) => after.content === JSON.stringify(named[each])); })()"""
        for order, expected in (("library", "artist"), ("year", "year"), ("genre", "genre"), ("title", "artist")):
            page.sort(order)
            page.until(f"{second} === {expected!r}", what=f"the {expected} by {order}")
        page.run("location.hash = '#/artist/' + encodeURIComponent(document.querySelector('#wall .cover').dataset.artist) + '?view=wall'")
        page.until(f"{second} === 'year'", what="the year on an artist's page")
        lines = page.run("""
            return ['::before', '::after'].map((part) => {
                const line = getComputedStyle(document.querySelector('#wall .cover'), part);
                return [line.overflowY, parseFloat(line.lineHeight) / parseFloat(line.fontSize)];
            });""")
        self.assertEqual(lines, [["visible", 1.5]] * 2)
        room = page.run("return parseFloat(document.querySelector('#wall').style.getPropertyValue('--caption'))")
        self.assertGreaterEqual(room, 8 + 2 * 1.5 * 13)
