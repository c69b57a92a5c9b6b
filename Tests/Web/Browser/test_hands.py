"""Random acts of a person beside a second editor: no exception, and a library as a model that makes the same edits has it.

`run.py --acts 500 --seed 3 hands` makes more of them.
"""
import copy
import random
import re
import threading
import urllib.parse

from case import GalleryTest, Settings
from page import MODAL, OPTIONS

# Notes what the person wants, at the moment of the act, and the edits that the page has the server make. Pictures are sent slowly.
NOTES = """
    const original = window.fetch, chosen = () => document.querySelector(`${arguments[0]}[aria-selected=true]`)?.dataset.id;
    Object.assign(window, {wanted: [], made: [], busy: 0, opening: 0, form: null});
    window.want = (kind, more = {}) => wanted.push({kind, ...more});
    window.fetch = async (path, request = {}) => {
        const isOpening = request.method === 'GET' && /^api.albums/.test(path);
        busy++;
        opening += isOpening;
        try {
            if (path === 'api/pictures') await new Promise((sent) => setTimeout(sent, Math.random() * 400));
            const response = await original(path, request), isEdit = request.method !== 'GET' && /^api.(albums|undo|redo)/.test(path);
            if (isEdit) made.push({method: request.method, path, body: JSON.parse(request.body), status: response.status, answer: await response.clone().json()});
            return response;
        } finally {
            busy--;
            opening -= isOpening;
        }
    };
    document.addEventListener('keydown', (event) => {
        if (document.querySelector('dialog[open]') || event.target.matches('input:not([type=range]), select')) return;
        if (event.key === 'Delete') want('delete', {id: chosen()});
        if (event.ctrlKey && event.key === 'z') want('undo');
        if (event.ctrlKey && event.key === 'y') want('redo');
    }, true);
    document.addEventListener('click', ({target}) => {
        const button = target.closest('button');
        if (button?.id === 'delete') want('delete', {id: chosen()});
        if (button?.id === 'edit') form = chosen();
        if (button?.id === 'add') form = null;
        if (['undo', 'redo'].includes(button?.id)) want(button.id);
        if (button?.id === 'toast-action') want(button.textContent.toLowerCase());
        if (button?.id === 'album-cancel') want('undo'); // of an edit that is being made
    }, true);
    // By a key, whose event comes before the closing; that of the closing itself comes after what a person does next.
    document.addEventListener('cancel', () => want('undo'), true);
    document.addEventListener('submit', () => want(form ? 'change' : 'add', form ? {id: form} : {}), true);
    document.addEventListener('drop', ({target}) => target.closest('.cover') && want('change', {id: target.closest('.cover').dataset.id}), true);"""

CLICK = """
    const button = document.querySelector(arguments[0]), scope = document.querySelector('dialog:modal') ?? document;
    const can = scope.contains(button) && !button.disabled && (button.checkVisibility() || button.closest('#menu'));
    if (can) button.click();
    return Boolean(can);"""

DROP = """
    const covers = [...document.querySelectorAll(arguments[0])], cover = covers[arguments[1] % covers.length];
    const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="300" height="${arguments[1]}"/></svg>`;
    const transfer = new DataTransfer();
    transfer.items.add(new File([picture], 'a.svg', {type: 'image/svg+xml'}));
    for (const kind of ['dragover', 'drop']) cover?.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer}));"""


class Model:
    """A library that makes numbered edits in their order."""

    def __init__(self, albums):
        self.states, self.now = [albums], 0

    def make(self, method, path, body, answer):
        if path in ("api/undo", "api/redo"):
            self.now += 1 if path == "api/redo" else -1
            return
        albums = copy.deepcopy(self.states[self.now])
        identifier = urllib.parse.unquote(path.removeprefix("api/albums/"))
        if method == "DELETE":
            albums = [album for album in albums if album["id"] != identifier]
        elif method == "POST":
            albums.append({"id": answer["id"], **body["album"]})
        else:
            next(album for album in albums if album["id"] == identifier).update(body["album"])
        self.now += 1
        self.states[self.now:] = [albums]

    @property
    def albums(self):
        return filled(self.states[self.now])


def filled(albums):
    """The albums without their empty fields."""
    return [{name: value for name, value in album.items() if value} for album in albums]


class SecondEditor(threading.Thread):
    """Edits by requests, until `stop`."""

    def __init__(self, server, seed):
        super().__init__()
        self.server, self.random = server, random.Random(seed)
        self.made, self.ended, self.problem = [], threading.Event(), None

    def run(self):
        try:
            while not self.ended.wait(self.random.uniform(0.02, 0.5)):
                self.act()
        except Exception as problem:
            self.problem = problem

    def act(self):
        albums = self.server.ask("GET", "api/library")[1]["albums"]
        path = "api/albums/" + urllib.parse.quote(self.random.choice(albums)["id"], safe="") if albums else "api/albums"
        word = f"Elsewhere {self.random.randrange(1000)}"
        method, path, body = self.random.choice([
            ("POST", "api/albums", {"album": {"title": word}}), ("PATCH", path, {"album": {"genre": word}}), ("POST", "api/undo", {}), ("POST", "api/redo", {}),
            ("PATCH", path, {"album": {"title": word}}) if len(albums) < 12 else ("DELETE", path, {})])
        status, answer = self.server.ask(method, path, body)
        self.made.append({"method": method, "path": path, "body": body, "status": status, "answer": answer})

    def stop(self):
        self.ended.set()
        self.join()
        if self.problem:
            raise self.problem


