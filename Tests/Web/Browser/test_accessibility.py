"""Accessibility: the findings of axe-core, what it leaves undecided as painted, and nodes without a name in the browser's accessibility tree."""
import importlib.metadata

import inputs
import pixels
from case import GONE, GalleryTest
from test_doubtful import Reviewing

AXE = importlib.metadata.distribution("axe-playwright-python").locate_file("axe_playwright_python/axe.min.js").read_text()
# Every rule that is on by default, and those of WCAG that are not.
EVERYTHING = {"rules": {rule: {"enabled": True} for rule in ("target-size", "label-content-name-mismatch")}}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
NAMED = {
    "button", "checkbox", "combobox", "dialog", "heading", "image", "img", "link", "listbox", "menu", "menuitem", "menuitemradio", "option", "progressbar", "radio",
    "region", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "Canvas", "DisclosureTriangle"}
# Scrolls an element into view. Returns its box, whether it moved, its colour as red, green, blue and opacity, and whether it is covered.
LOOK = """
    const element = $(arguments[0]), before = element.getBoundingClientRect();
    element.scrollIntoView({block: 'nearest', behavior: 'instant'});
    const box = element.getBoundingClientRect(), ink = new OffscreenCanvas(1, 1).getContext('2d');
    ink.fillStyle = getComputedStyle(element, arguments[1]).color;
    ink.fillRect(0, 0, 1, 1);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) ?? element;
    return [box.toJSON(), box.top !== before.top || box.left !== before.left, [...ink.getImageData(0, 0, 1, 1).data],
        !top.contains(element) && !element.contains(top)];"""


