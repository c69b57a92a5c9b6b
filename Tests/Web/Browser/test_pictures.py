"""Covers that the user gives: own pictures, dropped or chosen, and releases of MusicBrainz."""
import urllib.request

from case import GONE, GalleryTest
from page import MODAL

ID = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
SHOWN = "document.querySelector('#covers [aria-selected=true][data-state=ready] img')?.src"

# Drops a file on the element that a selector names. The file's bytes are those at an address of this origin.
DROP = """
    const bytes = await (await fetch(arguments[1])).arrayBuffer();
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], arguments[2], {type: arguments[3]}));
    for (const kind of ['dragover', 'drop']) {
        const event = new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer});
        document.querySelector(arguments[0]).dispatchEvent(event);
        if (!event.defaultPrevented) throw new Error(`the browser would handle the ${kind}`);
    }"""


class PictureTest(GalleryTest):
    def picture(self, number=77):
        """A file with a picture that no album has."""
        path = self.stage.folder / "mine.jpg"
        path.write_bytes(urllib.request.urlopen(f"{self.stage.origin.base}/covers/{number}.jpg").read())
        return path

    def begin(self, count=3):
        page = self.gallery(count)
        page.covers_settle()
        page.rest()
        return page

    def fill_title(self, page, title):
        page.until(MODAL, what="the form")
        page.type("#album-dialog [name=title]", title)

    def own_address(self, place):
        address = self.stage.saved()[place]["coverUrl"]
        self.assertRegex(address, "^https://covers.invalid/[0-9a-f]{64}$")
        return address

    def shown_bytes(self, page):
        return bytes(page.run(
            f"return [...new Uint8Array(await (await fetch({SHOWN})).arrayBuffer())]"))


