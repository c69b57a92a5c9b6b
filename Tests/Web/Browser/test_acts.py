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
RELEASE = "held.splice(0).forEach((go) => go());"
CHOSEN_TITLE = "document.querySelector('#chosen-title').textContent"


class ActTest(PictureTest):
    def titles(self):
        return [album["title"] for album in self.stage.saved()]

    def covers(self):
        """The numbers of the covers that the albums have; 0 for a person's own picture."""
        names = [album["coverUrl"].split("/")[-1] for album in self.stage.saved()]
        return [int(name.split(".")[0]) if name.endswith(".jpg") else 0 for name in names]

    def hold(self, page, part, answers=False):
        page.run(HOLD, part, answers)

    def held(self, page, count=1):
        page.until("held.length >= arguments[0]", count, what=f"{count} requests to wait")

    def choose(self, page, place):
        page.focus_covers()
        page.press("Home")
        for _ in range(place - 1):
            page.press("Right")
        page.until(f"{CHOSEN_TITLE} === arguments[0]", f"Album {place:05}", what=f"album {place} to be chosen")


class Uploads(ActTest):
    """The dropped bytes are another picture's."""

    def begin_upload(self, count=4):
        page = self.begin(count)
        picture = page.run("return document.querySelector(\"#covers [aria-posinset='2'] img\").src")
        self.hold(page, "api/pictures")
        page.run(DROP, "#covers [aria-posinset='1'] .picture", picture, "a.jpg", "image/jpeg")
        self.held(page)
        return page

    def test_delete_during_an_upload_deletes_the_album_that_was_chosen_then_and_the_choice_stays(self):
        page = self.begin_upload()
        self.choose(page, 2)
        page.press("Delete")
        page.press("Delete")  # before the album has disappeared
        page.run(RELEASE)
        page.status("Deleted “Album 00002”")
        self.assertEqual(self.titles(), ["Album 00001", "Album 00003", "Album 00004"])
        self.assertEqual(self.covers(), [0, 3, 4])
        self.assertEqual(page.run(f"return {CHOSEN_TITLE}"), "Album 00003")

    def test_an_upload_that_ends_does_not_take_the_choice_away(self):
        page = self.begin_upload()
        self.choose(page, 3)
        page.run(RELEASE)
        page.status("Edited “Album 00001”")
        self.assertEqual(page.run(f"return {CHOSEN_TITLE}"), "Album 00003")

    def test_undo_and_redo_during_an_upload_are_about_its_picture_whatever_is_chosen(self):
        page = self.begin_upload()
        self.choose(page, 2)
        page.press("Control", "z")
        page.run(RELEASE)
        page.status("Undone: Change the cover of “Album 00001”")
        self.assertEqual(self.covers(), [1, 2, 3, 4])
        page.click("#redo")
        page.status("Redone: Change the cover of “Album 00001”")
        self.assertEqual(self.covers(), [0, 2, 3, 4])

    def test_what_is_done_during_an_upload_is_done_in_that_order(self):
        page = self.begin_upload()
        for keys in (["Delete"], ["Control", "z"], ["Delete"], ["Control", "z"], ["Control", "y"]):
            page.press(*keys)
        page.run(RELEASE)
        page.status("Redone: Delete “Album 00001”")
        self.assertEqual(self.titles(), ["Album 00002", "Album 00003", "Album 00004"])
        page.click("#undo")
        page.status("Undone: Delete “Album 00001”")
        self.assertEqual(self.covers(), [0, 2, 3, 4])

    def test_two_uploads_at_once_reach_their_albums(self):
        page = self.begin_upload()
        picture = page.run("return document.querySelector(\"#covers [aria-posinset='1'] img\").src")
        page.run(DROP, "#covers [aria-posinset='3'] .picture", picture, "b.jpg", "image/jpeg")
        self.held(page, 2)
        page.run("held.pop()()")
        page.run(RELEASE)
        page.status("Edited “Album 00003”")
        self.assertEqual(self.covers(), [0, 2, 0, 4])
        self.assertNotEqual(self.stage.saved()[0]["coverUrl"], self.stage.saved()[2]["coverUrl"])

    def test_a_cancelled_edit_is_not_saved_and_the_next_form_does_not_get_its_picture(self):
        page = self.begin(4)
        self.hold(page, "api/pictures")
        page.edit()
        page.choose_picture(self.picture())
        page.click("#album-save")
        self.held(page)
        page.press("Escape")
        page.until("!document.querySelector('#album-dialog').open")
        self.choose(page, 2)
        page.edit()
        page.type("#album-dialog [name=genre]", "x")
        page.run(RELEASE)
        page.save()
        page.status("Edited “Album 00002”")
        self.assertEqual(self.covers(), [1, 2, 3, 4])

    def test_an_undo_after_a_cancelled_edit_is_about_the_edit_before_it(self):
        page = self.begin(4)
        page.press("Delete")
        page.status("Deleted “Album 00001”")
        self.hold(page, "api/pictures")
        page.edit()
        page.choose_picture(self.picture())
        page.click("#album-save")
        self.held(page)
        page.cancel()
        page.press("Control", "z")
        page.run(RELEASE)
        page.status("Undone: Delete “Album 00001”")
        self.assertEqual(self.covers(), [1, 2, 3, 4])


