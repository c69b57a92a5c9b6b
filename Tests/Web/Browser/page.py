"""The gallery's page in one browser tab."""
import inputs

# The view of the list that is shown, and its albums' covers.
LIST = ":is(#covers, #wall):not([hidden])"
OPTIONS = f"{LIST} [role=option]"
CHOSEN = f"document.querySelector('{OPTIONS}[aria-selected=true]')"
IN_VIEW = f"""[...document.querySelectorAll('{OPTIONS}')].filter((option) => {{
    const box = option.getBoundingClientRect(), all = document.querySelector('{LIST}').getBoundingClientRect();
    const across = box.left + box.width / 2, down = box.top + box.height / 2;
    return across > Math.max(0, all.left) && across < Math.min(innerWidth, all.right) && down > all.top && down < all.bottom;
}})"""
MODAL = "document.querySelector('#album-dialog').matches(':modal')"


class Gallery:
    """A page of the gallery that a `stage.Server` serves."""

    def __init__(self, browser, server):
        self.browser, self.server, self.url, self.tab = browser, server, server.url, browser.current_window_handle
        self.run, self.until, self.find = browser.run, browser.until, browser.find

    def open(self, address=None):
        """Opens the page on the stage, or at an address."""
        self.browser.get(address or f"{self.server.address}#view=stage")
        return self.ready()

    def front(self):
        """Gives this page's tab the commands that follow."""
        self.browser.switch_to.window(self.tab)

    def leave(self):
        self.browser.get("about:blank")

    def reload(self):
        self.browser.refresh()
        return self.ready()

    def ready(self):
        self.until("document.documentElement.dataset.ready === 'true'", what="the page to be ready")
        return self

    def installed(self):
        """Waits until the service worker controls the page."""
        self.until("navigator.serviceWorker.controller", what="the service worker to control the page")

    def covers_settle(self):
        """Waits until every cover in view is ready or has failed. Returns their states by id."""
        return self.until(
            f"(() => {{ const view = {IN_VIEW}; return view.length && view.every((option) => ['ready', 'failed', 'missing'].includes(option.dataset.state))"
            " && Object.fromEntries(view.map((option) => [option.dataset.id, option.dataset.state])); })()",
            what="the covers in view to settle")

    def rest(self):
        """Waits until no cover has moved for ten frames."""
        self.run(f"const options = '{OPTIONS}';" """
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
        return self.run(f"const option = {CHOSEN};" """
            return option && {id: option.dataset.id, name: option.getAttribute('aria-label') ?? option.innerText,
                place: Number(option.getAttribute('aria-posinset')), of: Number(option.getAttribute('aria-setsize'))};""")

    def wait_for_place(self, place):
        self.until(f"{CHOSEN}?.ariaPosInSet === String(arguments[0])", place, what=f"album {place} to be chosen")
        self.rest()
        return self.chosen()

    def off_centre(self):
        """The distance between the centres of the chosen cover and of the stage, in CSS pixels."""
        return self.run("""
            const middle = (element) => { const box = element.getBoundingClientRect(); return box.left + box.width / 2; };
            return Math.abs(middle(document.querySelector('#covers [role=option][aria-selected=true]'))
                - middle(document.querySelector('#covers')));""")

    def box(self, selector):
        return self.run("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", selector)

    def middle_of(self, selector):
        """The centre of an element's part within the window's width."""
        box, width = self.box(selector), self.run("return innerWidth")
        if selector.startswith(OPTIONS):
            width = min(width, self.box(LIST)["right"])
        return (max(0, box["left"]) + min(width, box["right"])) / 2, box["top"] + box["height"] / 2

    def place_of(self, place):
        """The centre of the visible part of an album's cover, by its position in the list."""
        return self.middle_of(f"{OPTIONS}[aria-posinset='{place}']")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def visible(self, selector):
        return self.run("return document.querySelector(arguments[0]).checkVisibility()", selector)

    def appears(self, selector, wanted=True):
        self.until("document.querySelector(arguments[0]).checkVisibility() === arguments[1]", selector, wanted,
                   what=f"{selector} to be {'visible' if wanted else 'gone'}")

    def facts(self):
        """What the page says of the chosen album."""
        return self.run("""
            const text = (selector) => document.querySelector(selector).textContent;
            return {Artist: text('#chosen-artist'), Album: text('#chosen-title'), Genre: text('[data-field=genre]'), Year: text('#facts [data-field=year]')};""")

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def focus_covers(self):
        self.focus(LIST)

    def wall(self):
        """Changes to the wall, from the stage."""
        self.click("#view")
        self.until("document.querySelector('#wall [aria-selected=true]')", what="the wall")
        return self

    def search(self, text):
        """Searches for a text instead of the former one, on the wall."""
        if self.run("return document.body.dataset.view === 'stage'"):
            self.wall()
        self.focus("#search")
        self.press("Control", "a")
        self.press("Delete")
        self.type("#search", text)

    def choose(self, name, value):
        """Chooses from a menu of the bar: `show` or `sort`."""
        self.run("document.querySelector(`[name=${arguments[0]}][value='${arguments[1]}']`).click()", name, value)

    def choice(self, name):
        return self.run("return document.querySelector(`[name=${arguments[0]}][aria-checked=true]`).value", name)

    def tile(self, size):
        """Chooses the size of the covers on the wall: "Small", "Medium" or "Large"."""
        self.run("document.querySelector(`[name=tile][title=${arguments[0]}]`).click()", size)

    def sort(self, order):
        self.choose("sort", order)
        self.rest()

    def press(self, *keys):
        inputs.press(self.browser, *keys)

    def letters(self, text):
        """Letters without a pause between them, however busy the machine is, to what has the focus."""
        self.run("for (const key of arguments[0]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
                 "{key, bubbles: true, cancelable: true}))", text)

    def type(self, selector, text):
        self.find(selector).send_keys(text)

    def click(self, selector):
        """Presses a button when it can be pressed; one of a menu, after the menu's own."""
        if menu := self.run("return document.querySelector(arguments[0]).closest('[role=menu]:not(:popover-open)')?.id", selector):
            self.find(f"[popovertarget={menu}]").click()
        # The driver's click on a disabled one does nothing, and says nothing.
        self.until("!document.querySelector(arguments[0]).disabled", selector, what=f"{selector} to be enabled")
        self.find(selector).click()

    def status(self, text):
        self.until("document.querySelector('#status').textContent.includes(arguments[0])", text, what=f"#status to say {text!r}")

    def size(self, count):
        """Waits until the list has `count` albums."""
        self.until(f"arguments[0] === (document.querySelector('{OPTIONS}')?.ariaSetSize ?? '0')", str(count), what=f"{count} albums")

    def edit(self, button="#edit"):
        """Opens the form."""
        self.click(button)
        self.until(MODAL, what="the form")

    def save(self):
        """Saves the form's album. The covers may show the edit earlier than the form closes: until then, keys are the form's."""
        self.click("#album-save")
        self.until("!document.querySelector('#album-dialog').open", what="the form to close")

    def cancel(self):
        """Cancels the form. The browser tells the page in the next frame, before which an answer may come."""
        self.click("#album-cancel")
        self.until("!document.querySelector('#album-dialog').open", what="the form to close")
        self.run("await new Promise((resolve) => requestAnimationFrame(resolve))")

    def choose_picture(self, path):
        """Chooses a picture file in the form."""
        self.type("#picture-file", str(path))
        self.until("document.querySelector('#picture-name').textContent === `Your own picture: ${arguments[0]}`", path.name, what="the file's name")

    def count_answers(self, path):
        """From now on `window.answers` is how many answers to requests of this path the page has dealt with."""
        self.run("""
            const original = fetch;
            window.answers = 0;
            window.fetch = async (path, request) => {
                const response = await original(path, request);
                if (path !== arguments[0]) return response;
                const text = await response.text();
                // The page needs no more than microtasks to deal with this one.
                setTimeout(() => window.answers++);
                return {ok: response.ok, status: response.status, json: async () => JSON.parse(text)};
            };""", path)

    def stored(self, count):
        """Waits until the service worker has stored the library and the covers of `count` albums, and has noted whose they are."""
        self.until("await caches.match('api/library') && (await (await caches.match('seen'))?.json() ?? []).length >= arguments[0]", count,
                   what="the albums and covers to be stored")

    def remembered(self, album=None, view=None):
        """Waits until the server has saved the album for this browser, by default the chosen one, and the view if one is named."""
        self.until("(({album, view}) => album === arguments[0] && view === (arguments[1] ?? view))"
                   "((await (await fetch('api/state', {cache: 'no-store'})).json()).memento ?? {})", album or self.chosen()["id"], view,
                   what="the server to have saved the album")
