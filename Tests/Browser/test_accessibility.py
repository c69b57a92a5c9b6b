"""Accessibility: the findings of accessibility.js, and nodes without a name in the browser's accessibility tree."""
import pathlib

import inputs
import pixels
from case import GONE, GalleryTest

HERE = pathlib.Path(__file__).parent
CHECK = (HERE / "contrast.js").read_text() + (HERE / "accessibility.js").read_text() + "return accessibility();"
NAMED = {
    "button", "checkbox", "combobox", "dialog", "heading", "image", "img", "link", "listbox", "option", "progressbar", "radio",
    "region", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "Canvas", "DisclosureTriangle"}


class Accessible(GalleryTest):
    def begin(self):
        albums = self.stage.albums(8)
        albums[1]["coverUrl"] = f"{self.stage.origin.base}/covers/2.jpg?status=404"
        albums[2]["coverUrl"] = ""
        self.serve(albums)
        page = self.open()
        page.covers_settle()
        return page

    expected = ("Failed to load resource",)

    def found(self, page, what):
        """The findings on the page, after short animations have ended."""
        page.browser.run_async("""
            await Promise.all(document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < 60_000)
                .map((each) => each.finished.catch(() => {})));""")
        found = [each for each in page.run(CHECK) if "box" not in each or self.pale(page, each)]
        return [f"{what}: {each['rule']}: {each['where']}: {each['why']}" for each in found] + [
            f"{what}: {each}" for each in self.nameless(page)]

    def pale(self, page, found):
        """Whether the contrast is too low as painted too, on a gradient for example. True if the element is off-screen."""
        box, (width, height) = found["box"], page.run("return [innerWidth, innerHeight]")
        if box["left"] < 0 or box["top"] < 0 or box["right"] > width or box["bottom"] > height:
            return True
        ground = pixels.inside(pixels.clip(page.browser, box, 0))
        if found["rule"] == "boundary":
            ground = pixels.around(pixels.clip(page.browser, box, 4), 3)
        painted = pixels.contrast_with_ground(ground, found["colour"])
        found["why"] += f", {painted:.2f} as painted"
        return painted < found["needed"]

    def assert_accessible(self, found):
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def nameless(self, page):
        """The nodes without a name in the accessibility tree."""
        nodes = page.browser.cdp("Accessibility.getFullAXTree")["nodes"]
        return [
            f"name: {node['role']['value']} without a name (node {node.get('backendDOMNodeId')})" for node in nodes
            if not node["ignored"] and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()]

    def everywhere(self, page):
        """The findings on the page, with the panel, with the dialog, and with an invalid field."""
        found = []
        for scheme in ("light", "dark"):
            inputs.prefer(page.browser, color_scheme=scheme)
            found += self.found(page, scheme)
            opened = page.run("return document.querySelector('#panel-toggle').ariaExpanded") == "true"
            page.run("document.querySelector('#panel-toggle').click()")
            page.until("document.querySelector('#panel-toggle').ariaExpanded === arguments[0]", "false" if opened else "true")
            found += self.found(page, f"{scheme}, panel toggled")
            page.run("document.querySelector('#panel-toggle').click()")
            page.run("document.querySelector('#add').click()")
            page.until("document.querySelector('#album-dialog').matches(':modal')")
            found += self.found(page, f"{scheme}, dialog")
            page.run("document.querySelector('#album-save').click()")
            page.until("document.querySelector('#album-error').textContent.trim() || document.querySelector('#album-dialog :invalid')")
            found += self.found(page, f"{scheme}, dialog with an error")
            page.run("document.querySelector('#album-cancel').click()")
            page.until("!document.querySelector('#album-dialog').open")
        return found

    def test_nothing_is_found_on_a_desktop_in_light_and_dark_with_panel_and_dialog(self):
        self.assert_accessible(self.everywhere(self.begin()))

    def test_nothing_is_found_on_a_phone_in_light_and_dark_with_panel_and_dialog(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.reload()
        page.covers_settle()
        self.assert_accessible(self.everywhere(page))

    def test_nothing_is_found_on_the_wall_with_results_and_on_a_phone(self):
        page = self.begin().wall()
        page.sort("title")
        page.covers_settle()
        found = self.everywhere(page)
        page.focus_covers()
        page.press("End")
        found += self.found(page, "wall, the last album")
        field = page.browser.find("#search")
        field.type("album 0")
        page.until("document.querySelector('#results').checkVisibility()")
        found += self.found(page, "results")
        field.clear()
        inputs.phone(page.browser)
        page.rest()
        self.assert_accessible(found + self.found(page, "wall on a phone"))

    def test_nothing_is_found_while_covers_wait_fail_and_the_list_is_empty(self):
        page = self.begin()
        page.focus_covers()
        found = []
        for place in (2, 3):
            page.press("Right")
            page.wait_for_place(place)
            found += self.found(page, f"album {place}, without a cover")
        page.browser.find("#search").type("nothing is called that")
        page.size(0)
        self.assert_accessible(found + self.found(page, "nothing found"))

    def test_nothing_is_found_without_the_server(self):
        self.expected += GONE
        page = self.begin()
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()")
        self.assert_accessible(self.found(page, "offline"))

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
            make('button', {id: 'add'}, 'Twice');
            make('span', {role: 'option', 'aria-selected': 'maybe', tabindex: '3'}, 'Lost');
            make('span', {role: 'nonsense', 'aria-labelledby': 'nobody', 'aria-labeled': 'x'}, 'Nonsense');
            make('img', {src: '/icon.svg'});
            make('input', {});
            make('h5', {}, 'Skips');
            make('button', {'aria-label': 'Something else'}, 'Name').style.cssText = 'width: 10px; height: 10px; padding: 0';
            make('p', {}, 'Pale').style.cssText = 'color: #aaa; background: #fff';
            make('div', {}).style.cssText = 'overflow: auto; width: 40px; height: 20px';
            wrong.lastChild.textContent = 'more than fits '.repeat(9);
            make('input', {'aria-label': 'Where'}).style.cssText = 'border: 1px solid #eee; background: #fff; color: #000';
            document.querySelector('main').append(wrong);""")
        rules = {each["rule"] for each in page.run(CHECK)}
        wanted = {
            "option", "unique-id", "aria-value", "tabindex", "role", "aria-reference", "aria-attribute", "image", "label",
            "headings", "label-in-name", "target-size", "contrast", "role-parent", "scrolling", "boundary"}
        self.assertEqual(wanted - rules, set(), "not seen")
