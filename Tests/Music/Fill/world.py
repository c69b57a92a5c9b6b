#!/usr/bin/env python3
"""Makes a music folder and what services know of it: `world.py FOLDER [--kind ordinary|hard|lengths|pictures|large] [--seed N] [--count N]`.

`FOLDER/music` has the albums, `FOLDER/world.json` the releases that `services.py` answers with and, for each album, which pictures are right:
- kind, name, folders (with its audio), also (folders above them that may have the cover in their place), songs
- accept: the pictures that are right; none: every picture is wrong
- own: a picture that is in its tags; labels: more rows of the table that it counts in; isNowhere: no service has its picture
- tagsOnly: its folders must get no file, as they belong to no album alone
"""
import argparse
import json
import os
import random
import unicodedata

import media

VARIOUS = "Various Artists"
WORDS = {
    "first": "Amber Cobalt Velvet Hollow Silver Winter Paper Crimson Quiet Copper Distant Golden Marble Violet Northern Rusty Wooden Electric Burning Frozen Sleepy Crooked Emerald Faded Gentle Hidden Ivory Jagged Lonely Mellow".split(),
    "second": "Foxes Harbour Lanterns Engines Orchard Parade Signals Sparrows Theatre Wolves Captains Meadow Rivers Ghosts Dancers Machines Pilots Gardens Mirrors Riders Tigers Sailors Bakers Clocks Comets Dragons Ferries Islands Kettles Ladders".split(),
    "title": "Tide Letter Morning Weather Station Country Avenue Shadow Chamber Ribbon Window Harvest Compass Thunder Anchor Blossom Canyon Diamond Evening Feather Glacier Horizon Journey Kingdom Lagoon Monsoon Nectar Outpost Prairie Quarry Riddle Summit Tunnel Umbrella Valley Whisper Yonder Zephyr Beacon Cradle".split(),
    "name": "Anna Boris Clara David Elena Felix Greta Hugo Irene Jonas Karin Leon Maria Nils Olga Paul Rita Simon Tara Viktor".split(),
    "family": "Abel Brandt Castell Dorn Engel Falk Gruber Hansen Ibsen Jansen Keller Lindt Moran Novak Olsen Petri Quist Roth Sander Thorn".split(),
}


class Kinds(dict):
    """The kinds of a world by their names: functions with it as a decorator."""

    def __call__(self, function): self[function.__name__.replace("_", " ")] = function


