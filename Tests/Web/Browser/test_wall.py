"""The wall of covers: rows that scroll, the size of the covers, the keys, the rail."""
import inputs
from case import GalleryTest
from page import SEEN

BOXES = f"const seen = {SEEN};" """
    return $$('#wall .cover').map((cover) => {
        const {left, top, right, bottom} = cover.getBoundingClientRect();
        return {place: Number(cover.ariaPosInSet), left, top, right, bottom};
    }).filter(({top, bottom}) => bottom > seen.top && top < seen.bottom).sort((one, other) => one.place - other.place);"""


class Wall(GalleryTest):
    motion = True

    def columns(self, page):
        boxes = page.run(BOXES)
        return sum(abs(box["top"] - boxes[0]["top"]) < 1 for box in boxes)

    def test_the_same_keys_choose_along_and_across_rows_and_the_chosen_album_is_marked_and_stays_in_view(self):
        page = self.gallery(60).wall()
        page.run("document.activeElement.blur()")
        page.press("Delete")  # Nothing is deleted unless it is marked.
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["of"], 60)
        self.assertEqual(page.value("getComputedStyle($('#wall [aria-selected=true]')).outlineStyle"), "solid", "keys mark what they choose")
        page.focus_covers()
        columns = self.columns(page)
        self.assertGreater(columns, 3)
        for key, place in (("Left", 1), ("Right", 2), ("Down", 2 + columns), ("Left", 1 + columns), ("Up", 1), ("Up", 1), ("End", 60), ("Down", 60), ("Home", 1),
                           ("Page_Down", None)):
            page.press(key)
            if place:
                self.assertEqual(page.wait_for_place(place)["of"], 60, key)
            else:
                page.wait("Number($('#wall [aria-selected=true]').ariaPosInSet) > arguments[0]", columns, what="another row")
            box, seen = page.box("#wall [aria-selected=true]"), page.value(SEEN)
            self.assertTrue(seen["top"] <= box["top"] and box["bottom"] <= seen["bottom"], key)
        page.press("Home").press("Delete").size(59)
        page.press("Control", "z").size(60).wait_for_place(1)
        page.settled()

    def test_covers_fill_the_width_in_even_rows_at_every_size_and_the_chosen_one_keeps_its_place(self):
        page = self.shared_gallery(300).wall().focus_covers()
        for _ in range(9):
            page.press("Page_Down")
        page.rest()
        top = "$('#wall [aria-selected=true]').getBoundingClientRect().top"
        before = page.value(top)
        page.tile("Small").rest()
        self.assertLess(abs(page.value(top) - before), 3)
        for width, height in ((320, 568), (390, 844), (768, 1024), (1280, 800), (1920, 1080)):
            inputs.screen(page.browser, width, height)
            for size in ("Small", "Large"):
                page.tile(size).rest()
                boxes, columns = page.run(BOXES), self.columns(page)
                left, right = page.run("const wall = $('#wall'), {left} = wall.getBoundingClientRect(); return [left, left + wall.clientWidth]")
                self.assertTrue(all(left <= box["left"] and box["right"] <= right for box in boxes), f"{width}: {boxes}")
                edge = 16 if width < 600 else 24 if width < 1100 else 32
                self.assertLess(right - boxes[columns - 1]["right"], edge + columns + 1, f"{width}, {size}: the row is not full")
                # One row beyond each edge, one of which the gap alone is seen, and the chosen cover.
                rows = len({box["top"] for box in boxes}) + 3
                self.assertLessEqual(page.value("$$('#wall .cover').length"), rows * columns + 1, f"{width}, {size}")
                for one, other in zip(boxes, boxes[1:]):
                    self.assertTrue(one["right"] < other["left"] or one["bottom"] < other["top"], f"{width}, {size}: they overlap")
            self.assertLessEqual(page.value("document.scrollingElement.scrollWidth"), width)
            self.screenshot(f"wall-{width}")
        for width, height in ((2560, 1440), (3840, 2160), (1280, 800)):
            inputs.screen(page.browser, width, height)
            columns = []
            for size in ("Small", "Medium", "Large"):
                page.tile(size).rest()
                columns.append(self.columns(page))
            self.assertEqual(columns, [(width - 15 - 64 + 24) // (least + 24) for least in (88, 152, 240)], f"{width}: each is another size on a large screen")
        page.all_ready()

    CAPTION = """
        ['::before', '::after'].map((part) => getComputedStyle($(arguments[0]), part))
            .map(({content, textOverflow, whiteSpace}) => content === 'none' ? null : [content.slice(1, -1), textOverflow, whiteSpace])"""

    def test_covers_have_captions_of_two_lines_that_follow_the_order_and_small_ones_while_they_are_hovered_or_chosen_by_keys(self):
        page = self.shared_gallery(12).wall().settled()
        second, chosen = "#wall [aria-posinset='2']", "#wall [aria-selected=true]"
        album = [["Album 00002", "ellipsis", "nowrap"], ["Artist 14", "ellipsis", "nowrap"]]
        self.assertEqual(page.value(self.CAPTION, second), album)
        self.assertEqual(page.value("[$(arguments[0]).title, $(arguments[0]).ariaLabel]", second), ["Album 00002, Artist 14"] * 2)
        box, next_row = page.box(second), page.box(f"#wall [aria-posinset='{2 + self.columns(page)}']")
        self.assertGreater(next_row["top"] - box["bottom"], 40, "room for both lines")
        page.tile("Small").settled()
        inputs.pointer(page.browser, "mouse", (5, 5))
        self.assertEqual(page.value(self.CAPTION, second), [None, None])
        inputs.pointer(page.browser, "mouse", page.middle_of(second))
        self.assertEqual(page.value(self.CAPTION, second), album)
        inputs.pointer(page.browser, "mouse", (5, 5))
        page.focus_covers().press("Right").wait_for_place(2)
        self.assertEqual(page.value(self.CAPTION, chosen), album)
        page.tile("Medium")
        line = """
            (() => { const cover = $('#wall .cover'), after = getComputedStyle(cover, '::after');
                return ['artist', 'year', 'genre'].find((each) => after.content === JSON.stringify(cover.dataset[each])); })()"""
        for order, expected in (("library", "artist"), ("year", "year"), ("genre", "genre"), ("title", "artist")):
            page.sort(order).wait(f"{line} === {expected!r}", what=f"the {expected} by {order}")
        page.run("location.hash = '#/artist/' + encodeURIComponent($('#wall .cover').dataset.artist) + '?view=wall'")
        page.wait(f"{line} === 'year'", what="the year on an artist's page")
        lines = page.run("""
            return ['::before', '::after'].map((part) => getComputedStyle($('#wall .cover'), part))
                .map(({overflowY, lineHeight, fontSize}) => [overflowY, parseFloat(lineHeight) / parseFloat(fontSize)]);""")
        self.assertEqual(lines, [["visible", 1.5]] * 2, "they are not cut")
        self.assertGreaterEqual(page.value("parseFloat($('#wall').style.getPropertyValue('--caption'))"), 8 + 2 * 1.5 * 13)

    def test_a_phone_loads_small_pictures_in_three_columns_and_its_height_changes_none_when_it_is_turned(self):
        page = self.shared_gallery(40)
        inputs.phone(page.browser)
        page.wall().settled()
        loaded = page.value("$$('#wall .picture').map((each) => each.currentSrc.split('w=')[1]).filter(Boolean)")
        # A larger picture that the browser has of the row is used again.
        self.assertLessEqual(sum(step != "300" for step in loaded), 7, loaded)
        self.assertEqual(self.columns(page), 3)
        for height in (390, 844):
            inputs.screen(page.browser, 844, height, 3, True)
            page.rest()
            self.assertEqual(self.columns(page), 4)
            self.assertTrue(page.value("$('#wall').matches('.captioned')"))


class Places(GalleryTest):
    """The rail, the heads, and letters that are typed."""

    def shared(self):
        albums = self.common.albums(60)
        for album, artist in zip(albums, ("Émile", "Zoë", "Wren", "Wolf Hall", "Ada", "12 Moons", "эхо") * 9):
            album["artist"] = artist
        albums[40]["title"] = "Window"
        return albums

    def begin(self):
        return self.open().wall().focus_covers().rest()

    def pause(self, page):
        page.wait("!$('main').dataset.typed", what="the pause")

    def chosen_artist(self, page):
        page.rest()
        return page.text("#chosen-artist")

    def test_the_rail_has_the_letters_or_decades_of_the_order_and_the_head_in_force_is_that_of_the_first_cover_in_view(self):
        page = self.begin()
        self.assertFalse(page.visible("#rail"), "as added")
        page.sort("artist")
        self.assertEqual(page.text("#rail").split("\n"), ["#", "A", "E", "W", "Z", "Э"])
        box = page.box("#rail")
        inputs.click(page.browser, box["left"] + box["width"] / 2, box["top"] + box["height"] * 2.5 / 6)
        self.assertEqual(self.chosen_artist(page), "Émile")
        page.focus("#rail").press("Down")
        self.assertEqual(self.chosen_artist(page), "Wolf Hall")
        self.assertEqual(page.value("$('#rail').getAttribute('aria-valuetext')"), "W")
        # Where the chosen album is out of view, the rail marks the place of the view.
        for top, letter in ((1e6, "Э"), (0, "#")):
            page.scroll(top).wait("$('#rail').getAttribute('aria-valuetext') === arguments[0]", letter, what=f"{letter} on the rail")
        for width, height in ((390, 844), (1280, 600)):
            inputs.screen(page.browser, width, height)
            for top in (0, 350, 700):
                page.scroll(top)
                head, artist = page.run(f"const {{top}} = {SEEN};" """
                    const box = (each) => each.getBoundingClientRect();
                    const heads = $$('.group p').sort((one, other) => box(one).top - box(other).top);
                    const head = heads.findLast((each) => box(each).top < top + 30);
                    const covers = $$('#wall .cover').filter((each) => box(each).bottom + 40 > box(head).bottom);
                    return [head.textContent, covers.sort((one, other) => one.ariaPosInSet - other.ariaPosInSet)[0].dataset.artist];""")
                self.assertEqual(head, {"É": "E", "1": "#", "э": "Э"}.get(artist[0], artist[0]), (width, top))
        page.sort("year")
        self.assertIn("50\n60", page.text("#rail"))

    def test_typing_letters_goes_to_the_album_that_begins_with_them_in_both_views_but_not_on_a_button_or_in_a_field(self):
        page = self.begin().sort("artist").press("Home").press("w")
        self.assertEqual(self.chosen_artist(page), "Wolf Hall")
        self.pause(page)
        page.letters("wr")
        self.assertEqual(self.chosen_artist(page), "Wren")
        self.pause(page)
        page.press("Enter").appears("#covers").rest()
        page.letters("wi").rest()
        self.assertEqual(page.text("#chosen-title"), "Window", "a title, as no artist has these")
        page.focus("#replace").press("a")
        self.assertEqual(page.text("#chosen-title"), "Window")
        page.focus_covers().press("/").press("e")
        self.assertEqual([page.focused(), page.value("document.activeElement.value")], ["search", "e"])

    def test_names_are_in_the_order_of_their_first_word_that_is_no_article_and_letters_and_searches_find_them_by_it(self):
        albums = self.common.albums(6)
        for album, artist in zip(albums, ("Theo", "The Harbour Lights", "Gale", "Island", "harbour lights", "Die Ärzte")):
            album["artist"] = artist
        self.share(albums)
        page = self.begin().sort("artist")
        self.assertEqual(page.text("#rail").split("\n"), ["A", "G", "H", "I", "T"])
        for keys, artist in (("i", "Island"), ("h", "The Harbour Lights"), ("t", "Theo"), ("the h", "The Harbour Lights"), ("ä", "Die Ärzte")):
            page.letters(keys).reads("#chosen-artist", artist)
            self.pause(page)
        page.search("harbour").size(2)