class Pictures(PictureTest):
    def test_an_album_is_added_with_a_picture_file_and_its_cover_is_there_at_once(self):
        self.stage.start_origin()
        page = self.begin()
        page.click("#add")
        self.fill_title(page, "Mine")
        page.choose_picture(self.picture())
        self.screenshot("own-picture")
        page.save()
        page.status("Added “Mine”")
        page.size(4)
        page.until(SHOWN, what="the cover")
        self.own_address(3)
        self.assertEqual(self.shown_bytes(page), self.picture().read_bytes())
        # The origin is not needed, and a restart keeps the picture.
        self.expected = GONE
        page.remembered()
        self.stage.origin.close()
        self.stage.server.close()
        self.stage.start_server()
        page.reload()
        page.wait_for_place(4)
        page.until(SHOWN, what="the cover after a restart")

    def test_the_form_shows_an_own_picture_as_such_and_it_can_be_removed_and_brought_back(self):
        page = self.begin()
        page.run(DROP, "#covers [aria-selected=true]", page.run(f"return {SHOWN}"), "other.jpg", "image/jpeg")
        page.status("Edited “Album 00001”")
        own = self.own_address(0)
        page.edit()
        self.assertEqual(page.text("#picture-name"), "Your own picture")
        page.appears("#picture-preview")
        field = "document.querySelector('#album-dialog [name=coverUrl]')"
        self.assertFalse(page.run(f"return {field}.checkVisibility()"), "its address means nothing to a user")
        page.click("#picture-remove")
        self.assertTrue(page.run(f"return {field}.checkVisibility() && {field}.value === ''"))
        page.save()
        page.until("document.querySelector('#cover-reason').textContent.startsWith('No cover yet')", what="no cover")
        page.press("Control", "z")
        page.until(SHOWN, what="the picture again")
        self.assertEqual(self.own_address(0), own)

    def test_a_picture_dropped_on_a_cover_becomes_its_cover_and_undo_brings_the_former_back(self):
        page = self.begin()
        former = page.until(SHOWN)
        other = page.run("return document.querySelector(\"#covers [aria-posinset='2'] img\").src")
        page.run(DROP, "#covers [aria-posinset='1'] .picture", other, "a.jpg", "image/jpeg")
        page.status("Edited “Album 00001”")
        page.until(f"{SHOWN} && {SHOWN} !== arguments[0]", former, what="the new cover")
        page.press("Control", "z")
        page.until(f"{SHOWN} === arguments[0]", former, what="the former cover")
        self.assertEqual(self.stage.saved()[0]["coverUrl"], f"{self.stage.origin.base}/covers/1.jpg")

    def test_a_picture_dropped_beside_the_covers_opens_the_form_with_it(self):
        page = self.begin()
        page.run(DROP, "#facts", page.run(f"return {SHOWN}"), "beside.jpg", "image/jpeg")
        self.fill_title(page, "Beside")
        page.until("document.querySelector('#picture-name').textContent.endsWith('beside.jpg')", what="the file's name")
        page.run(DROP, "#album-dialog form", page.run(f"return {SHOWN}"), "form.jpg", "image/jpeg")
        page.until("document.querySelector('#picture-name').textContent.endsWith('form.jpg')", what="the other file's name")
        page.save()
        page.status("Added “Beside”")
        self.own_address(3)

    def test_a_text_dropped_on_the_page_is_an_address_or_brings_what_can_be_dropped(self):
        page = self.begin()
        drop = """
            const transfer = new DataTransfer();
            transfer.setData('text/plain', arguments[1]);
            return ['dragover', 'drop'].map((kind) => !document.querySelector(arguments[0]).dispatchEvent(
                new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer})));"""
        self.assertEqual(page.run(drop, "#search", "some words"), [False, False], "the field takes them itself")
        self.assertEqual(page.run(drop, "main", "some words"), [True, True])
        page.status("a list of albums")
        page.run(DROP, "#facts", "api/state", "notes.pdf", "application/pdf")
        page.status("“notes.pdf” is neither a picture nor a list")
        page.run(DROP, "#facts", "api/state", "folder", "")
        page.status("“folder” is neither a picture nor a list")
        self.assertFalse(page.run("return document.querySelector('#album-dialog').open"))
        page.run(drop, "main", " https://a.invalid/1.jpg\n")
        page.until("document.querySelector('#album-dialog').open", what="the form")
        self.assertEqual(page.run("return document.querySelector('#album-dialog [name=coverUrl]').value"), "https://a.invalid/1.jpg")

    def test_a_wide_picture_is_shown_whole_among_the_covers(self):
        page = self.begin()
        wide = self.stage.folder / "wide.svg"
        wide.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300"><rect width="900" height="300" fill="#246"/></svg>')
        page.edit()
        page.choose_picture(wide)
        page.save()
        page.status("Edited “Album 00001”")
        shapes = "[...document.querySelectorAll('#covers [data-state=ready] img')].map((image) => image.clientWidth / image.clientHeight).join()"
        page.until(f"{shapes} === '3,1,1'", what="the wide picture to have its own shape, and the others to fill the square")
        page.until("document.querySelector('#picture [data-field=pixels]').textContent.startsWith('size unknown · SVG ·')", what="that the size of an SVG is not known")

    def test_the_empty_page_says_where_covers_come_from(self):
        page = self.shared_gallery(0)
        self.assertIn("a folder of music", page.run("return document.querySelector('#empty').innerText"))
        self.screenshot("empty")


class Refused(PictureTest):
    expected = ("422",)

    def test_a_file_that_is_no_picture_is_refused_at_the_form_and_on_a_cover(self):
        page = self.begin()
        page.run(DROP, "#covers [aria-selected=true]", "api/state", "text.jpg", "image/jpeg")
        page.status("isn’t a picture")
        page.click("#add")
        self.fill_title(page, "Wrong")
        page.run(DROP, "#album-dialog form", "api/state", "text.txt", "text/plain")
        page.click("#album-save")
        page.until("document.querySelector('#album-error').textContent.includes('isn’t a picture')", what="the error")
        self.assertEqual(len(self.stage.saved()), 3)


class Releases(GalleryTest):
    def test_a_release_id_or_a_pasted_address_of_musicbrainz_is_taken_as_a_release(self):
        self.stage.serve(self.stage.albums(1), "--cover-art-archive", self.stage.origin.base)
        page = self.open()
        for text, field in ((ID, "musicBrainzReleaseId"), (f"musicbrainz.org/release-group/{ID}", "musicBrainzReleaseGroupId")):
            count = len(self.stage.saved())
            page.edit("#add")
            page.type("#album-dialog [name=title]", "Found")
            page.type("#album-dialog [name=coverUrl]", text)
            page.save()
            page.size(count + 1)
            album = self.stage.saved()[-1]
            self.assertEqual((album.get("coverUrl"), album[field]), (None, ID))
        page.wait_for_place(3)
        page.edit()
        self.assertEqual(
            page.run("return document.querySelector('#album-dialog [name=coverUrl]').value"),
            f"https://musicbrainz.org/release-group/{ID}")
