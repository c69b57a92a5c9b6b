"""The world of pictures: each service has entries of its own, whose facts deviate, with artworks in its own sizes and codings (`artwork`).

A third of the albums has a picture in the tags, a few of them another album's. Kinds are named by what searches find beside the album, or by
what services show instead of its artwork.
"""
import artwork

HOLDS = {"mc": .72, "m": .1, "i": .72, "d": .75}
KINDS = {}


def kind(part):
    """- part: of a hundred albums."""
    def note(function):
        KINDS[function.__name__.replace("_", " ")] = function, part
        return function
    return note


def make(world, count, arePoor=False):
    for name, (function, part) in KINDS.items():
        world.kind = name
        # Folders are shared out among fills; the albums that have one placeholder need one fill.
        number = max(round(count * part / 100), 3)
        for n in range(number): function(Album(world, f"{name}" if name == "placeholder" else f"{name} {n // 8 + 1}", arePoor), n)


class Album:
    """One album: what services have of it and of its neighbours, and its files."""

    def __init__(self, world, top, arePoor):
        self.world, self.random, self.top, self.arePoor = world, world.random, top, arePoor
        self.artist, self.title, self.year = world.artist(), world.title(), world.year()
        self.lengths = world.lengths(self.random.randint(8, 14))
        self.art = f"a{len(world.albums) + 1}x{len(world.releases)}"
        self.neighbours = []
        if self.does(.5): self.entries(title=world.title(), year=world.year(), lengths=world.lengths(11), art=self.other())

    def does(self, part): return self.random.random() < part
    def other(self): return f"o{self.random.randrange(10 ** 9)}"
    def near(self, year, least, most): return min(year + self.random.randint(least, most) * self.random.choice([-1, 1]), 2024)
    def misspelt(self, title): return title[:3] + title[4:]

    # ---- Services

    def entries(self, title=None, year=None, lengths=None, art=None, *, holds=HOLDS, arts={}, group=None, type="Album", isTrue=False):
        """What services say of an album. `arts`: what some of them show instead. - Returns: Where it is, by the services' first letters."""
        asked = self.title if title is None else title, year or self.year, lengths or self.lengths, art or self.art
        found, isAtMusicBrainz = {}, False
        for on, part in holds.items():
            if not self.does(part) or on == "m" and isAtMusicBrainz: continue
            isAtMusicBrainz = isAtMusicBrainz or on[0] == "m"
            picture = arts.get(on[-1], asked[3])
            said = {"artist": self.artist, "title": asked[0], "year": asked[1], "lengths": asked[2], "hasNoLengths": False, "hasNoYear": False}
            if not isTrue: self.deviate(said, on)
            found[on[-1]] = self.world.release(
                said["artist"], said["title"], said["year"], said["lengths"], on, group if on[0] == "m" else None, picture=picture, type=type,
                hasNoLengths=said["hasNoLengths"], hasNoYear=said["hasNoYear"])
        return found

    def deviate(self, said, on):
        """One service's own words for it."""
        if self.does(.08 if on[0] == "m" else .14): said["year"] = self.near(said["year"], 2, 12)
        elif self.does(.06): said["year"] = self.near(said["year"], 1, 1)
        elif self.does(.08 if on[0] == "m" else .03): said["hasNoYear"] = True
        if self.does(.05): said["lengths"] = said["lengths"] + self.world.lengths(self.random.randint(1, 3))
        elif self.does(.04): said["lengths"] = [length + 7_500 for length in said["lengths"]]
        elif self.does(.05): said["hasNoLengths"] = True
        if self.does(.05): said["title"] += self.random.choice([" (Remastered)", " (Deluxe Edition)", " (Bonus Track Version)"])
        elif self.does(.02): said["title"] = self.misspelt(said["title"])
        if self.does(.03): said["artist"] = self.random.choice([f"The {self.artist}", f"{self.artist} & {self.world.artist()}"])

    # ---- Files

    def files(self, accept=None, *, title=None, year=None, lengths=None, art=None, found=(), isTrue=False, wrong=False):
        """The album's files, whose tags deviate, too. `wrong`: a service has another's picture under the right facts."""
        w, art, title, year = self.world, art or self.art, title or self.title, year or self.year
        accept = [art] if accept is None else accept
        release = w.release(self.artist, title, year, lengths or self.lengths, "", picture=art)
        options = {"format": self.random.choice(["mp3", "mp3", "flac", "m4a"])}
        if "c" in found and self.does(.1): options["id"] = found["c"]["number"]
        if not isTrue: self.garble(options, release, title, year)
        isTrue = len(options) == 1 or list(options) == ["format", "id"]
        if self.arePoor:
            hasNumbers = self.does(.5)
            def poor(tags, number):
                tags.update(DATE=None, TRACKTOTAL=None, LENGTH=0)
                if not hasNumbers: tags.update(TRACKNUMBER=None)
            options.update(edit=poor, format="flac")
        labels, own, isLie = ["facts as they are" if isTrue else "facts that deviate"], [], bool(wrong)
        if self.does(.35):
            w.tagged = getattr(w, "tagged", 0) + 1
            isRight = w.tagged % 25 != 12
            own = [art if isRight else self.random.choice(self.neighbours + [self.other()])]
            isLie = isLie or not isRight
            labels.append("tags with its picture" if isRight else "tags with another's picture")
            data = artwork.tagged(own[0], self.random)
            options["cover"] = lambda _: data
        else:
            labels.append("tags without a picture")
        album, _ = w.album(f"{self.top}/{self.artist}/{title}", release, accept, **{"title": title, "year": year, **options})
        isNowhere = not any(entry["picture"] in accept and entry["on"] != "m" for entry in found.values()) if found else True
        album.update(own=own, labels=labels, isNowhere=isNowhere, isLie=isLie)
        return album

    def garble(self, options, release, title, year):
        edits = {}
        if self.does(.14): edits["DATE"] = None
        elif self.does(.14): options["year"] = self.near(year, 2, 12)
        elif self.does(.08): options["year"] = self.near(year, 1, 1)
        if self.does(.1): options["only"] = sorted(self.random.sample(range(len(release["names"])), len(release["names"]) * 2 // 3))
        elif self.does(.08): options["shift"] = 7_500
        elif self.does(.06): edits.update(LENGTH=0)
        if self.does(.15): edits["TRACKTOTAL"] = None
        if self.does(.05): options["title"] = f"{title} {self.random.choice(['(Remastered)', '(Deluxe Edition)', '(Special Edition)'])}"
        elif self.does(.03): options["title"] = self.misspelt(title)
        elif self.does(.04): options["title"] = f"{title} [FLAC]"
        if self.does(.03): options["artist"] = f"{self.artist} feat. {self.world.artist()}"
        if edits: options["edit"] = lambda tags, _: tags.update(edits)

    def sibling(self, title, **more):
        """Another album of the artist that searches find beside it; services err alike if they do not have the album."""
        year = self.year if self.does(.2) else self.near(self.year, *((1, 1) if self.does(.2) else (2, 9)))
        lengths = self.world.lengths(len(self.lengths) if self.does(.3) else self.random.randint(8, 14))
        self.neighbours.append(more.pop("art", None) or self.other())
        return self.entries(title, year, lengths, self.neighbours[-1], **more)


# ---- What searches find beside it

@kind(28)
def ordinary(album, n): album.files(found=album.entries())


@kind(12)
def sibling_of_a_near_title(album, n):
    word, title = album.world.word("first"), album.title
    found = album.entries()
    album.sibling([f"{title} Again", f"{title}: {word}", album.misspelt(title), f"More {title}", title][n % 5])
    album.files(found=found)


@kind(6)
def only_a_sibling(album, n):
    """No service has it, but all of them something like it."""
    word, title = album.world.word("first"), album.title
    album.sibling([f"{title} {word}", title, f"{title} (Live)", album.misspelt(title), f"{title} Again"][n % 5], holds={"mc": .9, "i": .9, "d": .9})
    album.files()


@kind(10)
def series(album, n):
    """Volumes of one design, of which services lack some."""
    title, volume = album.title, n % 3 + 1
    for other in range(1, 4):
        if other == volume: album.title, found = f"{title}, Vol. {other}", album.entries(f"{title}, Vol. {other}", art=f"{album.art}.n{other}", holds={"mc": .5, "i": .6, "d": .6})
        else: album.sibling(f"{title}, Vol. {other}", art=f"{album.art}.n{other}", holds={"mc": .85, "i": .85, "d": .85})
    album.files(found=found, art=f"{album.art}.n{volume}")


@kind(8)
def single_with_the_album_s_picture(album, n):
    songs = album.lengths
    found = album.entries(holds={"mc": .6, "i": .6, "d": .6})
    single = album.entries(lengths=songs[:2], type="Single", holds={"i": .7, "d": .7, "mc": .3})
    if n % 2: album.files(found=found)
    else: album.files(found=single, lengths=songs[:2])


@kind(9)
def reissue_with_the_same_picture(album, n):
    later = album.year + album.random.randint(8, 25)
    title = album.title if n % 2 else f"{album.title} (Remastered {later})"
    first = album.entries(holds={"mc": .6, "i": .4, "d": .4})
    again = album.entries(title, later, holds={"mc": .5, "i": .7, "d": .7}, group=first.get("c"))
    if n % 3: album.files(found={**again, **first})
    else: album.files(found={**first, **again}, title=title, year=later)


@kind(7)
def deluxe_with_a_banner(album, n):
    more, banner = album.lengths + album.world.lengths(5), f"{album.art}.banner"
    plain = album.entries(holds={"mc": .6, "i": .4, "d": .4})
    deluxe = album.entries(f"{album.title} (Deluxe Edition)", lengths=more, art=banner, holds={"mc": .4, "i": .7, "d": .7}, group=plain.get("c"))
    album.neighbours.append(album.art if n % 2 else banner)
    # The other edition's picture is wrong where there is the right one.
    if n % 2: album.files([banner] if deluxe else [banner, album.art], found=deluxe or plain, title=f"{album.title} (Deluxe Edition)", lengths=more, art=banner)
    else: album.files([album.art] if plain else [album.art, banner], found=plain or deluxe)


# ---- What services show instead

@kind(12)
def regional_artwork(album, n):
    other = album.other()
    album.files([album.art, other], found=album.entries(arts={"cid"[n % 3]: other}))


@kind(2)
def wrong_file(album, n):
    album.files(wrong=True, found=album.entries(arts={"cid"[n % 3]: album.other()}, holds={"mc": .8, "i": .8, "d": .8}))


@kind(2)
def wrong_file_at_two_services(album, n):
    wrong = album.other()
    album.files(wrong=True, found=album.entries(arts={"i": wrong, "d": wrong}, holds={"mc": .6, "i": .8, "d": .8}))


@kind(3)
def placeholder(album, n):
    """Of unrelated artists; two of three are nowhere else."""
    holds = {"d": 1} if n % 3 else {"d": 1, "i": .7, "mc": .7}
    album.files(found=album.entries(arts={"d": "placeholder.deezer"}, holds=holds, isTrue=True), isTrue=True)
