"""Deleting, undoing, adding: on the page and in the library file; and keys wherever the focus is, except in text fields."""
from case import GalleryTest


class Editing(GalleryTest):
    def test_delete_undo_and_redo_by_buttons_reach_the_library_file_down_to_an_empty_one_and_back(self):
        page = self.gallery(3)
        all_of_them = self.titles()
        page.wait("$('#undo').disabled")
        for left in (2, 1, 0):
            page.click("#delete").size(left)
            self.saved_becomes(all_of_them[3 - left:])
            page.status(f"Album {3 - left:05}")
            if left:
                self.assertEqual(page.chosen()["name"].split(",")[0], f"Album {4 - left:05}")
        page.wait("$('#redo').disabled")
        for back in (1, 2, 3):
            page.click("#undo").size(back)
            self.saved_becomes(all_of_them[-back:])
        self.assertEqual(page.wait_for_place(1)["name"].split(",")[0], "Album 00001")
        page.click("#redo").size(2)
        self.saved_becomes(all_of_them[1:])

    def answer_together(self, page):
        """From now on an edit's response arrives after the page has asked for the changed albums because of the server's event,
        and the responses to both requests for the albums arrive in the same moment."""
        page.run("""
            const original = fetch, held = [];
            let asked = Promise.withResolvers();
            window.fetch = async (path, request = {}) => {
                const response = await original(path, request);
                if (request.method !== 'GET') {
                    if (/albums|undo|redo/.test(path)) await asked.promise;
                    return response;
                }
                if (!path.endsWith('api/library')) return response;
                const answer = await response.json();
                asked.resolve();
                await new Promise((resolve) => {
                    held.push(resolve);
                    if (held.length === 2) held.splice(0).forEach((release) => release());
                });
                asked = Promise.withResolvers();
                return {ok: true, status: 200, json: async () => answer};
            };""")

    def test_the_right_album_is_chosen_when_two_requests_for_the_albums_are_answered_together(self):
        page = self.gallery(6)
        all_of_them = self.titles()
        page.focus_covers().press("Right").wait_for_place(2)
        self.answer_together(page)
        for _ in range(2):
            for keys, done, album in ((["Delete"], "Deleted", "Album 00003"), (["Control", "z"], "Undone: Delete", "Album 00002")):
                page.press(*keys).status(f"{done} “Album 00002”")
                self.assertEqual(page.text("#chosen-title"), album)
                self.assertEqual(page.chosen()["name"].split(",")[0], album)
        self.saved_becomes(all_of_them)


