"""Covers that the user gives: own pictures, dropped or chosen, and releases of MusicBrainz."""
import urllib.request

from case import GONE, GalleryTest
from page import MODAL

ID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
SHOWN = "$('#covers [aria-selected=true][data-state=ready] img')?.src"

# Drops a file on the element that a selector names. The file's bytes are those at an address of this origin.
DROP = """
    const bytes = await (await fetch(arguments[1])).arrayBuffer();
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], arguments[2], {type: arguments[3]}));
    for (const kind of ['dragover', 'drop']) {
        const event = new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer});
        $(arguments[0]).dispatchEvent(event);
        if (!event.defaultPrevented) throw new Error(`the browser would handle the ${kind}`);
    }"""


class PictureTest(GalleryTest):
    def picture(self):
        """A file with a picture that no album has."""
        path = self.stage.folder / "mine.jpg"
        path.write_bytes(urllib.request.urlopen(f"{self.stage.origin.base}/covers/77.jpg").read())
        return path

    def begin(self, count=3):
        return self.gallery(count).settled()

    def own_address(self, place):
        address = self.stage.saved()[place]["coverUrl"]
        self.assertRegex(address, "^https://covers.invalid/[0-9a-f]{64}$")
        return address


class Pictures(PictureTest):
    expected = ("422",)

    def test_an_album_is_added_with_a_picture_file_and_its_cover_is_there_at_once(self):
        self.stage.start_origin()
        page = self.begin().edit("#add").type("#album-dialog [name=title]", "Mine").choose_picture(self.picture())
        self.screenshot("own-picture")
        page.save().status("Added “Mine”").size(4)
        page.wait(SHOWN, what="the cover")
        self.own_address(3)
        shown = page.value(f"[...new Uint8Array(await (await fetch({SHOWN})).arrayBuffer())]")
        self.assertEqual(bytes(shown), self.picture().read_bytes())
        # The origin is not needed, and a restart keeps the picture.
        self.expected = GONE
        page.remembered()
        self.stage.origin.close()
        self.stage.server.close()
        self.stage.start_server()
        page.reload().wait_for_place(4)
        page.wait(SHOWN, what="the cover after a restart")

    def test_a_picture_dropped_on_a_cover_becomes_its_own_cover_which_the_form_removes_and_undo_brings_back(self):
        page = self.begin()
        former = page.until(SHOWN)
        other = page.value("$(\"#covers [aria-posinset='2'] img\").src")
        page.run(DROP, "#covers [aria-posinset='1'] .picture", other, "a.jpg", "image/jpeg")
        page.status("Edited “Album 00001”").wait(f"{SHOWN} && {SHOWN} !== arguments[0]", former, what="the new cover")
        own = self.own_address(0)
        page.edit()
        self.assertEqual(page.text("#picture-name"), "Your own picture")
        page.appears("#picture-preview")
        field = "#album-dialog [name=coverUrl]"
        self.assertFalse(page.visible(field), "its address means nothing to a user")
        page.click("#picture-remove")
        self.assertEqual([page.visible(field), page.value(f"$('{field}').value")], [True, ""])
        page.save().tells("#cover-reason", "No cover yet")
        page.press("Control", "z").wait(SHOWN, what="the picture again")
        self.assertEqual(self.own_address(0), own)
        page.press("Control", "z").wait(f"{SHOWN} === arguments[0]", former, what="the former cover")
        self.assertEqual(self.stage.saved()[0]["coverUrl"], f"{self.stage.origin.base}/covers/1.jpg")

    def test_a_picture_an_address_or_a_text_dropped_beside_the_covers_opens_the_form_or_brings_what_can_be_dropped(self):
        page = self.begin()
        drop = """
            const transfer = new DataTransfer();
            transfer.setData('text/plain', arguments[1]);
            return ['dragover', 'drop'].map((kind) => !$(arguments[0]).dispatchEvent(
                new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer})));"""
        self.assertEqual(page.run(drop, "#search", "some words"), [False, False], "the field takes them itself")
        self.assertEqual(page.run(drop, "main", "some words"), [True, True])
        page.status("a list of albums")
        for name, kind in (("notes.pdf", "application/pdf"), ("folder", "")):
            page.run(DROP, "#facts", "api/state", name, kind)
            page.status(f"“{name}” is neither a picture nor a list")
        page.run(DROP, "#covers [aria-selected=true]", "api/state", "text.jpg", "image/jpeg")
        page.status("isn’t a picture")
        self.assertFalse(page.value("$('#album-dialog').open"))
        page.run(drop, "main", " https://a.invalid/1.jpg\n")
        page.wait("$('#album-dialog').open", what="the form")
        self.assertEqual(page.value("$('#album-dialog [name=coverUrl]').value"), "https://a.invalid/1.jpg")
        page.cancel()
        page.run(DROP, "#facts", page.value(SHOWN), "beside.jpg", "image/jpeg")
        page.wait(MODAL, what="the form").type("#album-dialog [name=title]", "Beside")
        page.wait("$('#picture-name').textContent.endsWith('beside.jpg')", what="the file's name")
        page.run(DROP, "#album-dialog form", "api/state", "text.txt", "text/plain")
        page.click("#album-save").tells("#album-error", "isn’t a picture")
        self.assertEqual(len(self.stage.saved()), 3)
        page.run(DROP, "#album-dialog form", page.value(SHOWN), "form.jpg", "image/jpeg")
        page.wait("$('#picture-name').textContent.endsWith('form.jpg')", what="the other file's name")
        page.save().status("Added “Beside”")
        self.own_address(3)

    def test_a_wide_picture_is_shown_whole_among_the_covers(self):
        page = self.begin()
        wide = self.stage.folder / "wide.svg"
        wide.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300"><rect width="900" height="300" fill="#246"/></svg>')
        page.edit().choose_picture(wide).save().status("Edited “Album 00001”")
        page.until("$$('#covers [data-state=ready] img').map((image) => image.clientWidth / image.clientHeight).join() === '3,1,1'",
                   what="the wide picture to have its own shape, and the others to fill the square")
        page.wait("$('#picture [data-field=pixels]').textContent.startsWith('size unknown · SVG ·')", what="that the size of an SVG is not known")

    def test_a_release_id_or_a_pasted_address_of_musicbrainz_is_taken_as_a_release(self):
        page = self.gallery_of(self.stage.albums(1), "--cover-art-archive", self.stage.origin.base)
        for text, field in ((ID, "musicBrainzReleaseId"), (f"musicbrainz.org/release-group/{ID}", "musicBrainzReleaseGroupId")):
            count = len(self.stage.saved())
            page.edit("#add").type("#album-dialog [name=title]", "Found").type("#album-dialog [name=coverUrl]", text).save()
            page.size(count + 1)
            album = self.stage.saved()[-1]
            self.assertEqual((album.get("coverUrl"), album[field]), (None, ID))
        page.wait_for_place(3)
        page.edit()
        self.assertEqual(page.value("$('#album-dialog [name=coverUrl]').value"), f"https://musicbrainz.org/release-group/{ID}")
