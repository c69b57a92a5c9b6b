"""Light and dark colour schemes, forced colours, reduced motion, and one scale of everything."""
import pathlib
import re

import inputs
import pixels
from case import GalleryTest

RGB = """
    const rgb = (...colours) => {
        const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
        for (canvas.fillStyle of colours) canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };"""


class Look(GalleryTest):
    motion = True

    def test_dark_is_dark_light_is_light_the_page_follows_at_once_and_covers_have_their_own_colours_and_an_edge(self):
        page = self.shared_gallery().settled()
        seen = {}
        for scheme in ("light", "dark"):
            inputs.prefer(page.browser, prefers_color_scheme=scheme)
            page.wait("matchMedia(`(prefers-color-scheme: ${arguments[0]})`).matches", scheme)
            seen[scheme] = page.run(RGB + """
                const styles = ['html', 'body', '#covers', '#facts', '#view'].map((selector) => getComputedStyle($(selector)));
                return [styles.map(({color, backgroundColor}) => color + backgroundColor).join(), rgb(...styles.slice(0, 2).map((each) => each.backgroundColor))];""")
        self.screenshot("dark-1280")
        (light, light_ground), (dark, dark_ground) = seen["light"], seen["dark"]
        self.assertNotEqual(light, dark)
        self.assertGreater(min(light_ground), 160)
        self.assertLess(max(dark_ground[:3]), 96)
        self.assertEqual([light_ground[3], dark_ground[3]], [255, 255])
        self.assertIn("dark", page.value("getComputedStyle(document.documentElement).colorScheme"))
        found = page.run("""
            const pictures = $$('#covers [data-state=ready] .picture');
            const style = (picture) => getComputedStyle(picture), all = pictures.map(style);
            return [pictures.map((each) => style(each.parentElement).opacity), all.map((each) => each.outlineWidth + each.outlineOffset),
                all.map((each) => each.backgroundColor), getComputedStyle(document.body).backgroundImage];""")
        self.assertEqual([set(one) for one in found[:3]], [{"1"}, {"1px-1px"}, {"rgb(255, 255, 255)"}])
        self.assertEqual(found[3], "none")

    def steps_to_the_next(self, page):
        """How many places the chosen cover has on its way to the next one's."""
        page.settled()
        page.run("""
            const option = $('#covers [aria-selected=true]');
            $('#covers').focus();
            window.places = new Set();
            const frame = () => { places.add(Math.round(option.getBoundingClientRect().left)); window.watching = requestAnimationFrame(frame); };
            frame();""")
        page.press("Right").wait_for_place(2)
        return page.run("cancelAnimationFrame(watching); return places.size")

    def test_covers_glide_to_the_middle_and_with_reduced_motion_nothing_glides_and_nothing_turns(self):
        page = self.shared_gallery()
        self.assertGreater(self.steps_to_the_next(page), 2)
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.go("#view=stage").focus_covers().press("Home").wait_for_place(1)
        self.assertEqual(self.steps_to_the_next(page), 2)
        self.assertEqual(page.value("getComputedStyle($('#covers')).scrollBehavior"), "auto")
        moving = page.run("""
            return document.getAnimations().filter((each) => each.effect.getComputedTiming().duration > 20
                && each.effect.getKeyframes().some((frame) => 'transform' in frame || 'translate' in frame || 'rotate' in frame))
                .map((each) => each.animationName ?? each.transitionProperty);""")
        self.assertEqual(moving, [])

    def test_with_forced_colours_the_chosen_cover_of_the_wall_and_the_place_on_the_rail_are_marked(self):
        page = self.shared_gallery().wall().sort("year").focus_covers()
        inputs.prefer(page.browser, forced_colors="active", prefers_reduced_motion="reduce")
        page.settled()
        page.press("End").wait_for_place(12)
        chosen, width, rail = page.run("""
            const chosen = getComputedStyle($('#wall [aria-selected=true]')), rail = getComputedStyle($('#rail'), '::before');
            return [chosen.outlineStyle, parseFloat(chosen.outlineWidth), rail.borderTopStyle];""")
        self.assertEqual([chosen, rail], ["solid", "solid"])
        self.assertGreaterEqual(width, 2)
        self.screenshot("wall-forced")


class Tokens(GalleryTest):
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


class Missing(GalleryTest):
    expected = ("Failed to load resource",)

    def shared(self):
        albums = self.common.albums(12)
        albums[0].update(coverUrl="", title="Half Seasons of a Rather Long Name", artist="Wren")
        albums[1].update(coverUrl=albums[1]["coverUrl"] + "?status=404", artist="Wren")
        return albums

    def test_covers_that_are_missing_have_names_and_those_that_load_have_none(self):
        page = self.open()
        for view in ("row", "wall"):
            if view == "wall": page.wall()
            tiles = ":is([data-state=missing], [data-state=failed])"
            page.wait("$$(arguments[0]).length > 1", tiles, what="the two tiles")
            for scheme in ("light", "dark"):
                inputs.prefer(page.browser, prefers_color_scheme=scheme)
                words = page.run(RGB + """
                    return $$(arguments[0]).map((tile) => [getComputedStyle(tile), ...['::before', '::after'].map((part) =>
                        getComputedStyle(tile.querySelector('.name'), part))].map((style, n) => rgb(n ? style.color : style.backgroundColor)));""", tiles)
                self.assertGreaterEqual(len(words), 2)
                for (*ground, _), *lines in words:
                    for *ink, opacity in lines:
                        painted = tuple((above * opacity + below * (255 - opacity)) / 255 for above, below in zip(ink, ground))
                        self.assertGreaterEqual(pixels.contrast(painted, tuple(ground)), 4.5, f"{view}, {scheme}")
                self.screenshot(f"missing-{view}-{scheme}")
        state = page.run("""
            return $$('#wall .cover').slice(0, 3).map((cover) => {
                return [cover.dataset.state, Boolean(cover.querySelector('.name')), getComputedStyle(cover).backgroundImage.includes('radial-gradient')];
            });""")
        self.assertEqual(state, [["missing", True, False], ["failed", True, True], ["ready", False, False]])