class World:
    def __init__(self, folder, seed):
        self.folder, self.random = folder, random.Random(seed)
        self.releases, self.albums, self.later, self.given, self.names, self.kind = [], [], [], [], set(), ""
        self.paths = set()
        # What is added to a world of other pictures does not change the rest of it.
        self.pictures = None

    # ---- Names

    def unique(self, make):
        while True:
            name = make()
            if name not in self.names:
                self.names.add(name)
                return name

    def word(self, list): return self.random.choice(WORDS[list])
    def artist(self): return self.unique(lambda: f"{self.word('first')} {self.word(self.random.choice(['second', 'title', 'family']))}")
    def person(self): return self.unique(lambda: f"{self.word('name')} {self.word('family')}")
    def title(self): return self.unique(lambda: f"{self.word('title')} {self.random.choice(['of the', 'and', 'in the', 'beyond the', 'without'])} {self.word('title')}")
    def id(self, release): return uuid("release", release["number"])
    def year(self): return self.random.randint(1965, 2018)
    def lengths(self, count): return [self.random.randint(95_000, 420_000) for _ in range(count)]

    # ---- Services

    def release(self, artist, title, year, tracks=None, on="mcid", group=None, **more):
        """What services have: `on` is of musicbrainz, caa (which needs the first), itunes, deezer. `tracks`: a number, lengths, or lists of
        those of discs. `group`: a release of the same album."""
        tracks = self.random.randint(8, 14) if tracks is None else tracks
        discs = self.lengths(tracks) if isinstance(tracks, int) else tracks
        discs = discs if isinstance(discs[0], list) else [discs]
        number = len(self.releases) + 1
        release = {
            "key": f"r{number}", "number": number, "group": group["group"] if group else number, "artist": artist, "title": title,
            "year": year, "first": min(year, group["first"]) if group else year, "discs": discs, "on": on, "type": "Album",
            "picture": self.artwork(artist, title, number), "names": [f"{self.word('title')} {self.word('title')}" for _ in sum(discs, [])], **more}
        self.releases.append(release)
        return release

    def artwork(self, artist, title, number):
        """The key of a release's picture. Where pictures count, half of an artist's titles are of the design of the one before, as in series."""
        before = self.releases[-1] if self.releases else None
        isSeries = self.pictures and before and before["artist"] == artist and before["title"] != title and self.pictures.random() < .5
        if not isSeries: return f"r{number}"
        return f"{before['picture'].split('.')[0]}.n{number}"

    # ---- Music

    def write(self, path, data):
        path = os.path.join(self.folder, "music", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def path(self, place, name, format):
        """A path of one song's own: two albums of a folder may have a track of one number and title."""
        path, copy = f"{place}/{name}.{format}", 1
        while path in self.paths: path, copy = f"{place}/{name} ({copy + 1}).{format}", copy + 1
        self.paths.add(path)
        return path

    def give(self, path, key):
        """A picture that was there before."""
        self.write(path, media.picture(key))
        self.given.append(path)

    def album(self, folder, release, accept=None, *, artist=None, albumartist="", title=None, year=None, format=None, id=False, only=None,
              shift=0, edit=None, discs=None, also=(), tagsOnly=False, cover=None, numbered=True, later=False):
        """Writes the songs of a release. `edit(tags, number)` changes those of one song; `only` names those that are there; `shift` moves lengths;
        `discs` are the names of folders; `cover(number)` is the key of the picture in its tags, or its bytes; `later`: after the first fill."""
        format = format or self.random.choice(["mp3", "mp3", "flac", "m4a", "ogg"])
        artist = release["artist"] if artist is None else artist
        songs, folders, number = {}, [], 0
        accept, own, isNowhere = [release["picture"]] if accept is None else accept, [], False
        hasPicture = self.pictures and not (cover or tagsOnly or later or release["picture"] == "placeholder")
        if hasPicture and self.pictures.random() < .35:
            import artwork
            # What services do not have, the tags have.
            accept, isNowhere = accept or [release["picture"]], not accept
            own = [accept[0] if self.pictures.random() < .96 else f"other{len(self.albums)}"]
            data = artwork.tagged(own[0], self.pictures)
            cover, format = lambda _: data, "flac" if format == "ogg" else format
        for disc, lengths in enumerate(release["discs"]):
            for track, length in enumerate(lengths):
                number += 1
                if only is not None and number - 1 not in only:
                    continue
                place = f"{folder}/{discs[disc]}" if discs else folder
                tags = {
                    "TITLE": release["names"][number - 1], "ALBUM": release["title"] if title is None else title, "ARTIST": artist,
                    "ALBUMARTIST": artist if albumartist == "" else albumartist, "DATE": release["year"] if year is None else year,
                    "TRACKNUMBER": track + 1, "TRACKTOTAL": len(lengths) if numbered else None,
                    "DISCNUMBER": disc + 1 if len(release["discs"]) > 1 else None, "LENGTH": length + shift + self.random.randint(-900, 900)}
                if id: tags["MUSICBRAINZ_ALBUMID"] = uuid("release", release["number"] if id is True else id)
                if edit: edit(tags, number)
                length = max(tags.pop("LENGTH"), 0)
                name = tags.pop("FILE", f"{disc + 1}-{track + 1:02} {tags['TITLE']}")
                path = f"{place}/{name}.{format}" if later else self.path(place, name, format)
                key = cover(number) if cover else None
                songs[path] = media.song(format, tags, length, media.picture(key) if isinstance(key, str) else key)
                if place not in folders: folders.append(place)
        if not later:
            for path, data in songs.items(): self.write(path, data)
        truth = {
            "kind": self.kind, "name": f"{artist}, {title or release['title']}", "folders": folders, "also": list(also), "songs": list(songs),
            "accept": accept, "tagsOnly": tagsOnly, "own": own, "isNowhere": isNowhere}
        self.albums.append(truth)
        return truth, songs

    def save(self):
        for entry in self.later:
            entry["songs"] = {path: data.hex() for path, data in entry["songs"].items()}
        known = {"releases": self.releases, "albums": self.albums, "later": self.later, "given": self.given}
        with open(os.path.join(self.folder, "world.json"), "w") as file:
            json.dump(known, file, ensure_ascii=False)
        return known


def uuid(entity, number):
    return f"{number:08x}-0000-4000-8000-{['release', 'group', 'artist'].index(entity):012x}"


# ---- The ordinary world

def ordinary(world, count=290):
    """Seven of ten albums are tidy; the rest has what people's folders have. One of fifteen is at no service."""
    w, pick = world, world.random
    artists = [w.artist() for _ in range(count // 3)]
    for number in range(count):
        artist, title, year = pick.choice(artists), w.title(), w.year()
        on = "".join(s for s, part in (("m", .9), ("c", .9), ("i", .8), ("d", .8)) if pick.random() < part)
        if "m" not in on: on = on.replace("c", "")
        isUnknown = number % 15 == 14
        if isUnknown: on = ""
        elif not set(on) & set("cid"): on += "i"
        w.kind = "tidy" if number % 10 < 7 else pick.choice(MESS)
        if w.kind == "compilation": artist = VARIOUS
        folder = f"{artist}/{title}"
        discs = [w.lengths(pick.randint(9, 12)), w.lengths(pick.randint(9, 12))] if "disc" in w.kind else w.lengths(pick.randint(8, 14))
        release = w.release(artist, title, year, discs, on)
        same = [release["picture"]]
        # What else services have: the artist's other albums, other recordings and imitations of this one, and its reissues.
        if artist != VARIOUS: w.release(artist, w.title(), w.year(), on="mcid")
        if number % 6 == 0: w.release("The Imitators", f"A Tribute to {title}", year + 3, on="mcid")
        if number % 7 == 0: w.release(artist, f"{title} (Live)", year + 2, on="mcid")
        if number % 9 == 0 and "m" in on:
            again = w.release(artist, title, year + 15, discs, "mc", group=release, names=release["names"])
            same.append(again["picture"])
        options = MESSES.get(w.kind, lambda *_: {})(w, release, folder)
        same += options.pop("same", [])
        w.album(options.pop("folder", folder), release, [] if isUnknown else same, **options)


def guests(w, release, folder):
    guest = w.artist()
    def edit(tags, number):
        if number % 3 == 0: tags["ARTIST"] += f" feat. {guest}"
    return {"albumartist": None, "edit": edit}


def compilation(w, release, folder):
    names = [w.artist() for _ in range(5)]
    return {"edit": lambda tags, number: tags.update(ARTIST=names[number % 5], COMPILATION=1)}


def reissue(w, release, folder):
    year = release["year"] + 6
    more = w.release(release["artist"], f"{release['title']} (Remastered {year})", year, release["discs"], "mci" if release["on"] else "", group=release, names=release["names"])
    return {"title": f"{release['title']} (Remastered)", "year": year, "same": [more["picture"]],
            "edit": lambda tags, number: tags.update(ORIGINALDATE=release["year"])}


def unicode_forms(w, release, folder):
    release["title"] = release["title"].replace("e", "é")
    return {"title": unicodedata.normalize("NFD", release["title"])}


def discs_in_tags(w, release, folder):
    def edit(tags, number): tags.update(ALBUM=f"{release['title']} (Disc {tags.pop('DISCNUMBER')})")
    return {"edit": edit}


MESSES = {
    "guests": guests, "compilation": compilation, "reissue": reissue, "unicode": unicode_forms, "discs in tags": discs_in_tags,
    "disc folders": lambda w, r, f: {"discs": ["CD1", "CD2"], "also": [f]},
    "no year": lambda w, r, f: {"edit": lambda tags, number: tags.pop("DATE")},
    "a year apart": lambda w, r, f: {"year": r["year"] + 1},
    "songs missing": lambda w, r, f: {"only": sorted(w.random.sample(range(len(r["names"])), len(r["names"]) * 2 // 3))},
    "reversed": lambda w, r, f: r.update(artist=f"The {r['artist']}") or {"artist": f"{r['artist'].removeprefix('The ')}, The"},
    "format": lambda w, r, f: {"title": f"{r['title']} {w.random.choice(['[FLAC]', '(WEB)', '[24-96]', '(Vinyl Rip)'])}"},
    "upper case": lambda w, r, f: {"title": r["title"].upper()},
    "no album artist": lambda w, r, f: {"albumartist": None},
    "no totals": lambda w, r, f: {"numbered": False},
    "loose folder": lambda w, r, f: {"folder": f"Downloads/{r['artist']} - {r['title']} ({r['year']})"},
}
MESS = sorted(MESSES)


def large(world, files=100_000):
    """For the time of a scan: albums of twelve songs, of which services know nothing."""
    world.kind = "large"
    for number in range(files // 12):
        release = world.release(f"Artist {number // 8}", f"Album {number}", 1970 + number % 50, [200_000 + number] * 12, on="")
        world.album(f"{release['artist']}/{release['title']}", release, [], format="mp3")


def make(folder, kind, seed, count=None, only=None, pictures=False, arePoor=False):
    """- pictures: Those of `artwork`, in a third of the tags, too.
    - arePoor: The tags of the world of pictures say little."""
    os.makedirs(os.path.join(folder, "music"))
    world = World(folder, seed)
    if kind == "pictures":
        import witnesses
        witnesses.make(world, count or 290, arePoor)
        return world.save()
    if pictures: world.pictures = random.Random(f"pictures {seed}")
    if kind in ("hard", "lengths"):
        import hard
        import lengths
        {"hard": hard, "lengths": lengths}[kind].make(world, count or 10, only)
    else:
        {"ordinary": ordinary, "large": large}[kind](world, *([count] if count else []))
    return world.save()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("folder")
    parser.add_argument("--kind", default="ordinary", choices=["ordinary", "hard", "lengths", "pictures", "large"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="albums; of each kind, if hard; files, if large")
    asked = parser.parse_args()
    known = make(asked.folder, asked.kind, asked.seed, asked.count)
    print(f"{len(known['albums'])} albums, {len(known['releases'])} releases")
