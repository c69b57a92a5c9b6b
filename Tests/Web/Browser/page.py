"""The gallery's page in one browser tab."""
import inputs

# The view of the list that is shown, and its albums' covers.
LIST = ":is(#covers, #wall):not([hidden])"
OPTIONS = f"{LIST} [role=option]"
CHOSEN = f"$('{OPTIONS}[aria-selected=true]')"
SCROLLER = "document.scrollingElement"  # What scrolls the wall.
# The part of the window in which the list is seen.
SEEN = f"""(() => {{
    const {{left, right, top, bottom}} = $('{LIST}').getBoundingClientRect();
    return {{left: Math.max(left, 0), right: Math.min(right, innerWidth),
        top: Math.max(top, $('.top').getBoundingClientRect().bottom), bottom: Math.min(bottom, innerHeight)}};
}})()"""
IN_VIEW = f"""$$('{OPTIONS}').filter((option) => {{
    const box = option.getBoundingClientRect(), seen = {SEEN}, across = box.left + box.width / 2, down = box.top + box.height / 2;
    return across > seen.left && across < seen.right && down > seen.top && down < seen.bottom;
}})"""
MODAL = "$('#album-dialog').matches(':modal')"


class Gallery:
    """A page of the gallery that a `stage.Server` serves. What acts or waits returns the page: `page.click("#undo").size(5)`."""

    def __init__(self, browser, server):
        self.browser, self.server, self.url, self.tab = browser, server, server.url, browser.current_window_handle
        self.run, self.value, self.until, self.find = browser.run, browser.value, browser.until, browser.find

    def wait(self, expression, *arguments, what=None):
        self.until(expression, *arguments, what=what)
        return self

    def open(self, address=None):
        """Opens the page on the stage, or at an address."""
        self.browser.get(address or f"{self.server.address}#view=stage")
        return self.ready()

    def front(self):
        """Gives this page's tab the commands that follow."""
        self.browser.switch_to.window(self.tab)
        return self

    def leave(self):
        self.browser.get("about:blank")
        return self

    def reload(self):
        self.browser.refresh()
        return self.ready()

    def ready(self):
        return self.wait("document.documentElement.dataset.ready === 'true'", what="the page to be ready")

    def installed(self):
        """Waits until the service worker controls the page."""
        return self.wait("navigator.serviceWorker.controller", what="the service worker to control the page")

    def covers_settle(self):
        """Waits until every cover in view is ready or has failed. Returns their states by id."""
        return self.until(
            f"(() => {{ const view = {IN_VIEW}; return view.length && view.every((option) => ['ready', 'failed', 'missing'].includes(option.dataset.state))"
            " && Object.fromEntries(view.map((option) => [option.dataset.id, option.dataset.state])); })()",
            what="the covers in view to settle")

    def rest(self):
        """Waits until no cover has moved for ten frames."""
        self.run(f"const options = '{OPTIONS}';" """
            const place = () => $$(options).map((option) => {
                const {left, top} = option.getBoundingClientRect();
                return `${option.dataset.id}:${left}:${top}`;
            }).join();
            for (let last = place(), same = 0; same < 10;) {
                await new Promise((resolve) => requestAnimationFrame(resolve));
                const now = place();
                same = now === last ? same + 1 : 0;
                last = now;
            }""")
        return self

    def settled(self):
        """Waits until every cover in view is ready, has failed or is known to be missing, and rests."""
        self.covers_settle()
        return self.rest()

    def all_ready(self):
        """Waits until every cover in view is ready: none fails."""
        states = self.covers_settle()
        assert set(states.values()) == {"ready"}, states
        return self

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
            const middle = (selector) => { const box = $(selector).getBoundingClientRect(); return box.left + box.width / 2; };
            return Math.abs(middle('#covers [role=option][aria-selected=true]') - middle('#covers'));""")

    def box(self, selector):
        return self.value("$(arguments[0]).getBoundingClientRect().toJSON()", selector)

    def middle_of(self, selector):
        """The centre of an element's part within the window's width."""
        box, width = self.box(selector), self.value("innerWidth")
        if selector.startswith(OPTIONS):
            width = self.value(SEEN)["right"]
        return (max(0, box["left"]) + min(width, box["right"])) / 2, box["top"] + box["height"] / 2

    def place_of(self, place):
        """The centre of the visible part of an album's cover, by its position in the list."""
        return self.middle_of(f"{OPTIONS}[aria-posinset='{place}']")

    def text(self, selector):
        return self.value("$(arguments[0]).textContent", selector)

    def reads(self, selector, text):
        """Waits until an element has this text."""
        return self.wait("$(arguments[0]).textContent === arguments[1]", selector, text, what=f"{selector} to read {text!r}")

    def tells(self, selector, text):
        """Waits until an element's text has this part."""
        return self.wait("$(arguments[0]).textContent.includes(arguments[1])", selector, text, what=f"{selector} to tell {text!r}")

    def status(self, text):
        return self.tells("#status", text)

    def visible(self, selector):
        return self.value("$(arguments[0]).checkVisibility()", selector)

    def appears(self, selector, wanted=True):
        return self.wait("$(arguments[0]).checkVisibility() === arguments[1]", selector, wanted, what=f"{selector} to be {'visible' if wanted else 'gone'}")

    def titles(self):
        """The titles in the list, as far as they are in the document."""
        return self.value(f"$$('{OPTIONS}').sort((one, other) => one.ariaPosInSet - other.ariaPosInSet).map(({{dataset}}) => dataset.title)")

    def focused(self):
        return self.value("document.activeElement.id")

    def address(self, part):
        """Waits until the address's fragment has this part. Returns the address."""
        self.until("decodeURIComponent(location.hash).includes(arguments[0])", part, what=f"{part} in the address")
        return self.value("location.href")

    def facts(self):
        """What the page says of the chosen album."""
        return self.run("""
            const text = (selector) => $(selector).textContent;
            return {Artist: text('#chosen-artist'), Album: text('#chosen-title'), Genre: text('[data-field=genre]'), Year: text('#facts [data-field=year]')};""")

    def focus(self, selector):
        self.run("$(arguments[0]).focus()", selector)
        return self

    def focus_covers(self):
        return self.focus(LIST)

    def wall(self):
        """Changes to the wall, from the stage."""
        return self.click("#view").wait("$('#wall [aria-selected=true]')", what="the wall")

    def scroll(self, top):
        """Scrolls the wall to a place, in CSS pixels, as far as it can be."""
        self.run(f"{SCROLLER}.scrollTop = arguments[0]", top)
        return self.rest()

    def go(self, address):
        """Opens another address of the page, or its fragment: it is loaded anew."""
        return self.leave().open(self.url + address if address.startswith("#") else address)

    def back(self):
        self.browser.back()
        return self

    def search(self, text):
        """Searches for a text instead of the former one, on the wall."""
        if self.value("document.body.dataset.view === 'stage'"):
            self.wall()
        return self.focus("#search").press("Control", "a").press("Delete").type("#search", text)

    def choose(self, name, value):
        """Chooses from a menu of the bar: `show` or `sort`."""
        self.run("$(`[name=${arguments[0]}][value='${arguments[1]}']`).click()", name, value)
        return self

    def choice(self, name):
        return self.value("$(`[name=${arguments[0]}][aria-checked=true]`).value", name)

    def tile(self, size):
        """Chooses the size of the covers on the wall: "Small", "Medium" or "Large"."""
        self.run("$(`[name=tile][title=${arguments[0]}]`).click()", size)
        return self

    def sort(self, order):
        return self.choose("sort", order).rest()

    def press(self, *keys):
        inputs.press(self.browser, *keys)
        return self

    def letters(self, text):
        """Letters without a pause between them, however busy the machine is, to what has the focus."""
        self.run("for (const key of arguments[0]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
                 "{key, bubbles: true, cancelable: true}))", text)
        return self

    def type(self, selector, text):
        self.find(selector).send_keys(text)
        return self

    def click(self, selector):
        """Presses a button when it can be pressed; one of a menu, after the menu's own."""
        if menu := self.value("$(arguments[0]).closest('[role=menu]:not(:popover-open)')?.id", selector):
            self.find(f"[popovertarget={menu}]").click()
        # The driver's click on a disabled one does nothing, and says nothing. One of a message comes with it.
        self.until("$(arguments[0]).checkVisibility() && !$(arguments[0]).disabled", selector, what=f"{selector} to be enabled")
        self.find(selector).click()
        return self

    def size(self, count):
        """Waits until the list has `count` albums."""
        return self.wait(f"arguments[0] === ($('{OPTIONS}')?.ariaSetSize ?? '0')", str(count), what=f"{count} albums")

    def edit(self, button="#edit"):
        """Opens the form."""
        return self.click(button).wait(MODAL, what="the form")

    def save(self):
        """Saves the form's album. The covers may show the edit earlier than the form closes: until then, keys are the form's."""
        return self.click("#album-save").wait("!$('#album-dialog').open", what="the form to close")

    def cancel(self):
        """Cancels the form. The browser tells the page in the next frame, before which an answer may come."""
        self.click("#album-cancel").wait("!$('#album-dialog').open", what="the form to close")
        self.run("await new Promise((resolve) => requestAnimationFrame(resolve))")
        return self

    def choose_picture(self, path):
        """Chooses a picture file in the form."""
        return self.type("#picture-file", str(path)).wait("$('#picture-name').textContent === `Your own picture: ${arguments[0]}`", path.name, what="the file's name")

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
        return self

    def stored(self, count):
        """Waits until the service worker has stored the library and the covers of `count` albums, and has noted whose they are."""
        return self.wait("await caches.match('api/library') && (await (await caches.match('seen'))?.json() ?? []).length >= arguments[0]",
                         count, what="the albums and covers to be stored")

    def remembered(self, album=None, view=None):
        """Waits until the server has saved the album for this browser, by default the chosen one, and the view if one is named."""
        return self.wait("(({album, view}) => album === arguments[0] && view === (arguments[1] ?? view))"
                         "((await (await fetch('api/state', {cache: 'no-store'})).json()).memento ?? {})",
                         album or self.chosen()["id"], view, what="the server to have saved the album")