class Edited(ActTest):
    expected = ("404", "409")

    def test_an_edit_that_is_cancelled_while_the_server_makes_it_is_taken_back(self):
        page = self.gallery(3)
        self.hold(page, "api/albums", answers=True)
        page.edit()
        page.type("#album-dialog [name=title]", " changed")
        page.click("#album-save")
        self.held(page)
        self.assertEqual(self.titles()[0], "Album 00001 changed")
        page.cancel()
        page.run(RELEASE)
        self.eventually(lambda: self.titles()[0] == "Album 00001", "the former title")

    def test_the_undo_beside_a_message_does_not_undo_what_came_after(self):
        page = self.gallery(5)
        fifth = page.run("return document.querySelector(\"#covers [aria-posinset='5']\").dataset.id")
        page.click("#delete")
        page.status("Deleted “Album 00001”")
        self.stage.server.ask("PATCH", f"api/albums/{fifth}", {"album": {"genre": "Elsewhere"}})
        page.run("document.querySelector('#toast-action').click()")
        page.status("Something else was edited since")
        self.assertEqual(self.titles(), [f"Album {n:05}" for n in (2, 3, 4, 5)])
        self.assertEqual(self.stage.saved()[3]["genre"], "Elsewhere")
        # What came after is undone by the button, which names it.
        page.until("document.querySelector('#undo').title.includes('Edit “Album 00005”')", what="the button to name the other edit")
        page.click("#undo")
        page.status("Undone: Edit “Album 00005”")
        page.click("#undo")
        page.status("Undone: Delete “Album 00001”")

    def test_a_message_s_redo_is_refused_after_another_edit(self):
        page = self.gallery(3)
        page.click("#delete")
        page.status("Deleted")
        page.click("#undo")
        page.status("Undone")
        self.stage.server.ask("POST", "api/albums", {"album": {"title": "New"}})
        page.run("document.querySelector('#toast-action').click()")
        page.status("Something else was edited since")
        self.assertEqual(self.titles()[-1], "New")
        self.assertEqual(len(self.titles()), 4)

    def test_the_form_of_an_album_that_another_page_has_deleted_says_so_and_keeps_what_was_typed(self):
        page = self.gallery(3)
        first = page.chosen()["id"]
        page.edit()
        page.type("#album-dialog [name=title]", " changed")
        self.stage.server.ask("DELETE", f"api/albums/{first}")
        page.size(2)
        page.click("#album-save")
        page.until("document.querySelector('#album-error').textContent === 'That album is no longer in the library'", what="the error")
        self.assertEqual(page.run("return document.querySelector('#album-dialog [name=title]').value"), "Album 00001 changed")
        self.assertEqual(self.titles(), ["Album 00002", "Album 00003"])

    def test_an_edit_that_changes_nothing_offers_no_undo_of_the_one_before_it(self):
        page = self.gallery(3)
        page.click("#delete")
        page.status("Deleted “Album 00001”")
        page.edit()
        page.type("#album-dialog [name=title]", " ")
        page.click("#album-save")
        page.status("Nothing was changed")
        self.assertFalse(page.visible("#toast-action"))

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
        page.until("document.querySelector('#album-dialog').open")
        page.run("held[0]()")
        page.type("#album-dialog [name=title]", " changed")
        page.click("#album-save")
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
        page = self.gallery(9)
        page.focus_covers()
        self.hold(page, "Delete")
        page.size(8)
        page.status("Deleted “Album 00001”")
        self.hold(page, "Delete")
        page.size(7)
        page.status("Deleted “Album 00002”")
        page.find("#more").click()
        page.until("document.querySelector('#album-menu').contains(document.activeElement)", what="the menu")
        page.focus("#delete")
        self.hold(page, "Enter")
        page.size(6)
        page.status("Deleted “Album 00003”")
        self.assertEqual(len(self.stage.saved()), 6)
