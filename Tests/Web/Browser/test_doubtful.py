"""Doubtful covers of a fill, which a person accepts or refuses in the gallery."""
import json
import struct

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

        def answer(path):
            number, title = (1, "Low Tides") if "tide" in path.lower() else (2, "High Waters")
            return 200, json.dumps({"data": [{
                "title": title, "artist": {"name": "The Harbour Lights"}, "release_date": "1971-01-01", "nb_tracks": 9,
                "cover_xl": f"{origin}/covers/{number}.jpg"}]}).encode()

        service = self.imitate(answer)
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
        return self.open().size(3)

    def review(self):
        return self.doubtful().choose("show", "doubtful").size(2)

    def proposal(self, page, name):
        """Waits until a cover of that name is seen. Returns what is said of it."""
        return page.until(
            "(({complete, naturalWidth}) => complete && naturalWidth)($('#proposal'))"
            " && $('.compare').innerText.includes(arguments[0]) && $('.compare').innerText",
            name, what=f"the cover of {name}")


class Doubtful(Reviewing, GalleryTest):
    expected = ("Failed to load resource",)

    def saved(self, title):
        return next(album.get("coverUrl", "") for album in self.stage.saved() if album["title"] == title)

    def test_a_doubtful_cover_is_shown_whole_beside_what_is_known_of_both_albums_accepted_and_refused(self):
        page = self.review()
        self.assertEqual(set(page.titles()), {"Low Tide", "High Water"})
        page.focus_covers().press("l")
        self.proposal(page, "Low Tides")
        pixels = page.value("(await createImageBitmap(await (await fetch($('#proposal').src)).blob())).width")
        facts = page.value("$$('.compare tr').map((row) => [row.className, ...[...row.children].map((cell) => cell.textContent)])")
        self.assertEqual(facts, [
            ["", "", "Your album", "Deezer"], ["silent", "Title", "Low Tide", "Low Tides"],
            ["", "Artist", "The Harbour Lights", "The Harbour Lights"], ["", "Year", "1971", "1971"], ["", "Tracks", "9", "9"],
            ["", "Pixels", "none", f"{pixels} × {pixels}"], ["agrees", "Year agrees, 9 tracks in both"]])
        self.assertEqual(page.value("$$('#compared tr').filter((row) => row.checkVisibility()).map((row) => row.dataset.field)"),
                         ["title", "pixels"], "what decides")
        self.assertGreater(pixels, 300, "the whole picture")
        self.screenshot("doubtful")
        for width, height in ((390, 844), (820, 1180), (320, 640), (320, 200), (844, 390), (1280, 800)):
            inputs.screen(page.browser, width, height)
            page.rest()
            title, artist, picture, row = [page.box(each) for each in ("#chosen-title", "#chosen-artist", "#proposal", "#compared [data-field=title]")]
            self.assertLessEqual(max(title["bottom"], artist["bottom"]), picture["top"], (width, height))
            self.assertTrue(picture["bottom"] <= row["top"] or picture["right"] <= row["left"], (width, height))
        page.click("#accept").size(1)
        self.eventually(lambda: self.saved("Low Tide").endswith("/covers/1.jpg"), "the cover in the library")
        self.assertNotEqual(page.value("document.activeElement.localName"), "body", "the pressed button is gone")
        self.proposal(page, "High Waters")
        for undo in (lambda: page.run("$('#toast-action').click()"), lambda: page.press("Control", "z")):
            page.click("#refuse").size(0).status("Refused the covers")
            undo()
            page.size(1).status("are back")
            self.proposal(page, "High Waters")
        page.click("#refuse").size(0)
        self.assertTrue(self.saved("Low Tide").endswith("/covers/1.jpg"), "what was accepted stays")
        page.click("#clear-filter").size(3)
        self.assertFalse(self.saved("High Water"))

    def test_an_album_with_a_doubtful_cover_has_a_dot_says_what_each_service_answered_and_leads_to_its_review(self):
        page = self.doubtful().sort("title").focus_covers().press("l").appears("#cover-cause")
        self.assertTrue(page.text("#cover-cause p").startswith("Deezer – found"))
        self.assertEqual(page.text("#cover-cause summary"), "What each service answered")
        page.press("End").appears("#cover-cause", False)
        page.wall()
        dots = "$$('#wall .cover').filter((each) => getComputedStyle(each).backgroundImage.includes('radial-gradient'))"
        page.wait(f"{dots}.map((each) => each.dataset.title).sort().join() === 'High Water,Low Tide'", what="the dots")
        other = page.value("$('#wall [data-title=Other]').dataset.id")
        # The address of another one's review shows that one.
        page.go(f"#/album/{other}?show=doubtful&sort=title")
        self.assertEqual(page.text("#chosen-title"), "Other")
        self.assertFalse(page.visible("#accept"))
        page.size(3)
        page.focus_covers().press("l").appears("#cover-review").reads("#cover-reason", "1 proposal")
        page.click("#cover-review")
        self.proposal(page, "Low Tides")
        self.assertEqual(page.choice("sort"), "title")
        page.click("#refuse").size(1)
        page.choose("show", "").size(3)
        page.focus_covers().press("l").tells("#cover-reason", "No cover yet").appears("#cover-review", False)

    def test_keys_accept_refuse_and_go_on(self):
        page = self.review().focus_covers().press("Home")
        first, second = (("Low Tide", "High Water") if page.chosen()["name"].startswith("Low") else ("High Water", "Low Tide"))
        self.proposal(page, first)
        for keys, size, name in ((["Right"], 2, second), (["Left"], 2, first), (["Backspace"], 1, second), (["Control", "z"], 2, first), (["Backspace"], 1, second)):
            page.focus_covers().press(*keys).size(size)
            self.proposal(page, name)
        page.focus_covers().press("Enter").size(0)
        self.eventually(lambda: self.saved(second), "the cover in the library")
        self.assertFalse(self.saved(first))
        page.press("Control", "z").size(1)
        self.eventually(lambda: not self.saved(second), "the cover taken back")

    def test_undo_takes_refusals_back_one_by_one_also_one_that_is_still_being_made_and_nothing_is_redone_after_one(self):
        page = self.review().focus_covers()
        # Before a cover is shown there is nothing to accept or to refuse.
        shown = lambda: self.proposal(page, page.chosen()["name"].split(",")[0])
        shown()
        self.stage.server.pause()
        page.press("Backspace").press("Control", "z")
        self.stage.server.resume()
        page.status("are back").size(2)
        shown()
        page.focus_covers().press("Enter").size(1)
        page.press("Control", "z").size(2)
        edits = self.stage.saved()
        for size in (1, 0):
            shown()
            page.click("#refuse").size(size)
        page.status("Refused the covers")
        self.assertTrue(page.value("$('#redo').disabled"), "it would accept what was refused")
        for size in (1, 2):
            page.press("Control", "z").size(size)
        self.assertEqual(self.stage.saved(), edits, "no edit before them was taken back")
        self.assertFalse(page.value("$('#redo').disabled"))

    def test_what_could_not_be_asked_for_is_asked_for_again_once_the_server_is_back(self):
        page = self.review().focus_covers().press("Home")
        self.proposal(page, page.chosen()["name"].split(",")[0])
        page.browser.cdp("Network.enable")
        page.browser.cdp("Network.setBlockedURLs", urls=["*/api/doubtful/*"])
        self.addCleanup(page.browser.cdp, "Network.setBlockedURLs", urls=[])
        page.press("Right").wait("$('#proposal').hidden && $('#refuse').disabled")
        page.browser.cdp("Network.setBlockedURLs", urls=[])
        self.stage.server.close()
        page.appears("#offline")
        self.stage.start_server()
        self.proposal(page, page.chosen()["name"].split(",")[0])
