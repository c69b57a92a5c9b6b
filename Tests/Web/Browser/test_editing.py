"""Deleting, undoing, adding: on the page and in the library file."""
from case import GalleryTest


class Editing(GalleryTest):
    def titles(self):
        return [album["title"] for album in self.stage.saved()]

    def saved_becomes(self, titles):
        self.eventually(lambda: self.titles() == titles, f"the library file to hold {titles}")

    def enabled(self, page, selector, wanted=True):
        page.until(
            "document.querySelector(arguments[0]).matches(':disabled, [aria-disabled=true]') !== arguments[1]", selector, wanted,
            what=f"{selector} to be {'enabled' if wanted else 'disabled'}")

    def test_delete_undo_and_redo_by_buttons_reach_the_library_file(self):
        page = self.gallery(5)
        all_of_them = self.titles()
        self.enabled(page, "#undo", False)
        page.click("#delete")
        page.size(4)
        self.saved_becomes(all_of_them[1:])
        page.status("Album 00001")
        self.assertEqual(page.chosen()["name"].split(",")[0], "Album 00002")
        self.enabled(page, "#undo")
        self.enabled(page, "#redo", False)
        page.click("#undo")
        page.size(5)
        self.saved_becomes(all_of_them)
        self.assertEqual(page.wait_for_place(1)["name"].split(",")[0], "Album 00001")
        self.enabled(page, "#redo")
        page.click("#redo")
        page.size(4)
        self.saved_becomes(all_of_them[1:])

    def test_delete_undo_and_redo_by_keys(self):
        page = self.gallery(5)
        all_of_them = self.titles()
        page.focus_covers()
        page.press("End")
        page.wait_for_place(5)
        page.press("Delete")
        page.size(4)
        self.saved_becomes(all_of_them[:-1])
        page.wait_for_place(4)
        page.press("Control", "z")
        page.size(5)
        self.saved_becomes(all_of_them)
        page.wait_for_place(5)
        page.press("Control", "Shift", "z")
        page.size(4)
        self.saved_becomes(all_of_them[:-1])

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
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        self.answer_together(page)
        title = "document.querySelector('#chosen-title').textContent"
        for _ in range(2):
            page.press("Delete")
            page.status("Deleted “Album 00002”")
            self.assertEqual(page.run(f"return {title}"), "Album 00003")
            self.assertEqual(page.chosen()["name"].split(",")[0], "Album 00003")
            page.press("Control", "z")
            page.status("Undone: Delete “Album 00002”")
            self.assertEqual(page.run(f"return {title}"), "Album 00002")
            self.assertEqual(page.chosen()["name"].split(",")[0], "Album 00002")
        self.saved_becomes(all_of_them)

    def test_keys_in_a_field_edit_the_field_and_not_the_library(self):
        page = self.shared_gallery(6)
        page.search("Album")
        page.press("Home")
        page.press("Delete")
        page.until("document.querySelector('#search').value === 'lbum'")
        page.press("Control", "z")
        page.size(6)

    def test_deleting_every_album_leaves_a_page_that_can_undo_it_all(self):
        page = self.gallery(3)
        for left in (2, 1, 0):
            self.enabled(page, "#delete")
            page.click("#delete")
            page.size(left)
        self.saved_becomes([])
        for back in (1, 2, 3):
            self.enabled(page, "#undo")
            page.click("#undo")
            page.size(back)
        self.saved_becomes(["Album 00001", "Album 00002", "Album 00003"])


class Form(GalleryTest):
    expected = ("422",)

    def fill(self, page, **fields):
        for name, value in fields.items():
            field = page.find(f"#album-dialog [name={name}]")
            field.clear()
            field.send_keys(value)


