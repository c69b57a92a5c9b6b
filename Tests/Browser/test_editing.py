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

    def test_keys_in_a_field_edit_the_field_and_not_the_library(self):
        page = self.gallery(5)
        page.browser.find("#search").type("Album")
        page.press("Home")
        page.press("Delete")
        page.until("document.querySelector('#search').value === 'lbum'")
        page.press("Control", "z")
        self.assertEqual(len(self.stage.saved()), 5)
        page.size(5)

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


class Adding(GalleryTest):
    expected = ("422",)

    def fill(self, page, **fields):
        for name, value in fields.items():
            field = page.browser.find(f"#add-dialog [name={name}]")
            field.clear()
            field.type(value)

    def test_an_album_added_by_the_form_is_chosen_shown_and_saved(self):
        page = self.gallery(4)
        page.click("#add")
        page.until("document.querySelector('#add-dialog').matches(':modal')")
        self.screenshot("dialog")
        album = {"title": "Nightjar", "artist": "Vela", "genre": "Ambient", "year": "1994",
                 "coverUrl": self.stage.origin.base + "/covers/400.jpg"}
        self.fill(page, **album)
        page.click("#add-save")
        page.until("!document.querySelector('#add-dialog').open", what="the dialog to close")
        page.size(5)
        page.until("document.querySelector('#album-table').textContent.includes('Nightjar')", what="the table")
        self.assertIn("Nightjar", page.chosen()["name"])
        self.eventually(lambda: any(album.items() <= each.items() for each in self.stage.saved()), "the album in the library file")
        page.until("document.querySelector('#covers [aria-selected=true]').dataset.state === 'ready'", what="its cover")
        page.click("#undo")
        page.size(4)

    def assert_refused(self, page, field):
        page.click("#add-save")
        page.until("document.querySelector('#add-error').textContent.trim()", what="an error")
        self.assertTrue(page.run("return document.querySelector('#add-dialog').open"))
        page.until(
            "document.querySelector(`#add-dialog [name=${arguments[0]}]`).matches('[aria-invalid=true]')", field,
            what=f"{field} to be marked")
        page.until("document.activeElement.name === arguments[0]", field, what=f"the focus in {field}")
        self.assertEqual(len(self.stage.saved()), 2)

    def test_a_bad_year_and_a_bad_url_are_told_at_their_fields_and_can_be_mended(self):
        page = self.gallery(2)
        page.click("#add")
        self.fill(page, title="Nightjar", artist="Vela", genre="Ambient", year="last year", coverUrl="")
        self.assert_refused(page, "year")
        self.fill(page, year="1994", coverUrl="ftp:/nowhere")
        self.assert_refused(page, "coverUrl")
        self.fill(page, coverUrl=self.stage.origin.base + "/covers/400.jpg")
        page.click("#add-save")
        page.size(3)
        self.assertFalse(page.run("return document.querySelector('#add-dialog').open"))

    def test_an_album_without_a_title_is_refused(self):
        page = self.gallery(2)
        page.click("#add")
        self.fill(page, artist="Vela", year="1994")
        self.assert_refused(page, "title")

    def test_cancel_and_escape_add_nothing_and_give_the_focus_back(self):
        page = self.gallery(2)
        for leave in (lambda: page.click("#add-cancel"), lambda: page.press("Escape")):
            page.click("#add")
            page.until("document.querySelector('#add-dialog').contains(document.activeElement)", what="the focus in the dialog")
            self.fill(page, title="Not this one")
            leave()
            page.until("!document.querySelector('#add-dialog').open")
            page.until("document.activeElement?.id === 'add'", what="the focus back on the button")
        self.assertEqual(len(self.stage.saved()), 2)