class Checker(GalleryTest):
    def begin(self):
        page = self.open().settled()
        page.browser.execute_script(AXE)
        return page

    def schemes(self, page):
        for scheme in ("dark", "light"):
            inputs.prefer(page.browser, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            yield scheme

    def found(self, page, what, scope=None):
        """The findings on the page, or in a part of it, after short animations have ended. In the dark only what depends on colours."""
        is_dark = page.value("matchMedia('(prefers-color-scheme: dark)').matches")
        found = page.run("""
            await Promise.all(document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < 60_000)
                .map((each) => each.finished.catch(() => {})));
            return await axe.run(arguments[1] ?? document, arguments[0]);""", COLOURS if is_dark else EVERYTHING, scope)
        nodes = [(rule["id"], node) for kind in ("violations", "incomplete") for rule in found[kind] for node in rule["nodes"]]
        undecided = [node for rule, node in nodes if rule == "color-contrast" and node["any"][0]["data"]["contrastRatio"] == 0]
        return [f"{'dark' if is_dark else 'light'}, {what}: {each}" for each in (
            *(f"{rule}: {node['target']}: {node['failureSummary']}" for rule, node in nodes if node not in undecided),
            *self.pale(page, undecided), *(() if is_dark else self.nameless(page)))]

    def pale(self, page, undecided):
        """The texts, and the placeholders of fields, that are painted with too little contrast, on a gradient for example."""
        texts = [(node["target"][0], None, float(node["any"][0]["data"]["expectedContrastRatio"].split(":")[0])) for node in undecided]
        texts += [(f"[name={field}], #{field}", "::placeholder", 4.5) for field in page.run(
            "return [...($('dialog:modal') ?? document).querySelectorAll('input:placeholder-shown[placeholder]')]"
            ".filter((each) => each.checkVisibility()).map(({id, name}) => id || name)")]
        window, ratio = None, page.value("devicePixelRatio")
        for selector, part, needed in texts:
            box, moved, (*colour, opacity), is_covered = page.run(LOOK, selector, part)
            if is_covered:
                continue
            if moved or not window:
                window = pixels.capture(page.browser)
            # Letters are seldom in the first and last rows of their box, where an edge may be.
            inner = {**box, "top": box["top"] + 2, "bottom": box["bottom"] - 2}
            ground = pixels.ground(pixels.part(window, inner, ratio), rows=2)
            painted = pixels.contrast(ground, tuple(
                value * opacity / 255 + below * (1 - opacity / 255) for value, below in zip(colour, ground)))
            if painted < needed:
                yield f"color-contrast: {selector} {part or ''}: {painted:.2f} as painted, not {needed}"

    def nameless(self, page):
        """The nodes without a name in the accessibility tree."""
        return [
            f"name: {node['role']['value']} without a name (node {node.get('backendDOMNodeId')})"
            for node in page.browser.cdp("Accessibility.getFullAXTree")["nodes"]
            if not node["ignored"] and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()]

    def assert_accessible(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Accessible(Checker):
    expected = ("Failed to load resource",)

    def shared(self):
        albums = self.common.albums(8)
        albums[1]["coverUrl"] = f"{self.common.origin.base}/covers/2.jpg?status=404"
        albums[2]["coverUrl"] = ""
        return albums

    def everywhere(self, page, what):
        """The findings on the page and, with what is open then, in its menus, the keys, activity, and the form with and without an invalid field."""
        found = []
        for _ in self.schemes(page):
            found += self.found(page, what)
            for menu in page.value("$$('[aria-haspopup=menu]').filter((each) => each.checkVisibility()).map((each) => each.id)"):
                page.click(f"#{menu}")
                found += self.found(page, f"{what}, {menu}", "[role=menu]:popover-open")
                page.press("Escape")
            page.run("$('#keys').showPopover()")
            found += self.found(page, f"{what}, keys", "#keys")
            page.run("$('#keys').hidePopover(); $('#activity-open').click()")
            page.appears("#activity")
            found += self.found(page, f"{what}, activity", "#activity")
            page.run("$('#activity').close()")
            page.run("$('#add').click()")
            found += self.found(page, f"{what}, form", "#album-dialog")
            page.run("$('#album-save').click()")
            page.wait("$('#album-error').textContent.trim()", what="the error")
            found += self.found(page, f"{what}, form with an error", "#album-dialog")
            page.run("$('#album-cancel').click()")
        return found

    def test_nothing_is_found_on_the_stage_of_a_desktop_and_of_a_phone_while_covers_wait_fail_and_nothing_is_found(self):
        page = self.begin()
        found = self.everywhere(page, "stage")
        page.focus_covers()
        for place in (2, 3):
            page.press("Right").wait_for_place(place)
            found += self.found(page, f"album {place}, without a cover")
        inputs.phone(page.browser)
        page.settled()
        found += self.everywhere(page, "stage of a phone")
        page.search("nothing is called that").size(0)
        self.assert_accessible(found + self.found(page, "no result"))

    def test_nothing_is_found_on_the_wall_with_several_chosen_and_on_a_phone(self):
        page = self.begin().wall().sort("title").settled()
        found = self.everywhere(page, "wall")
        page.focus_covers().press("End")
        found += self.found(page, "wall, the last album")
        page.press("Control", " ").appears("#several")
        found += self.found(page, "one of several")
        page.press("Escape")
        inputs.phone(page.browser)
        page.rest()
        self.assert_accessible(found + self.found(page, "wall of a phone"))

    def test_nothing_is_found_on_the_pages_of_an_artist_and_a_genre_on_the_stage_and_beside_runs(self):
        page, found = self.begin(), []
        for where in ("desktop", "phone"):
            if where == "phone":
                inputs.phone(page.browser)
            for _ in self.schemes(page):
                for field, link in (("artist", "#chosen-artist a"), ("genre", "#facts a")):
                    page.run("$(arguments[0]).click()", link)
                    page.appears("#page").settled()
                    found += self.found(page, f"{where}, {field}")
                    page.run("$('#view').click()")
                    page.appears("#page", False)
                    page.focus_covers().press("Enter").appears("#covers")
                page.settled()
                page.run("$('#activity-open').click()")
                page.run("""
                    const {showRun} = await import(new URL('activity.js', $('script').src));
                    const possible = {refresh: true, fill: true, scan: true, import: true}, state = {possible, running: null, progress: '', problem: null};
                    showRun({...state, name: 'fill', result: {albums: 9, filled: 5, missing: 2, doubtful: 1, failed: 1, unwritten: 0},
                        failures: [{album: 'x', title: 'Low Tide', reason: 'no answer came', cause: 'timed out', url: 'https://a.invalid/1'}]});
                    for (const each of $$('#activity details')) each.open = true;
                    if ($('#run-more').hidden) $('#run-folder').click();""")
                page.appears("#failures a")
                found += self.found(page, f"{where}, runs", "#activity")
                page.run("$('#activity').close()")
        self.assert_accessible(found)

    def test_the_edges_of_fields_and_the_icons_of_buttons_can_be_seen_in_light_and_dark(self):
        page = self.begin()
        for scheme in self.schemes(page):
            self.assertEqual(self.unseen(page), [], scheme)
            page.edit("#add")
            self.assertEqual(self.unseen(page), [], f"{scheme}, dialog")
            page.click("#album-cancel")

    def unseen(self, page):
        """The fields that hold text, and buttons without text, in the window in which nothing has a contrast of 3 with what is around (WCAG 2.2, 1.4.11)."""
        boxes = page.run("""
            document.activeElement.blur();
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
            const scope = $('dialog:modal') ?? document, boxes = [];
            for (const each of scope.querySelectorAll('input:not([type=range]), select, button')) {
                const box = each.getBoundingClientRect(), isField = each.matches('input');
                if (each.disabled || !each.checkVisibility() || box.bottom > innerHeight || each.matches('button') && each.innerText.trim()) continue;
                // The edge of a field, left of its middle: no text is there. The icon of a button: anywhere in it.
                const middle = Math.round((box.top + box.bottom) / 2);
                const part = isField ? {left: box.left - 4, right: box.left + 4, top: middle, bottom: middle + 1} : box.toJSON();
                boxes.push([each.id || each.name, part]);
            }
            return boxes;""")
        self.assertGreater(len(boxes), 2)
        window, unseen = pixels.capture(page.browser), []
        for name, box in boxes:
            image = pixels.part(window, box)
            best = max(pixels.contrast(pixels.ground(image), pixel) for _, pixel in pixels.colours(image))
            if best < 3:
                unseen.append(f"{name}: {best:.2f}")
        return unseen

    def test_the_checker_sees_what_is_wrong(self):
        page = self.begin()
        page.run("""
            const wrong = document.createElement('div');
            const make = (tag, attributes, text = '') => {
                const element = document.createElement(tag);
                for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
                element.textContent = text;
                wrong.append(element);
                return element;
            };
            make('span', {role: 'option', 'aria-selected': 'maybe', tabindex: '3'}, 'Lost');
            make('span', {role: 'nonsense', 'aria-labeled': 'x'}, 'Nonsense');
            make('img', {src: 'icon.svg', width: 20});
            make('input', {id: 'edgeless'}).style.cssText = 'border: 1px solid #eee; background: #fff; margin: 20px';
            make('h5', {}, 'Skips');
            for (const name of ['One', 'Two']) {
                make('button', {'aria-label': 'Other'}, name).style.cssText = 'width: 10px; height: 10px; min-width: 0; padding: 0';
            }
            make('p', {}, 'Pale').style.cssText = 'color: #aaa; background: #fff';
            make('p', {}, 'Pale on a gradient').style.cssText = 'color: #aaa; background: linear-gradient(#fff, #fefefe)';
            make('div', {}, 'more than fits '.repeat(9)).style.cssText = 'overflow: auto; width: 40px; height: 20px';
            $('main').prepend(wrong);""")
        found = "\n".join(self.found(page, "wrong"))
        for rule in (
                "aria-valid-attr-value", "aria-valid-attr", "aria-roles", "aria-required-parent", "tabindex", "image-alt",
                "label", "heading-order", "label-content-name-mismatch", "target-size", "color-contrast", "as painted", "scrollable-region-focusable"):
            self.assertIn(f": {rule}" if "-" in rule else rule, found)
        self.assertIn("edgeless", "".join(self.unseen(page)))


class Review(Reviewing, Checker):
    expected = GONE

    def test_nothing_is_found_in_the_review_of_doubtful_covers_and_without_the_server(self):
        page, found = self.review(), []
        page.browser.execute_script(AXE)
        for what, change in (("row", page.rest), ("wall", page.wall), ("wall of a phone", lambda: inputs.phone(page.browser))):
            change()
            for _ in self.schemes(page):
                page.wait("(({complete, naturalWidth}) => complete && naturalWidth)($('#proposal'))", what="the proposal")
                found += self.found(page, f"review, {what}")
        self.stage.server.close(at_once=True)
        page.appears("#offline")
        self.assert_accessible(found + self.found(page, "offline"))
