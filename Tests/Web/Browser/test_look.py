"""Light and dark colour schemes, and reduced motion."""
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

    def test_a_spinner_does_not_turn_with_reduced_motion_but_is_there(self):
        self.stage.start_origin()
        self.stage.serve(self.stage.albums(3), warm=False)
        self.stage.origin.pause()
        page = self.open()
        inputs.prefer(page.browser, prefers_reduced_motion="reduce")
        page.until("document.querySelector('#covers .spinner')")
        self.assertEqual(page.run("""
            return document.getAnimations().filter((each) => each.effect.target.closest('.spinner')
                && each.effect.getKeyframes().some((frame) => 'transform' in frame || 'rotate' in frame)).length"""), 0)
