"""Albums, namesakes among them, and services that have some of them: what a seed makes. Which album a picture shows is known of each."""
import hashlib, os, random, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Music/Fill"))
import media, services  # noqa: E402

ARTISTS = ["Ada Pike", "Mira Stone", "The Harbour Lights", "Juno Vale", "Nils Brandt", "Oda Kemp", "Paper Lanterns", "Rufus Thorn", "Silke Ahrens",
           "Tam O'Neill", "Velvet Orchard", "Wren Castle"]
TITLES = ["Harbour", "Tin Roofs", "Rope", "Cairn", "Low Tide", "Kestrel", "Mole and Reef", "Saltmarsh", "Quiet Engines", "Lantern Road", "Nine Bridges",
          "Winter Orchard", "Copper Field", "Driftwood", "Half the Moon", "Ivory Street"]


class Album:
    """What a person may have: a number of songs of known lengths, whatever their tags say."""

    def __init__(self, number, artist, title, year, rng, has_year):
        self.number, self.artist, self.title, self.year = number, artist, title, year
        self.lengths = [rng.randrange(120_000, 340_000) for _ in range(rng.randrange(6, 9))]
        self.format = rng.choice(["flac", "mp3"])
        self.tags = {"ARTIST": artist, "ALBUMARTIST": artist, "ALBUM": title, "DATE": year if has_year else None}
        #: No other album, and no other entry of a service, bears the name.
        self.is_alone = True

    def __repr__(self): return f"{self.artist}, {self.title} ({self.year})"


class World:
    def __init__(self, seed, count=44):
        rng = random.Random(f"{seed} world")
        self.albums, self.releases = [], []
        #: The album that a picture shows; None for one that no person of this world has.
        self.shows = {}
        names = [(artist, title) for artist in ARTISTS for title in TITLES]
        rng.shuffle(names)
        while len(self.albums) < count:
            artist, title = names.pop()
            many = rng.choice([1, 1, 1, 2, 3])
            years = rng.sample(range(1965, 2020, 4), many)
            group = [Album(len(self.albums) + n, artist, title, year, rng, rng.random() < 0.75) for n, year in enumerate(years)]
            self.albums += group
            for album in group: self.offer(album, rng, many == 1)
            if rng.random() < 0.3:
                # A namesake that the person does not have.
                other = Album(-1, artist, title, rng.choice([year for year in range(1966, 2020, 4) if year not in years]), rng, True)
                self.release(other, None, rng)
                for album in group: album.is_alone = False
            if many > 1:
                for album in group: album.is_alone = False

    def offer(self, album, rng, is_alone):
        chance = rng.random()
        if chance < 0.15: return
        if chance < 0.35 and is_alone:
            # Doubtful: another year, and lengths that nobody knows.
            for on in rng.choice([["d"], ["i"], ["d", "i"]]): self.release(album, album, rng, on, year=album.year + 3, hasNoLengths=True)
            album.is_alone = False
        elif chance < 0.7:
            self.release(album, album, rng, rng.choice(["d", "i", "id"]))
        else:
            # Each service has a picture of its own, both right.
            for on in ("d", "i"): self.release(album, album, rng, on)

    def release(self, album, shown, rng, on="id", **more):
        number = len(self.releases) + 1
        one = {"number": number, "group": number, "key": f"e{number}", "picture": f"p{number}", "artist": album.artist, "title": album.title,
               "year": album.year, "first": album.year, "discs": [album.lengths], "names": [f"Song {n + 1}" for n in range(len(album.lengths))],
               "type": "Album", "on": on, "side": rng.choice([320, 640]), **more}
        self.releases.append(one)
        self.shows[one["picture"]] = shown

    def key(self, url):
        """The picture at a URL of a service; None if it is not one of theirs."""
        found = re.search(r"/pictures/(e\d+)/", url or "")
        return f"p{found[1][1:]}" if found else None

    def entry(self, picture): return self.releases[int(picture[1:]) - 1]


class Services(services.Services):
    """With renditions that are as large as an entry's `side`."""

    def __init__(self, world): super().__init__(world.releases, limits=False)

    def picture(self, path):
        key, _, name = path.split("/")
        one = self.by_key[key]
        side = min(int((re.findall(r"\d+", name) + ["640"])[0]), one["side"])
        # The squares of all renditions are in the same places, as those of a photograph are.
        side -= side % 64
        return 200, {"Content-Type": "image/jpeg", "Cache-Control": "max-age=86400"}, media.picture(one["picture"], side)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def key(data):
    """What a picture shows."""
    found = media.shown(data)
    return found.pop() if len(found) == 1 else None


def is_whole(data):
    """Whether it is a picture as a service or the person has it, byte for byte."""
    return key(data) is not None and data == media.picture(key(data), media.sides(data)[0])


def digest(data): return hashlib.sha256(data).hexdigest()[:12]