class Changing(Form):
    def test_an_album_is_edited_in_its_place_and_undo_brings_the_former_back(self):
        albums = self.stage.albums(4)
        albums[1]["label"] = "Nonesuch"
        self.stage.serve(albums)
        page = self.open()
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        page.edit()
        fields = page.run("return Object.fromEntries(new FormData(document.querySelector('#album-dialog form')))")
        self.assertEqual(fields, {name: albums[1][name] for name in ("title", "artist", "genre", "year", "coverUrl")})
        self.assertEqual(page.text("#album-dialog h2"), "Edit album")
        self.screenshot("edit")
        self.fill(page, title="Nightjar", year="1994")
        page.save()
        page.status("Edited “Nightjar”")
        page.until("document.querySelector('#chosen-title').textContent === 'Nightjar'", what="the new title")
        self.assertEqual(page.wait_for_place(2)["of"], 4)
        self.assertEqual(page.facts(), {"Artist": albums[1]["artist"], "Album": "Nightjar", "Genre": albums[1]["genre"], "Year": "1994"})
        saved = self.stage.saved()[1]
        self.assertEqual((saved["title"], saved["year"], saved["label"]), ("Nightjar", "1994", "Nonesuch"))
        page.press("Control", "z")
        page.until("document.querySelector('#chosen-title').textContent === 'Album 00002'", what="the former title")
        self.assertEqual(self.stage.saved()[1]["year"], albums[1]["year"])

    def test_another_address_shows_another_cover_in_every_page_and_undo_the_former(self):
        page = self.gallery(3)
        page.covers_settle()
        shown = "document.querySelector('#covers [aria-selected=true][data-state=ready] img')?.src"
        former = page.until(shown)
        other = self.second_page()
        other.until(f"{shown} === arguments[0]", former, what="the cover in the other page")
        page.front()
        page.edit()
        self.fill(page, coverUrl=self.stage.origin.base + "/covers/400.jpg")
        page.save()
        page.until(f"{shown} && {shown} !== arguments[0]", former, what="the new cover")
        other.front()
        other.until(f"{shown} && {shown} !== arguments[0]", former, what="the new cover in the other page")
        other.click("#undo")
        other.until(f"{shown} === arguments[0]", former, what="the former cover")

    def test_an_error_is_reported_at_its_field_with_a_capital_and_cancel_changes_nothing(self):
        page = self.shared_gallery(2)
        page.edit()
        self.fill(page, title="", year="last year")
        page.click("#album-save")
        page.until("document.querySelector('#album-error').textContent === 'An album needs a title'", what="the error")
        page.until("document.activeElement.name === 'title'", what="the focus in the title")
        page.click("#album-cancel")
        page.until("!document.querySelector('#album-dialog').open")
        page.click("#add")
        self.assertEqual(set(page.run("return [...new FormData(document.querySelector('#album-dialog form')).values()]")), {""})
        self.assertEqual(self.stage.saved()[0]["title"], "Album 00001")


class Adding(Form):
    def test_an_album_added_by_the_form_is_chosen_shown_and_saved(self):
        page = self.gallery(4)
        page.edit("#add")
        self.screenshot("dialog")
        album = {"title": "Nightjar", "artist": "Vela", "genre": "Ambient", "year": "1994",
                 "coverUrl": self.stage.origin.base + "/covers/400.jpg"}
        self.fill(page, **album)
        page.save()
        page.size(5)
        page.until("document.querySelector('#chosen-title').textContent === 'Nightjar'", what="the album")
        self.assertIn("Nightjar", page.chosen()["name"])
        self.eventually(lambda: any(album.items() <= each.items() for each in self.stage.saved()), "the album in the library file")
        page.until("document.querySelector('#covers [aria-selected=true]').dataset.state === 'ready'", what="its cover")
        page.click("#undo")
        page.size(4)

    def assert_refused(self, page, field):
        page.click("#album-save")
        page.until("document.querySelector('#album-error').textContent.trim()", what="an error")
        self.assertTrue(page.run("return document.querySelector('#album-dialog').open"))
        page.until(
            "document.querySelector(`#album-dialog [name=${arguments[0]}]`).matches('[aria-invalid=true]')", field,
            what=f"{field} to be marked")
        page.until("document.activeElement.name === arguments[0]", field, what=f"the focus in {field}")
        self.assertEqual(len(self.stage.saved()), 2)

    def test_a_bad_year_and_a_bad_url_are_reported_at_their_fields_and_can_be_corrected(self):
        page = self.gallery(2)
        page.click("#add")
        self.fill(page, title="Nightjar", artist="Vela", genre="Ambient", year="last year", coverUrl="")
        self.assert_refused(page, "year")
        self.fill(page, year="1994", coverUrl="ftp:/nowhere")
        self.assert_refused(page, "coverUrl")
        self.fill(page, coverUrl=self.stage.origin.base + "/covers/400.jpg")
        page.save()
        page.size(3)

    def test_an_album_without_a_title_is_refused(self):
        page = self.shared_gallery(2)
        page.click("#add")
        self.fill(page, artist="Vela", year="1994")
        self.assert_refused(page, "title")

    def test_cancel_and_escape_add_nothing_and_give_the_focus_back(self):
        page = self.shared_gallery(2)
        for leave in (lambda: page.click("#album-cancel"), lambda: page.press("Escape")):
            page.click("#add")
            page.until("document.querySelector('#album-dialog').contains(document.activeElement)", what="the focus in the dialog")
            self.fill(page, title="Not this one")
            leave()
            page.until("!document.querySelector('#album-dialog').open")
            page.until("document.activeElement?.id === 'menu-toggle'", what="the focus back on the button")
        self.assertEqual(len(self.stage.saved()), 2)
