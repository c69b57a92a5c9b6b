"""Everyone can use it: what accessibility.js finds, what the browser's accessibility tree lacks, and the way of the focus."""
import pathlib

import inputs
import pixels
from case import GalleryTest

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

    def assert_accessible(self, page, what):
        page.browser.run_async("""
            await Promise.all(document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < 60_000)
                .map((each) => each.finished.catch(() => {})));""")
        found = [f"{each['rule']}: {each['where']}: {each['why']}" for each in page.run(CHECK)] + self.nameless(page)
        self.assertEqual(found, [], f"{what}:\n" + "\n".join(found))

    def nameless(self, page):
        """What the browser tells assistive technology about without a name."""
        nodes = page.browser.cdp("Accessibility.getFullAXTree")["nodes"]
        return [
            f"name: {node['role']['value']} without a name (node {node.get('backendDOMNodeId')})" for node in nodes
            if not node["ignored"] and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()]

    def everywhere(self, page, name):
        """The page itself, with the panel, with the dialog, with a field that is wrong, without anything found."""
        for scheme in ("light", "dark"):
            inputs.prefer(page.browser, color_scheme=scheme)
            self.assert_accessible(page, f"{name}, {scheme}")
            opened = page.run("return document.querySelector('#panel-toggle').ariaExpanded") == "true"
            page.run("document.querySelector('#panel-toggle').click()")
            page.until("document.querySelector('#panel-toggle').ariaExpanded === arguments[0]", "false" if opened else "true")
            self.assert_accessible(page, f"{name}, {scheme}, panel toggled")
            page.run("document.querySelector('#panel-toggle').click()")
            page.run("document.querySelector('#add').click()")
            page.until("document.querySelector('#add-dialog').matches(':modal')")
            self.assert_accessible(page, f"{name}, {scheme}, dialog")
            page.run("document.querySelector('#add-save').click()")
            page.until("document.querySelector('#add-error').textContent.trim() || document.querySelector('#add-dialog :invalid')")
            self.assert_accessible(page, f"{name}, {scheme}, dialog with an error")
            page.run("document.querySelector('#add-cancel').click()")
            page.until("!document.querySelector('#add-dialog').open")

    def test_nothing_is_found_on_a_desktop_in_light_and_dark_with_panel_and_dialog(self):
        self.everywhere(self.begin(), "desktop")

    def test_nothing_is_found_on_a_phone_in_light_and_dark_with_panel_and_dialog(self):
        page = self.begin()
        inputs.phone(page.browser)
        page.reload()
        page.covers_settle()
        self.everywhere(page, "phone")

    def test_nothing_is_found_while_covers_wait_fail_and_the_list_is_empty(self):
        page = self.begin()
        page.focus_covers()
        for place in (2, 3):
            page.press("Right")
            page.wait_for_place(place)
            self.assert_accessible(page, f"album {place}, without a cover")
        page.browser.find("#search").type("nothing is called that")
        page.size(0)
        self.assert_accessible(page, "nothing found")

    def test_nothing_is_found_without_the_server(self):
        self.expected += ("ERR_", "Failed to fetch")
        page = self.begin()
        self.stage.server.close(at_once=True)
        page.until("document.querySelector('#offline').checkVisibility()")
        self.assert_accessible(page, "offline")

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
            "option", "unique-id", "aria-value", "tabindex", "role", "aria-reference", "aria-attribute", "image", "label", "headings",
            "label-in-name", "target-size", "contrast", "role-parent", "scrolling", "boundary"}
        self.assertEqual(wanted - rules, set(), "not seen")


