"""What a person meant is done: what was chosen, typed and shown when they acted, not later when the server answers."""
from case import GalleryTest
from test_pictures import DROP, PictureTest

# From now on the requests of a path wait until `held` has let them go: before they are sent, or before the page has their answers.
HOLD = """
    const original = window.fetch, [part, answers] = arguments;
    window.held = [];
    window.fetch = async (path, request = {}) => {
        if (!String(path).includes(part) || request.method === 'GET') return original(path, request);
        const response = answers && await original(path, request);
        await new Promise((go) => held.push(go));
        return response || original(path, request);
    };"""


class ActTest(PictureTest):
    def covers(self):
        """The numbers of the covers that the albums have; 0 for a person's own picture."""
        names = [album["coverUrl"].split("/")[-1] for album in self.stage.saved()]
        return [int(name.split(".")[0]) if name.endswith(".jpg") else 0 for name in names]

    def release(self, page, text=""):
        """Lets the requests go, whereupon the page tells this."""
        page.run("held.splice(0).forEach((go) => go());")
        page.status(text)

    def held(self, page, count=1):
        page.wait("held.length >= arguments[0]", count, what=f"{count} requests to wait")

    def choose(self, page, place):
        page.focus_covers().press("Home")
        for _ in range(place - 1):
            page.press("Right")
        page.reads("#chosen-title", f"Album {place:05}")


class Uploads(ActTest):
    def begin(self):
        """Opens a gallery of four albums, whose uploads wait."""
        page = super().begin(4)
        self.sources = page.value("$$('#covers img').sort((one, other) => one.closest('.cover').ariaPosInSet - other.closest('.cover').ariaPosInSet)"
                                  ".map(({src}) => src)")
        self.assertEqual(len(self.sources), 4)
        page.run(HOLD, "api/pictures")
        return page

    def upload(self, page, place, source, count=1):
        """Drops another album's picture, so that `count` uploads wait."""
        page.run(DROP, f"#covers [aria-posinset='{place}'] .picture", self.sources[source - 1], "a.jpg", "image/jpeg")
        self.held(page, count)

    def test_the_choice_stays_where_it_is_undo_is_about_the_upload_and_two_at_once_reach_their_albums(self):
        page = self.begin()
        self.upload(page, 1, 2)
        self.choose(page, 3)
        self.release(page, "Edited “Album 00001”")
        self.assertEqual(page.text("#chosen-title"), "Album 00003")
        self.upload(page, 4, 3)
        self.choose(page, 2)
        page.press("Control", "z")
        self.release(page, "Undone: Change the cover of “Album 00004”")
        self.assertEqual(self.covers(), [0, 2, 3, 4])
        page.click("#redo").status("Redone: Change the cover of “Album 00004”")
        self.assertEqual(self.covers(), [0, 2, 3, 0])
        self.upload(page, 2, 1)
        self.upload(page, 3, 4, count=2)
        page.run("held.pop()()")
        self.release(page, "Edited “Album 00003”")
        self.eventually(lambda: self.covers() == [0, 0, 0, 0], "both pictures in the file")
        self.assertEqual(len({album["coverUrl"] for album in self.stage.saved()}), 4, "each has its own")

    def test_what_is_done_during_an_upload_is_done_in_that_order_to_what_was_chosen_then(self):
        page = self.begin()
        self.upload(page, 1, 2)
        self.choose(page, 2)
        page.press("Delete")
        page.press("Delete")  # before the album has disappeared
        self.release(page, "Deleted “Album 00002”")
        self.assertEqual([self.titles(), self.covers()], [["Album 00001", "Album 00003", "Album 00004"], [0, 3, 4]])
        self.assertEqual(page.text("#chosen-title"), "Album 00003")
        self.choose(page, 1)
        self.upload(page, 1, 4)
        own = self.stage.saved()[0]["coverUrl"]
        for keys in (["Delete"], ["Control", "z"], ["Delete"], ["Control", "z"], ["Control", "y"]):
            page.press(*keys)
        self.release(page, "Redone: Delete “Album 00001”")
        self.assertEqual(self.titles(), ["Album 00003", "Album 00004"])
        page.click("#undo").status("Undone: Delete “Album 00001”")
        self.assertEqual(self.covers(), [0, 3, 4])
        self.assertNotEqual(self.stage.saved()[0]["coverUrl"], own)

    def test_a_cancelled_edit_is_not_saved_the_next_form_does_not_get_its_picture_and_undo_is_about_the_edit_before_it(self):
        page = self.begin()

        def save_with_a_picture():
            page.edit().choose_picture(self.picture()).click("#album-save")
            self.held(page)

        page.press("Delete").status("Deleted “Album 00001”")
        save_with_a_picture()
        page.cancel().press("Control", "z")
        self.release(page, "Undone: Delete “Album 00001”")
        self.assertEqual(self.covers(), [1, 2, 3, 4])
        save_with_a_picture()
        page.press("Escape").wait("!$('#album-dialog').open")
        self.choose(page, 2)
        page.edit().type("#album-dialog [name=genre]", "x")
        self.release(page)
        page.save().status("Edited “Album 00002”")
        self.assertEqual(self.covers(), [1, 2, 3, 4])


