"""The gallery's page in one browser tab."""
import inputs

# The view of the list that is shown, and its albums' covers.
LIST = ":is(#covers, #wall):not([hidden])"
OPTIONS = f"{LIST} [role=option]"
IN_VIEW = f"""[...document.querySelectorAll('{OPTIONS}')].filter((option) => {{
    const box = option.getBoundingClientRect(), all = document.querySelector('{LIST}').getBoundingClientRect();
    const across = box.left + box.width / 2, down = box.top + box.height / 2;
    return across > Math.max(0, all.left) && across < Math.min(innerWidth, all.right) && down > all.top && down < all.bottom;
}})"""


class Gallery:
    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def open(self):
        self.browser.get(self.url)
        return self.ready()

    def reload(self):
        self.browser.reload()
        return self.ready()

    def ready(self):
        self.until("document.documentElement.dataset.ready === 'true'", what="the page to be ready")
        return self

    def run(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def until(self, expression, *arguments, what=None):
        return self.browser.until(expression, *arguments, what=what)

    def covers_settle(self):
        """Waits until every cover in view is ready or has failed. Returns their states by id."""
        return self.until(
            f"(() => {{ const view = {IN_VIEW}; return view.length && view.every((option) => ['ready', 'failed'].includes(option.dataset.state))"
            " && Object.fromEntries(view.map((option) => [option.dataset.id, option.dataset.state])); })()",
            what="the covers in view to settle")

    def rest(self):
        """Waits until the scroller has not moved for ten frames."""
        self.browser.run_async(f"const options = '{OPTIONS}';" """
            const place = () => [...document.querySelectorAll(options)].map((option) => {
                const {left, top} = option.getBoundingClientRect();
                return `${option.dataset.id}:${left}:${top}`;
            }).join();
            for (let last = place(), same = 0; same < 10;) {
                await new Promise((resolve) => requestAnimationFrame(resolve));
                const now = place();
                same = now === last ? same + 1 : 0;
                last = now;
            }""")

    def chosen(self):
        """The accessible name, id and position of the chosen album."""
        return self.run(f"const option = document.querySelector('{OPTIONS}[aria-selected=true]');" """
            return option && {id: option.dataset.id, name: option.getAttribute('aria-label') ?? option.innerText,
                place: Number(option.getAttribute('aria-posinset')), of: Number(option.getAttribute('aria-setsize'))};""")

    def wait_for_place(self, place):
        self.until(
            f"document.querySelector('{OPTIONS}[aria-selected=true]')?.ariaPosInSet === String(arguments[0])", place,
            what=f"album {place} to be chosen")
        self.rest()
        return self.chosen()

    def off_centre(self):
        """The distance between the centres of the chosen cover and of the scroller, in CSS pixels."""
        return self.run("""
            const middle = (element) => { const box = element.getBoundingClientRect(); return box.left + box.width / 2; };
            return Math.abs(middle(document.querySelector('#covers [role=option][aria-selected=true]'))
                - middle(document.querySelector('#covers')));""")

    def middle_of(self, selector):
        return self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.left + box.width / 2, box.top + box.height / 2]", selector)

    def place_of(self, place):
        """The centre of the visible part of an album's cover, by its position in the list."""
        return self.run("""
            const box = document.querySelector(`#covers [role=option][aria-posinset='${arguments[0]}']`).getBoundingClientRect();
            return [(Math.max(0, box.left) + Math.min(innerWidth, box.right)) / 2, box.top + box.height / 2];""", place)

    def table(self):
        return self.run("""
            return Object.fromEntries([...document.querySelectorAll('#album-table tr')].map((row) =>
                [row.querySelector('th')?.textContent.trim(), row.querySelector('td')?.textContent.trim()]));""")

    def focus_covers(self):
        self.run(f"document.querySelector('{LIST}').focus()")

    def wall(self):
        """Changes to the wall."""
        self.click("#view")
        self.until("document.querySelector('#wall [aria-selected=true]')", what="the wall")
        return self

    def sort(self, order):
        self.run("const select = document.querySelector('#sort'); select.value = arguments[0];"
                 "select.dispatchEvent(new Event('change', {bubbles: true}))", order)
        self.rest()

    def press(self, *keys):
        inputs.press(self.browser, *keys)

    def click(self, selector):
        self.browser.find(selector).click()

    def status(self, text):
        self.until("document.querySelector('#status').textContent.includes(arguments[0])", text, what=f"#status to say {text!r}")

    def size(self, count):
        """Waits until the list has `count` albums."""
        self.until(
            f"arguments[0] === (document.querySelector('{OPTIONS}')?.ariaSetSize ?? '0')", str(count),
            what=f"{count} albums")

    def fetch(self, path):
        return self.browser.run_async("return await (await fetch(arguments[0])).json()", path)

    def remembered(self):
        """Waits until the server has saved the chosen album for this browser."""
        self.browser.run_async("""
            for (;;) {
                const {memento} = await (await fetch('/api/state', {cache: 'no-store'})).json();
                if (memento?.album === arguments[0]) return;
                await new Promise((resolve) => setTimeout(resolve, 25));
            }""", self.chosen()["id"])