class Focus(GalleryTest):
    REACHABLE = """
        const scope = document.querySelector('dialog:modal') ?? document;
        return [...scope.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
            .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({visibilityProperty: true}) && !each.closest('[inert]'))
            .map((each) => { each.dataset.stop ||= String(Math.random()).slice(2); return each.dataset.stop; });"""

    def walk(self, page, keys, count):
        stops = []
        for _ in range(count):
            page.press(*keys)
            stops.append(page.run("return document.activeElement?.dataset.stop ?? null"))
        return stops

    def assert_walk(self, page, wanted, keys):
        # Between the last and the first lies the browser itself, a stop or two.
        stops = self.walk(page, keys, len(wanted) + 2)
        self.assertEqual(set(wanted) - set(stops), set(), "not reached: " + ", ".join(page.run(
            "return arguments[0].map((stop) => document.querySelector(`[data-stop=\"${stop}\"]`)?.outerHTML.slice(0, 80))",
            sorted(set(wanted) - set(stops)))))
        return [stop for stop in dict.fromkeys(stops) if stop]

    def test_tab_reaches_every_control_in_the_order_of_the_page_and_leaves_each(self):
        page = self.gallery(6)
        page.covers_settle()
        page.run("document.querySelector('#panel-toggle').ariaExpanded === 'false' && document.querySelector('#panel-toggle').click()")
        page.until("document.querySelector('#panel-toggle').ariaExpanded === 'true'")
        page.run("document.activeElement.blur()")
        wanted = page.run(self.REACHABLE)
        self.assertGreater(len(wanted), 6)
        there = self.assert_walk(page, wanted, ["Tab"])
        self.assertEqual([stop for stop in there if stop in wanted], wanted, "not in the order of the page")
        self.assert_walk(page, wanted, ["Shift", "Tab"])

    def test_the_focus_stays_in_the_dialog_and_comes_back(self):
        page = self.gallery(3)
        page.focus_covers()
        page.run("document.querySelector('#add').focus()")
        page.press("Enter")
        page.until("document.querySelector('#add-dialog').contains(document.activeElement)")
        wanted = page.run(self.REACHABLE)
        self.assert_walk(page, wanted, ["Tab"])
        self.assertTrue(page.run("""
            return document.activeElement === document.body || document.querySelector('#add-dialog').contains(document.activeElement)"""))
        page.press("Escape")
        page.until("document.activeElement?.id === 'add'")

    def test_the_focus_can_be_seen_on_every_control_in_light_and_dark(self):
        page = self.gallery(6)
        page.covers_settle()
        unseen = []
        for scheme in ("light", "dark"):
            inputs.prefer(page.browser, color_scheme=scheme, reduced_motion="reduce")
            page.run("document.activeElement.blur()")
            for _ in page.run(self.REACHABLE):
                page.press("Tab")
                unseen += self.unseen(page, scheme)
        self.assertEqual(unseen, [])

    def test_the_focus_can_be_seen_with_forced_colours(self):
        page = self.gallery(6)
        page.browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        page.covers_settle()
        unseen = []
        for _ in page.run(self.REACHABLE):
            page.press("Tab")
            unseen += self.unseen(page, "forced colours")
        self.assertEqual(unseen, [])

    def unseen(self, page, scheme):
        """Compares the control with the focus and without it, as they are painted."""
        name, box = page.run("""
            const focused = document.activeElement;
            const active = document.getElementById(focused.getAttribute('aria-activedescendant'));
            return [focused.id || focused.outerHTML.slice(0, 60), (active ?? focused).getBoundingClientRect().toJSON()];""")
        if name.startswith("<body"):
            return []
        frames = "for (let n = 0; n < 2; n++) await new Promise((resolve) => requestAnimationFrame(resolve));"
        page.browser.run_async(frames)
        focused = pixels.clip(page.browser, box)
        page.browser.run_async("window.left = document.activeElement; window.left.blur();" + frames)
        blurred = pixels.clip(page.browser, box)
        page.run("window.left.focus()")
        around = 2 * (box["width"] + box["height"])
        seen = pixels.changed(blurred, focused)
        return [] if seen >= around / 2 else [f"{scheme}: {name}: {seen} pixels of {around:.0f} around it"]