class Hands(GalleryTest):
    # An edit of an album that the other editor has deleted, and an undo after which it has edited something.
    expected = (r"status of (404|409|422)",)

    def test_random_acts_beside_a_second_editor_do_what_was_wanted_and_throw_nothing(self):
        if not Settings.acts:
            self.skipTest("needs --acts N: what it does depends on the time that each act takes")
        self.page = page = self.gallery(24)
        page.covers_settle()
        first = [{"id": album["id"], **saved} for album, saved in zip(self.stage.server.ask("GET", "api/library")[1]["albums"], self.stage.saved())]
        page.run(NOTES, OPTIONS)
        self.random = random.Random(Settings.seed)
        editor = SecondEditor(self.stage.server, Settings.seed)
        editor.start()
        try:
            acts = [self.move] * 6 + [self.press_edit] * 6 + [self.click_edit] * 4 + [self.drop] * 3 + [self.save] * 4 + [self.look] * 5
            for _ in range(Settings.acts):
                self.random.choice(acts)()
        finally:
            editor.stop()
        page.run("""
            for (let idle = 0; idle < 10; idle = busy ? 0 : idle + 1) await new Promise((resolve) => requestAnimationFrame(resolve));""")
        wanted, made = page.run("return [wanted, made]")
        self.assert_wanted(wanted, made)
        edits = {edit["answer"]["edit"]: edit for edit in made + editor.made if edit["status"] < 400 and edit["answer"].get("edit")}
        self.assertEqual(sorted(edits), list(range(1, len(edits) + 1)), "an edit of nobody")
        model = Model(first)
        for number in sorted(edits):
            model.make(*(edits[number][name] for name in ("method", "path", "body", "answer")))
        self.assertEqual(model.albums, filled(self.stage.saved() if edits else first))
        page.run("document.querySelector('#search').value = ''; document.querySelector('#search').dispatchEvent(new Event('input'));")
        page.choose("show", "")
        page.size(len(model.albums))
        print(f"{len(made)} edits of the page, {len(editor.made)} of the other editor, {len(edits)} made, seed {Settings.seed} ", end="")

    def assert_wanted(self, wanted, made):
        """Each edit was wanted, of that album, and in that order."""
        rest = iter(wanted)
        for edit in made:
            kind = {"PATCH": "change", "DELETE": "delete"}.get(edit["method"]) or edit["path"].split("/")[1].replace("albums", "add")
            identifier = urllib.parse.unquote(edit["path"].removeprefix("api/albums/")) if kind in ("change", "delete") else None
            self.assertTrue(any(act["kind"] == kind and act.get("id") == identifier for act in rest), f"not wanted: {edit}, of {wanted}, made {made}")

    # Acts

    def click(self, *selectors):
        return self.page.run(CLICK, self.random.choice(selectors))

    def move(self):
        self.page.run("document.querySelector('#covers:not([hidden]), #wall:not([hidden])')?.focus()")
        self.page.press(self.random.choice(["Right", "Right", "Left", "Home", "End", "Page_Down", "Up", "Down", "a", "e"]))

    def press_edit(self):
        keys = self.random.choice([["Delete"], ["Delete"], ["Control", "z"], ["Control", "z"], ["Control", "y"]])
        for _ in range(self.random.choice([1, 1, 1, 2])):
            self.page.press(*keys)

    def click_edit(self):
        self.click("#delete", "#undo", "#undo", "#redo", "#toast-action", "#toast-action")

    def drop(self):
        self.page.run(DROP, OPTIONS, self.random.randrange(300))

    def save(self):
        self.click("#edit", "#edit", "#add")
        self.page.until(f"{MODAL} || !opening", what="the form, or that there is no such album")
        if not self.page.run(f"return {MODAL}"):
            return
        self.page.run("""
            const field = document.querySelector(`#album-dialog [name=${arguments[0]}]`), title = document.querySelector('#album-dialog [name=title]');
            field.value = arguments[1];
            title.value ||= arguments[1];""", self.random.choice(["title", "artist", "genre"]), f"Typed {self.random.randrange(1000)}")
        if self.random.random() < 0.2:
            self.page.run(DROP.replace("covers.length", "1"), "#album-dialog form", self.random.randrange(300))
        if self.random.random() < 0.9:
            self.click("#album-save")
        if self.random.random() < 0.8:
            self.page.until("!document.querySelector('#album-dialog').open || document.querySelector('#album-error').textContent || document.querySelector('#album-save:enabled')",
                            what="the end of the edit")
        self.click("#album-cancel")

    def look(self):
        match self.random.randrange(9):
            case 0: self.page.choose("sort", self.random.choice(["library", "artist", "title", "genre", "year"]))
            case 1: self.page.choose("show", self.random.choice(["", "", "uncovered", "failed", "small"]))
            case 2: self.page.run("const field = document.querySelector('#search'); field.value = arguments[0]; field.dispatchEvent(new Event('input'))",
                                  self.random.choice(["", "", "alb", "typed", "xyz", "folk"]))
            case 3: self.page.run("document.querySelector('#view').click()")
            case 4: self.click("#activity-open"), self.page.press("Escape")
            case 5: self.page.press("Enter")
            case 6: self.page.press("Escape")
            case 7: self.click("#zoom-close", "#clear-filter", "#clear-search", "#retry")
            case 8: self.page.tile(self.random.choice(["Small", "Medium", "Large"]))
        self.page.run("document.querySelector('#zoom').close()")