class Form(GalleryTest):
    expected = ("422",)

    def fill(self, page, **fields):
        for name, value in fields.items():
            field = page.find(f"#album-dialog [name={name}]")
            field.clear()
            field.send_keys(value)

    def test_an_album_is_edited_in_its_place_and_undo_brings_the_former_back(self):
        albums = self.stage.albums(4)
        albums[1]["label"] = "Nonesuch"
        page = self.gallery_of(albums)
        page.focus_covers().press("Right").wait_for_place(2)
        page.edit()
        fields = page.value("Object.fromEntries(new FormData($('#album-dialog form')))")
        self.assertEqual(fields, {name: albums[1][name] for name in ("title", "artist", "genre", "year", "coverUrl")})
        self.assertEqual(page.text("#album-dialog h2"), "Edit album")
        self.screenshot("edit")
        self.fill(page, title="Nightjar", year="1994")
        page.save().status("Edited “Nightjar”").reads("#chosen-title", "Nightjar")
        self.assertEqual(page.wait_for_place(2)["of"], 4)
        self.assertEqual(page.facts(), {"Artist": albums[1]["artist"], "Album": "Nightjar", "Genre": albums[1]["genre"], "Year": "1994"})
        self.assertLessEqual((albums[1] | {"title": "Nightjar", "year": "1994"}).items(), self.stage.saved()[1].items())
        page.press("Control", "z").reads("#chosen-title", "Album 00002")
        self.assertEqual(self.stage.saved()[1]["year"], albums[1]["year"])

    def test_another_address_shows_another_cover_in_every_page_and_undo_the_former(self):
        page = self.gallery(3)
        shown = "$('#covers [aria-selected=true][data-state=ready] img')?.src"
        former = page.until(shown)
        other = self.second_page()
        other.wait(f"{shown} === arguments[0]", former, what="the cover in the other page")
        page.front().edit()
        self.fill(page, coverUrl=self.stage.origin.base + "/covers/400.jpg")
        page.save()
        for each in (page, other):
            each.front().wait(f"{shown} && {shown} !== arguments[0]", former, what="the new cover")
        other.click("#undo").wait(f"{shown} === arguments[0]", former, what="the former cover")

    def test_what_is_refused_or_left_changes_nothing_and_an_album_that_is_added_is_chosen_shown_and_saved(self):
        page = self.gallery(2)
        before = self.stage.version()
        self.refused(page, "#edit", "title", title="", year="last year")
        self.assertEqual(page.text("#album-error"), "An album needs a title", "with a capital")
        page.cancel()
        for kept, leave in (("", lambda: page.click("#album-cancel")), ("Not this one", lambda: page.press("Escape"))):
            page.click("#add").wait("$('#album-dialog').contains(document.activeElement)", what="the focus in the dialog")
            # The text of the edit is gone; that of a new album is kept until it is saved.
            self.assertEqual(set(page.value("[...new FormData($('#album-dialog form')).values()]")), {"", kept})
            self.fill(page, title="Not this one")
            leave()
            page.wait("!$('#album-dialog').open")
            page.wait("document.activeElement?.id === 'menu-toggle'", what="the focus back on the button")
        self.refused(page, "#add", "title", title="", artist="Vela", year="1994")
        self.screenshot("dialog")
        self.refused(page, None, "year", title="Nightjar", genre="Ambient", year="last year")
        self.refused(page, None, "coverUrl", year="1994", coverUrl="ftp:/nowhere")
        self.assertEqual(self.stage.version(), before)
        self.fill(page, coverUrl=self.stage.origin.base + "/covers/400.jpg")
        page.save().size(3).reads("#chosen-title", "Nightjar")
        self.assertIn("Nightjar", page.chosen()["name"])
        album = {"title": "Nightjar", "artist": "Vela", "genre": "Ambient", "year": "1994", "coverUrl": self.stage.origin.base + "/covers/400.jpg"}
        self.eventually(lambda: album.items() <= self.stage.saved()[-1].items(), "the album in the library file")
        page.wait("$('#covers [aria-selected=true]').dataset.state === 'ready'", what="its cover")
        page.click("#undo").size(2)

    def refused(self, page, button, field, **fields):
        """Fills the form, which a button opens unless it is open, and saves: the field that is wrong is named and has the focus."""
        if button:
            page.edit(button)
        self.fill(page, **fields)
        page.click("#album-save")
        page.until("$('#album-error').textContent.trim() && $(`#album-dialog [name=${arguments[0]}]`).matches('[aria-invalid=true]')"
                   " && document.activeElement.name === arguments[0]", field, what=f"{field} to be marked and to have the focus")
        self.assertTrue(page.value("$('#album-dialog').open"))


class Keys(GalleryTest):
    def test_after_a_click_on_trash_undo_and_redo_the_arrows_delete_undo_and_redo_go_on(self):
        page = self.gallery(9).click("#delete").size(8)
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["name"].split(",")[0], "Album 00003")
        page.click("#undo").size(9).wait_for_place(1)
        page.press("Right").wait_for_place(2)
        page.click("#redo").size(8)
        page.press("End").wait_for_place(8)
        for keys, left in ((["Delete"], 7), (["Control", "z"], 8), (["Control", "Shift", "z"], 7)):
            page.press(*keys).size(left).wait_for_place(left)
            self.saved_becomes([f"Album {n:05}" for n in range(2, 2 + left)])

    def test_keys_in_a_dialog_and_in_fields_do_not_touch_the_albums(self):
        page = self.shared_gallery(6).click("#activity-open").appears("#activity")
        for key in ("Delete", "Right", "Escape"):
            page.press(key)
        page.focus("#replace").press("Right")
        self.assertEqual(page.wait_for_place(2)["of"], 6)
        chosen = page.search("Album").size(6).chosen()
        page.press("Home").press("Delete").wait("$('#search').value === 'lbum'")
        page.press("Control", "z").press("Right").size(6)
        self.assertEqual(page.chosen(), chosen)