class Edited(ActTest):
    expected = ("404", "409")

    def test_an_edit_that_is_cancelled_while_the_server_makes_it_is_taken_back(self):
        page = self.gallery(3)
        page.run(HOLD, "api/albums", True)
        page.edit().type("#album-dialog [name=title]", " changed").click("#album-save")
        self.held(page)
        self.assertEqual(self.titles()[0], "Album 00001 changed")
        page.cancel()
        self.release(page)
        self.eventually(lambda: self.titles()[0] == "Album 00001", "the former title")

    def test_the_undo_and_redo_beside_a_message_do_not_touch_what_came_after(self):
        page = self.gallery(5)
        fifth = page.value("$(\"#covers [aria-posinset='5']\").dataset.id")
        page.click("#delete").status("Deleted “Album 00001”")
        self.stage.server.ask("PATCH", f"api/albums/{fifth}", {"album": {"genre": "Elsewhere"}})
        page.run("$('#toast-action').click()")
        page.status("Something else was edited since")
        self.assertEqual(self.titles(), [f"Album {n:05}" for n in (2, 3, 4, 5)])
        self.assertEqual(self.stage.saved()[3]["genre"], "Elsewhere")
        # What came after is undone by the button, which names it.
        page.wait("$('#undo').title.includes('Edit “Album 00005”')", what="the button to name the other edit")
        page.click("#undo").status("Undone: Edit “Album 00005”")
        page.click("#undo").status("Undone: Delete “Album 00001”")
        self.stage.server.ask("POST", "api/albums", {"album": {"title": "New"}})
        page.run("$('#toast-action').click()")
        page.status("Something else was edited since")
        self.assertEqual(self.titles(), [*(f"Album {n:05}" for n in (1, 2, 3, 4, 5)), "New"])

    def test_an_edit_that_changes_nothing_offers_no_undo_and_the_form_of_an_album_that_was_deleted_elsewhere_keeps_what_was_typed(self):
        page = self.gallery(4).click("#delete").status("Deleted “Album 00001”")
        page.edit().type("#album-dialog [name=title]", " ").click("#album-save").status("Nothing was changed")
        self.assertFalse(page.visible("#toast-action"))
        second = page.chosen()["id"]
        page.edit().type("#album-dialog [name=title]", " changed")
        self.stage.server.ask("DELETE", f"api/albums/{second}")
        page.size(2)
        page.click("#album-save").reads("#album-error", "That album is no longer in the library")
        self.assertEqual(page.value("$('#album-dialog [name=title]').value"), "Album 00002 changed")
        self.assertEqual(self.titles(), ["Album 00003", "Album 00004"])

    def test_the_form_that_was_wanted_last_opens(self):
        page = self.gallery(3)
        page.run("""
            const original = fetch;
            window.held = [];
            window.fetch = async (path, request = {}) => {
                if (/api.albums/.test(path)) await new Promise((go) => held.push(go));
                return original(path, request);
            };""")
        page.click("#edit")
        self.choose(page, 2)
        page.click("#edit")
        self.held(page, 2)
        page.run("held[1]()")
        page.wait("$('#album-dialog').open")
        page.run("held[0]()")
        page.type("#album-dialog [name=title]", " changed").click("#album-save")
        self.held(page, 3)
        page.run("held[2]()")
        page.status("Edited “Album 00002 changed”")


class Held(GalleryTest):
    def hold(self, page, key, count=12):
        text = {"text": "\r"} if key == "Enter" else {}
        for number in range(count):
            page.browser.cdp("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, autoRepeat=number > 0, **text)
        page.browser.cdp("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def test_a_held_key_deletes_one_album_and_the_next_press_another_one(self):
        page = self.gallery(9).focus_covers()
        for left, album in ((8, 1), (7, 2)):
            self.hold(page, "Delete")
            page.size(left).status(f"Deleted “Album {album:05}”")
        page.find("#more").click()
        page.wait("$('#album-menu').contains(document.activeElement)", what="the menu")
        page.focus("#delete")
        self.hold(page, "Enter")
        page.size(6).status("Deleted “Album 00003”")
        self.assertEqual(len(self.stage.saved()), 6)
