"""Shortcuts work wherever the focus is, except in text fields."""
from case import GalleryTest


class Keys(GalleryTest):
    def test_after_a_click_on_trash_undo_and_redo_the_arrows_and_delete_go_on(self):
        page = self.gallery(9)
        page.click("#delete")
        page.size(8)
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["name"].split(",")[0], "Album 00003")
        page.click("#undo")
        page.size(9)
        page.wait_for_place(1)
        page.press("Right")
        page.wait_for_place(2)
        page.click("#redo")
        page.size(8)
        page.press("End")
        page.wait_for_place(8)
        page.press("Delete")
        page.size(7)
        page.wait_for_place(7)
        self.eventually(
            lambda: [album["title"][-1] for album in self.stage.saved()] == list("2345678"), "both deletions in the file")

    def test_keys_in_a_dialog_and_in_fields_do_not_touch_the_albums(self):
        page = self.shared_gallery(6)
        page.click("#activity-open")
        page.appears("#activity")
        page.press("Delete")
        page.press("Right")
        page.press("Escape")
        page.focus("#replace")
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["of"], 6)
        page.wall().focus("#search")
        page.press("Delete")
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["of"], 6)

