"""Doubtful covers of a fill, which a person accepts or refuses in the gallery."""
import http.server
import json
import struct
import threading

import inputs
from case import GalleryTest


def music(path, **tags):
    """A FLAC file without audio, with these tags (RFC 9639)."""
    texts = [f"{name}={value}".encode() for name, value in tags.items()]
    comment = struct.pack("<II", 0, len(texts)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)
    stream = struct.pack(">HH", 4096, 4096) + bytes(6) + bytes.fromhex("0ac442f0") + bytes(20)
    blocks = [(0, stream), (0x84, comment)]
    path.write_bytes(b"fLaC" + b"".join(bytes([kind]) + len(body).to_bytes(3, "big") + body for kind, body in blocks))


class Reviewing:
    """For tests of a `GalleryTest` that reviews covers."""

    def doubtful(self):
        """Two albums for which an imitated service has a cover of a title that differs."""
        origin = self.stage.origin.base

        class Service(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                number = 1 if "tide" in self.path.lower() else 2
                title = "Low Tides" if number == 1 else "High Waters"
                body = json.dumps({"data": [{
                    "title": title, "artist": {"name": "The Harbour Lights"}, "release_date": "1971-01-01", "nb_tracks": 9,
                    "cover_xl": f"{origin}/covers/{number}.jpg"}]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        self.addCleanup(service.server_close)
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.addCleanup(service.shutdown)
        for title in ("Low Tide", "High Water"):
            folder = self.stage.folder / "music" / title
            folder.mkdir(parents=True)
            music(folder / "1.flac", ALBUM=title, ALBUMARTIST="The Harbour Lights", ARTIST="The Harbour Lights", DATE="1971", TITLE="One", TRACKNUMBER="1",
                TRACKTOTAL="9")
        self.stage.write_library([{"title": "Other", "artist": "Nobody", "coverUrl": f"{origin}/covers/3.jpg"}])
        self.stage.run(
            "fill", self.stage.folder / "music", "--library", self.stage.library, "--source", "deezer", "--source-base",
            f"deezer=http://127.0.0.1:{service.server_port}", "--quiet", exits=(0, 3))
        self.stage.start_server()
        page = self.open()
        page.size(3)
        return page

    def review(self):
        page = self.doubtful()
        page.choose("show", "doubtful")
        page.size(2)
        return page

    def review_of_first(self):
        page = self.review()
        page.focus_covers()
        self.proposal(page, "Low Tides" if page.chosen()["name"].startswith("Low") else "High Waters")
        return page

    def proposal(self, page, name):
        """Waits until a cover of that name is seen. Returns what is said of it."""
        return page.until(
            "(({complete, naturalWidth}) => complete && naturalWidth)(document.querySelector('#proposal'))"
            " && document.querySelector('.compare').innerText.includes(arguments[0]) && document.querySelector('.compare').innerText",
            name, what=f"the cover of {name}")


class Doubtful(Reviewing, GalleryTest):
    def saved(self, title):
        return next(album.get("coverUrl", "") for album in self.stage.saved() if album["title"] == title)

    def test_a_doubtful_cover_is_shown_whole_beside_what_is_known_of_both_albums_accepted_and_refused(self):
        page = self.review()
        titles = page.run("return [...document.querySelectorAll('#covers [role=option]')].map((option) => option.ariaLabel)")
        self.assertEqual({title.split(",")[0] for title in titles}, {"Low Tide", "High Water"})
        page.focus_covers()
        page.press("l")
        self.proposal(page, "Low Tides")
        pixels = page.run("return (await createImageBitmap(await (await fetch(document.querySelector('#proposal').src)).blob())).width")
        facts = page.run("return [...document.querySelectorAll('.compare tr')].map((row) => [row.className, ...[...row.children].map((cell) => cell.textContent)])")
        self.assertEqual(facts, [
            ["", "", "Your album", "Deezer"], ["silent", "Title", "Low Tide", "Low Tides"],
            ["", "Artist", "The Harbour Lights", "The Harbour Lights"], ["", "Year", "1971", "1971"], ["", "Tracks", "9", "9"],
            ["", "Pixels", "none", f"{pixels} × {pixels}"], ["agrees", "Year agrees, 9 tracks in both"]])
        self.assertEqual(page.run("return [...document.querySelectorAll('#compared tr')].filter((row) => row.checkVisibility()).map((row) => row.dataset.field)"),
                         ["title", "pixels"], "what decides")
        self.assertGreater(pixels, 300, "the whole picture")
        self.assertTrue(page.visible(".compare [data-field=pixels]"))
        self.screenshot("doubtful")
        page.click("#accept")
        page.size(1)
        self.eventually(lambda: self.saved("Low Tide").endswith("/covers/1.jpg"), "the cover in the library")
        self.assertNotEqual(page.run("return document.activeElement.localName"), "body", "the pressed button is gone")
        self.proposal(page, "High Waters")
        for undo in (lambda: page.run("document.querySelector('#toast-action').click()"), lambda: page.press("Control", "z")):
            page.click("#refuse")
            page.size(0)
            page.status("Refused the covers")
            undo()
            page.size(1)
            page.status("are back")
            self.proposal(page, "High Waters")
        page.click("#refuse")
        page.size(0)
        self.assertTrue(self.saved("Low Tide").endswith("/covers/1.jpg"), "what was accepted stays")
        page.click("#clear-filter")
        page.size(3)
        self.assertFalse(self.saved("High Water"))

    def test_an_album_without_a_cover_says_what_each_service_answered(self):
        page = self.doubtful()
        page.sort("title")
        page.focus_covers()
        page.press("l")
        page.appears("#cover-cause")
        self.assertTrue(page.run("return document.querySelector('#cover-cause p').textContent").startswith("Deezer – found"))
        self.assertEqual(page.text("#cover-cause summary"), "What each service answered")
        page.press("End")
        page.appears("#cover-cause", False)

    def test_an_album_without_an_address_says_that_a_cover_waits_for_review_and_leads_there(self):
        page = self.doubtful()
        page.sort("title")
        page.focus_covers()
        page.press("l")
        page.appears("#cover-review")
        page.until("document.querySelector('#cover-reason').textContent === '1 proposal'", what="how many")
        page.click("#cover-review")
        self.proposal(page, "Low Tides")
        self.assertEqual(page.choice("sort"), "title")
        page.click("#refuse")
        page.size(1)
        page.choose("show", "")
        page.size(3)
        page.focus_covers()
        page.press("l")
        page.until("document.querySelector('#cover-reason').textContent.startsWith('No cover yet')", what="that it was refused")
        page.appears("#cover-review", False)

    def test_the_words_and_the_table_keep_clear_of_the_picture(self):
        page = self.review_of_first()
        for width, height in ((390, 844), (820, 1180), (320, 640), (320, 200), (844, 390), (1280, 800)):
            inputs.screen(page.browser, width, height)
            page.rest()
            title, artist, picture, row = [page.box(each) for each in ("#chosen-title", "#chosen-artist", "#proposal", "#compared [data-field=title]")]
            self.assertLessEqual(max(title["bottom"], artist["bottom"]), picture["top"], (width, height))
            self.assertTrue(picture["bottom"] <= row["top"] or picture["right"] <= row["left"], (width, height))

    def test_doubtful_albums_have_a_dot_and_the_address_of_another_one_s_review_shows_that_one(self):
        page = self.doubtful()
        page.wall()
        dots = "[...document.querySelectorAll('#wall .cover')].filter((each) => getComputedStyle(each).backgroundImage.includes('radial-gradient'))"
        page.until(f"{dots}.map((each) => each.dataset.title).sort().join() === 'High Water,Low Tide'", what="the dots")
        other = page.run("return document.querySelector('#wall [data-title=Other]').dataset.id")
        page.open(f"{page.server.address}#/album/{other}?show=doubtful")
        self.assertEqual(page.text("#chosen-title"), "Other")
        self.assertFalse(page.visible("#accept"))
        page.size(3)

    def test_keys_accept_refuse_and_go_on(self):
        page = self.review()
        page.focus_covers()
        page.press("Home")
        first, second = (("Low Tide", "High Water") if page.chosen()["name"].startswith("Low") else ("High Water", "Low Tide"))
        self.proposal(page, first)
        page.press("Right")
        self.proposal(page, second)
        page.press("Left")
        self.proposal(page, first)
        page.press("Backspace")
        page.status("Refused the covers")
        page.size(1)
        self.proposal(page, second)
        page.press("Control", "z")
        page.size(2)
        self.proposal(page, first)  # the album whose covers are back
        page.focus_covers()
        page.press("Backspace")
        page.size(1)
        self.proposal(page, second)
        page.focus_covers()
        page.press("Enter")
        page.size(0)
        self.eventually(lambda: self.saved(second), "the cover in the library")
        self.assertFalse(self.saved(first))
        page.press("Control", "z")
        page.size(1)
        self.eventually(lambda: not self.saved(second), "the cover taken back")

    def test_undo_takes_a_refusal_back_that_is_still_being_made(self):
        page = self.review_of_first()
        self.stage.server.pause()
        page.press("Backspace")
        page.press("Control", "z")
        self.stage.server.resume()
        page.status("are back")
        page.size(2)

    def test_undo_takes_refusals_back_one_by_one_and_nothing_is_redone_after_one(self):
        page = self.review_of_first()
        page.press("Enter")
        page.size(1)
        page.press("Control", "z")
        page.size(2)
        edits = self.stage.saved()
        for size in (1, 0):
            page.click("#refuse")
            page.size(size)
        page.status("Refused the covers")
        self.assertTrue(page.run("return document.querySelector('#redo').disabled"), "it would accept what was refused")
        for size in (1, 2):
            page.press("Control", "z")
            page.size(size)
        self.assertEqual(self.stage.saved(), edits, "no edit before them was taken back")
        self.assertFalse(page.run("return document.querySelector('#redo').disabled"))
