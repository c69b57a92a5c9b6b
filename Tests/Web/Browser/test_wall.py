"""The wall of covers: rows that scroll, the size of the covers, the keys, the address."""
import inputs
from case import GalleryTest

BOXES = """
    const all = document.querySelector('#wall').getBoundingClientRect();
    return [...document.querySelectorAll('#wall .cover')].map((cover) => {
        const {left, top, right, bottom} = cover.getBoundingClientRect();
        return {place: Number(cover.ariaPosInSet), left, top, right, bottom};
    }).filter(({top, bottom}) => bottom > all.top && top < all.bottom).sort((one, other) => one.place - other.place);"""


class Wall(GalleryTest):
    motion = True

    def begin(self, count=60):
        page = self.shared_gallery(count).wall()
        page.focus_covers()
        return page

    def columns(self, page):
        boxes = page.run(BOXES)
        return sum(abs(box["top"] - boxes[0]["top"]) < 1 for box in boxes)

    def test_ten_thousand_albums_take_few_elements_and_little_time_a_frame(self):
        page = self.shared_gallery(10_000, warm=False).wall()
        page.covers_settle()
        self.assertLess(page.run("return document.querySelectorAll('*').length"), 450)
        spent = self.seconds("""
            for (let frame = 0; frame < 60; frame++) {
                document.querySelector('#wall').scrollTop += 40;
                await new Promise((resolve) => requestAnimationFrame(resolve));
            }""")
        self.assertLess(spent / 60, 0.017, "seconds of the processor a frame")
        self.assertLess(page.run("return document.querySelectorAll('*').length"), 450)
        page.focus_covers()
        page.press("End")
        self.assertIn("Album 10000", page.wait_for_place(10_000)["name"])
        page.covers_settle()
        self.assertLess(page.run("return document.querySelectorAll('*').length"), 450)

    def test_a_jump_reuses_the_covers_where_they_are_and_gives_none_but_the_chosen_one_its_own_place(self):
        page = self.gallery(2_000, warm=False).wall()
        page.covers_settle()
        covers, moved, placed = page.run("""
            const wall = document.querySelector('#wall'), frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            wall.scrollTop = wall.scrollHeight / 3;
            await frames();
            const observer = new MutationObserver(() => {});
            observer.observe(wall, {subtree: true, childList: true});
            wall.scrollTop *= 2;
            await frames();
            const moved = observer.takeRecords().flatMap(({addedNodes}) => [...addedNodes]).filter(({classList}) => classList?.contains('cover'));
            const covers = [...wall.querySelectorAll('.cover')];
            return [covers.length, moved.length, covers.filter((each) => each.style.transform && each.ariaSelected !== 'true').length];""")
        self.assertGreater(covers, 20)
        self.assertLess(moved, covers / 2, "a row more or less")
        self.assertEqual(placed, 0)

    def test_the_same_keys_choose_along_and_across_rows_and_the_chosen_album_stays_in_view(self):
        page = self.gallery(60).wall()
        page.focus_covers()
        columns = self.columns(page)
        self.assertGreater(columns, 3)
        for key, place in (("Right", 2), ("Down", 2 + columns), ("Left", 1 + columns), ("Up", 1), ("Up", 1), ("End", 60), ("Down", 60), ("Home", 1)):
            page.press(key)
            self.assertEqual(page.wait_for_place(place)["of"], 60, key)
            self.assert_in_view(page, key)
        page.press("Page_Down")
        page.until("Number(document.querySelector('#wall [aria-selected=true]').ariaPosInSet) > arguments[0]", columns)
        self.assert_in_view(page, "Page_Down")
        page.press("Home")
        page.press("Delete")
        page.size(59)
        page.press("Control", "z")
        page.size(60)
        page.wait_for_place(1)
        page.covers_settle()

    def assert_in_view(self, page, key):
        box, around = page.box("#wall [aria-selected=true]"), page.box("#wall")
        self.assertTrue(around["top"] <= box["top"] and box["bottom"] <= around["bottom"], key)

    def test_covers_fill_the_width_in_even_rows_at_every_size_and_the_chosen_one_keeps_its_place(self):
        page = self.begin(300)
        for _ in range(9):
            page.press("Page_Down")
        page.rest()
        top = "return document.querySelector('#wall [aria-selected=true]').getBoundingClientRect().top"
        before = page.run(top)
        page.tile("Small")
        page.rest()
        self.assertLess(abs(page.run(top) - before), 3)
        for width, height in ((320, 568), (390, 844), (768, 1024), (1280, 800), (1920, 1080)):
            inputs.screen(page.browser, width, height)
            for size in ("Small", "Large"):
                page.tile(size)
                page.rest()
                boxes, columns = page.run(BOXES), self.columns(page)
                left, right = page.run("const wall = document.querySelector('#wall'), {left} = wall.getBoundingClientRect();"
                                       "return [left, left + wall.clientWidth]")
                self.assertTrue(all(left <= box["left"] and box["right"] <= right for box in boxes), f"{width}: {boxes}")
                edge = 8 if width < 600 else 16 if width < 1100 else 24
                self.assertLess(right - boxes[columns - 1]["right"], edge + columns + 1, f"{width}, {size}: the row is not full")
                # One row beyond each edge, one of which the gap alone is seen, and the chosen cover.
                rows = len({box["top"] for box in boxes}) + 3
                self.assertLessEqual(page.run("return document.querySelectorAll('#wall .cover').length"), rows * columns + 1, f"{width}, {size}")
                for one, other in zip(boxes, boxes[1:]):
                    self.assertTrue(one["right"] < other["left"] or one["bottom"] < other["top"], f"{width}, {size}: they overlap")
            self.assertEqual(page.run("return [document.scrollingElement.scrollWidth, document.scrollingElement.scrollHeight]"), [width, height])
            self.screenshot(f"wall-{width}")

    def test_each_of_the_three_sizes_is_another_one_on_a_large_screen(self):
        page = self.begin(300)
        for width, height in ((2560, 1440), (3840, 2160), (1280, 800)):
            inputs.screen(page.browser, width, height)
            page.rest()
            columns = []
            for size in ("Small", "Medium", "Large"):
                page.tile(size)
                page.rest()
                columns.append(self.columns(page))
            self.assertEqual(columns, [(width - 47) // (least + 24) for least in (88, 152, 240)], width)
        self.assertEqual(set(page.covers_settle().values()), {"ready"})

    CAPTION = """
        const cover = document.querySelector(arguments[0]);
        return ['::before', '::after'].map((part) => getComputedStyle(cover, part))
            .map(({content, textOverflow, whiteSpace}) => content === 'none' ? null : [content.slice(1, -1), textOverflow, whiteSpace]);"""

    def test_covers_have_captions_of_two_lines_and_small_ones_while_they_are_hovered_or_chosen_by_keys(self):
        page = self.begin(12)
        page.covers_settle()
        second, chosen = "#wall [aria-posinset='2']", "#wall [aria-selected=true]"
        album = [["Album 00002", "ellipsis", "nowrap"], ["Artist 14", "ellipsis", "nowrap"]]
        self.assertEqual(page.run(self.CAPTION, second), album)
        self.assertEqual(page.run("const {title, ariaLabel} = document.querySelector(arguments[0]); return [title, ariaLabel]", second),
                         ["Album 00002, Artist 14"] * 2)
        box, next_row = page.box(second), page.box(f"#wall [aria-posinset='{2 + self.columns(page)}']")
        self.assertGreater(next_row["top"] - box["bottom"], 40, "room for both lines")
        page.tile("Small")
        page.rest()
        page.covers_settle()
        inputs.pointer(page.browser, "mouse", (5, 5))
        self.assertEqual(page.run(self.CAPTION, second), [None, None])
        inputs.pointer(page.browser, "mouse", page.middle_of(second))
        self.assertEqual(page.run(self.CAPTION, second), album)
        inputs.pointer(page.browser, "mouse", (5, 5))
        page.focus_covers()
        page.press("Right")
        page.wait_for_place(2)
        self.assertEqual(page.run(self.CAPTION, chosen), album)

    def test_a_phone_loads_small_pictures_in_three_columns_and_its_height_changes_none_when_it_is_turned(self):
        page = self.shared_gallery(40)
        inputs.phone(page.browser)
        page.wall()
        page.rest()
        page.covers_settle()
        loaded = page.run("return [...document.querySelectorAll('#wall .picture')].map((each) => each.currentSrc.split('w=')[1]).filter(Boolean)")
        # A larger picture that the browser has of the row is used again.
        self.assertLessEqual(sum(step != "300" for step in loaded), 7, loaded)
        self.assertEqual(self.columns(page), 3)
        for height in (390, 844):
            inputs.screen(page.browser, 844, height, 3, True)
            page.rest()
            self.assertEqual(self.columns(page), 4)
            self.assertTrue(page.run("return document.querySelector('#wall').matches('.captioned')"))

    def test_nothing_is_deleted_on_the_wall_unless_it_is_marked(self):
        page = self.begin(6)
        page.run("document.activeElement.blur()")
        page.press("Delete")
        page.press("Right")
        self.assertEqual(page.wait_for_place(2)["of"], 6)
        outline = page.run("return getComputedStyle(document.querySelector('#wall [aria-selected=true]')).outlineStyle")
        self.assertEqual(outline, "solid", "keys mark what they choose")

    def test_the_view_the_place_and_the_size_are_remembered(self):
        page = self.begin()
        page.sort("artist")
        page.tile("Small")
        page.press("Page_Down")
        page.rest()
        before, columns = page.chosen(), self.columns(page)
        page.remembered()
        page.leave()
        page.open(page.server.address)
        page.rest()
        self.assertEqual(page.chosen(), before)
        self.assertEqual(self.columns(page), columns)
        self.assertFalse(page.run("return document.querySelector('#wall').hidden"))

    def test_the_address_leads_to_the_place_in_another_browser_and_the_back_button_returns(self):
        page = self.begin()
        page.sort("title")
        page.press("Down")
        chosen = page.chosen()
        page.until("location.hash.includes(arguments[0])", chosen["id"], what="the album in the address")
        address = page.run("return location.href")
        page.press("Enter")
        page.appears("#covers")
        page.run("history.back()")
        page.until("!document.querySelector('#wall').hidden", what="the wall again")
        self.assertEqual(page.wait_for_place(chosen["place"]), chosen)
        other = self.open(self.other_browser())
        other.leave()
        other.open(address)
        self.assertEqual(other.wait_for_place(chosen["place"]), chosen)
        self.assertFalse(other.run("return document.querySelector('#wall').hidden"))


class Places(GalleryTest):
    """The rail, and letters that are typed."""

    def shared(self):
        albums = self.common.albums(60)
        for album, artist in zip(albums, ("Émile", "Zoë", "Wren", "Wolf Hall", "Ada", "12 Moons", "эхо") * 9):
            album["artist"] = artist
        albums[40]["title"] = "Window"
        return albums

    def begin(self):
        page = self.open().wall()
        page.focus_covers()
        page.rest()
        return page

    def chosen_artist(self, page):
        page.rest()
        return page.text("#chosen-artist")

    def test_the_rail_has_the_letters_or_decades_of_the_order(self):
        page = self.begin()
        self.assertFalse(page.visible("#rail"), "as added")
        page.sort("artist")
        self.assertEqual(page.run("return document.querySelector('#rail').textContent.split('\\n')"), ["#", "A", "E", "W", "Z", "Э"])
        box = page.box("#rail")
        inputs.click(page.browser, box["left"] + box["width"] / 2, box["top"] + box["height"] * 2.5 / 6)
        self.assertEqual(self.chosen_artist(page), "Émile")
        page.focus("#rail")
        page.press("Down")
        self.assertEqual(self.chosen_artist(page), "Wolf Hall")
        self.assertEqual(page.run("return document.querySelector('#rail').getAttribute('aria-valuetext')"), "W")
        # Where the chosen album is out of view, the rail marks the place of the view.
        for top, letter in ((1e6, "Э"), (0, "#")):
            page.run("document.querySelector('#wall').scrollTop = arguments[0]", top)
            page.until("document.querySelector('#rail').getAttribute('aria-valuetext') === arguments[0]", letter, what=f"{letter} on the rail")
        page.sort("year")
        self.assertIn("50\n60", page.text("#rail"))

    def test_the_head_in_force_is_that_of_the_first_cover_in_view_at_every_width(self):
        page = self.begin()
        page.sort("artist")
        for width, height in ((390, 844), (1280, 600)):
            inputs.screen(page.browser, width, height)
            for top in (0, 350, 700):
                page.run("document.querySelector('#wall').scrollTop = arguments[0]", top)
                page.rest()
                head, artist = page.run("""
                    const wall = document.querySelector('#wall').getBoundingClientRect().top, box = (each) => each.getBoundingClientRect();
                    const heads = [...document.querySelectorAll('.group p')].sort((one, other) => box(one).top - box(other).top);
                    const head = heads.findLast((each) => box(each).top < wall + 30);
                    const covers = [...document.querySelectorAll('#wall .cover')].filter((each) => box(each).bottom + 40 > box(head).bottom);
                    return [head.textContent, covers.sort((one, other) => one.ariaPosInSet - other.ariaPosInSet)[0].dataset.artist];""")
                self.assertEqual(head, {"É": "E", "1": "#", "э": "Э"}.get(artist[0], artist[0]), (width, top))

    def test_typing_letters_goes_to_the_album_that_begins_with_them_in_both_views_but_not_on_a_button_or_in_a_field(self):
        page = self.begin()
        page.sort("artist")
        page.press("Home")
        page.press("w")
        self.assertEqual(self.chosen_artist(page), "Wolf Hall")
        page.until("!document.querySelector('main').dataset.typed", what="the pause")
        page.letters("wr")
        self.assertEqual(self.chosen_artist(page), "Wren")
        page.until("!document.querySelector('main').dataset.typed", what="the pause")
        page.press("Enter")
        page.appears("#covers")
        page.rest()
        page.letters("wi")
        page.rest()
        self.assertEqual(page.text("#chosen-title"), "Window", "a title, as no artist has these")
        page.focus("#replace")
        page.press("a")
        self.assertEqual(page.text("#chosen-title"), "Window")
        page.focus_covers()
        page.press("/")
        page.press("e")
        self.assertEqual(page.run("return [document.activeElement.id, document.activeElement.value]"), ["search", "e"])


class Articles(GalleryTest):
    def shared(self):
        albums = self.common.albums(6)
        for album, artist in zip(albums, ("Theo", "The Harbour Lights", "Gale", "Island", "harbour lights", "Die Ärzte")):
            album["artist"] = artist
        return albums

    def test_names_are_in_the_order_of_their_first_word_that_is_no_article_and_letters_and_searches_find_them_by_it(self):
        page = self.open().wall()
        page.sort("artist")
        self.assertEqual(page.run("return document.querySelector('#rail').textContent.split('\\n')"), ["A", "G", "H", "I", "T"])
        page.focus_covers()
        for keys, artist in (("i", "Island"), ("h", "The Harbour Lights"), ("t", "Theo"), ("the h", "The Harbour Lights"), ("ä", "Die Ärzte")):
            page.letters(keys)
            page.until("document.querySelector('#chosen-artist').textContent === arguments[0]", artist, what=f"{keys}: {artist}")
            page.until("!document.querySelector('main').dataset.typed", what="the pause")
        page.search("harbour")
        page.size(2)
