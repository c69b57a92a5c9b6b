#!/usr/bin/env python3
"""Brings an album's folder into each state that people bring folders into between two fills, and gives each command that meets it there.

  Tests/Programs/Person/states.py --sleeve FILE [--table] [--only STATE] [--verbose]

What each does is in the article MusicFolders, which must have the table that `--table` prints.
"""
import argparse, os, random, shutil, sys

import albums, game, songs

COMMANDS = {"undo": "`fill undo`", "why": "`why`", "accept": "`fill accept --embed`", "upgrade": "`fill --upgrade`", "embed": "`fill --embed`"}
BOTH, KNOWN, REPLACED, LARGER, LEFT = "takes back file and tags", "names the file", "replaces file and tags", "replaces the file", "leaves both"
STATES = {
    "songs renamed": [BOTH, KNOWN, REPLACED, LARGER, LEFT],
    "folder renamed": [BOTH, "asks for a scan", REPLACED, LARGER, LEFT],
    "songs replaced": ["takes back the file, names the songs", KNOWN, REPLACED, LARGER, "writes into the new songs"],
    "folder reused": ["takes back the file, names the songs", "says that the file is another's", REPLACED, "writes the new album's", "writes the new album's"],
    "album divided": [BOTH, "asks which album", "asks which album", "leaves both, says why", LEFT],
    "albums joined": [BOTH, "says that the file is another's", REPLACED, "judges anew: doubtful", LEFT],
    "disk away": ["says so; the next one does", "says so", "is kept for the next fill", "says so", "says so"],
}


class World:
    """Two albums of which each service has another picture: `p1` and `p3` those of Deezer, `p2` and `p4` the larger ones of iTunes."""

    release, key = albums.World.release, albums.World.key

    def __init__(self, seed):
        rng = random.Random("states")
        self.albums, self.releases, self.shows = [], [], {}
        for number, (title, year) in enumerate([("Harbour", 1971), ("Rope", 1984)]):
            album = albums.Album(number, "Ada Pike", title, year, rng, True)
            album.lengths, album.format = [150_000 + n * 11_000 + number * 3_000 for n in range(8)], "mp3"
            self.albums.append(album)
            self.release(album, album, rng, "d", side=320)
            self.release(album, album, rng, "i", side=600)


class State:
    """A folder that a fill has written covers and tags into, and that was changed since."""

    def __init__(self, options, state, command):
        self.state, self.command, self.known = state, command, None
        albums.World, whole = World, albums.World
        try: self.game = game.Game(options, "states")
        finally: albums.World = whole
        self.folder = "Ada Pike/Harbour"
        one = self.game
        one.add(1, 0, self.folder)
        if state == "albums joined": one.add(2, 1, "Ada Pike/Rope")
        if command == "accept": self.offer()
        self.fill("--source=deezer", "--embed")
        getattr(self, state.replace(" ", "_"))()

    def run(self, *words): return self.game.command(*words)
    def fill(self, *options): return self.run("fill", self.game.music, *options)

    def offer(self):
        """Has iTunes asked, whose picture is then known."""
        self.fill("--source=itunes")
        self.run("fill", "undo")

    def songs_renamed(self): self.game.rename_songs(1, " - Track")

    def folder_renamed(self):
        self.folder = "Sorted/1971 Harbour"
        self.game.move(1, self.folder)

    def songs_replaced(self): self.game.reuse(1, 0, "another rip")

    def folder_reused(self):
        self.game.reuse(1, 1)
        if self.command == "accept":
            self.offer()
            self.fill("--source=deezer", "--embed")

    def tag(self, folder, tags, chosen=lambda song: True):
        """Writes other tags into songs, with the pictures that they have."""
        one = self.game
        for song in filter(chosen, folder.songs):
            tags = {**folder.album.tags, "ALBUM": "Harbour", "DATE": 1971, "TITLE": f"Song {song.number}", "TRACKNUMBER": song.number, **tags}
            one.write(folder.at(song), songs.song("mp3", tags, folder.album.lengths[song.number - 1], song.sound, one.picture(folder, song)))

    def album_divided(self):
        self.tag(self.game.model.folders[0], {"ALBUM": "Harbour Nights"}, lambda song: song.number > 4)
        self.run("album", "scan", self.game.music)

    def albums_joined(self):
        for number, folder in enumerate(list(self.game.model.folders), 1):
            self.tag(folder, {"DISCNUMBER": number})
            self.game.move(number, f"Ada Pike/Box/CD{number}")
        self.folder = "Ada Pike/Box/CD1"

    def disk_away(self): os.rename(self.game.music, f"{self.game.music}.away")

    def come_back(self): os.rename(f"{self.game.music}.away", self.game.music)

    def pictures(self):
        """What is beside the songs, and what they have in their tags, in each folder."""
        found = {}
        for path, data in sorted(self.game.files().items()):
            folder = os.path.dirname(path)
            is_cover = path.endswith(".jpg")
            data = data if is_cover else songs.Parts(data).picture
            found.setdefault(folder, [None, set()])
            if is_cover: found[folder][0] = albums.key(data)
            else: found[folder][1].add(data and albums.key(data))
        return [(cover, *sorted(map(str, tags))) for cover, tags in found.values()]

    # ---- Commands. Each returns what was seen of it, in the words of the table.

    def undo(self):
        code, _, errors = self.run("fill", "undo", "--json")
        if self.state == "disk away":
            self.come_back()
            if code == 3 and errors.count("its disk may not be mounted") == 1 and self.pictures() == [("p1", "p1")] and self.run("fill", "undo")[0] == 0 \
                    and self.pictures() == [(None, "None")]: return "says so; the next one does"
        bare = [(None, "None")] * len(self.pictures())
        if code or self.pictures() != bare: return None
        return "takes back the file, names the songs" if errors.count("gone already") == 1 else BOTH if not errors else None

    def why(self):
        if self.state in ("folder reused", "albums joined"): self.run("album", "scan", self.game.music)
        code, _, errors = self.run("why", f"{self.game.music}/{self.folder}")
        text = self.game.output
        if code == 64 and errors.count(", id ") == 2 and errors.count(self.folder) == 3: return "asks which album"
        if code == 1 and "`sleeve album scan` adds those of a folder" in errors: return "asks for a scan"
        if code: return None
        if "its disk may not be mounted" in text: return "says so"
        if "of another album" in text and f"{self.folder}/cover.jpg" in text: return "says that the file is another's"
        return KNOWN if f"{self.folder}/cover.jpg, written by fill 1" in text else None

    def accept(self):
        (picture, title, former) = ("e4", "Rope", "p3") if self.state == "folder reused" else ("e2", "Harbour", "p1")
        if self.state != "disk away": self.run("album", "scan", self.game.music)
        album = title if self.state == "disk away" else f"{self.game.music}/{self.folder}"
        code, _, errors = self.run("fill", "accept", album, f"{self.game.services.url}/pictures/{picture}/itunes/3000x3000bb.jpg", "--embed")
        if code == 64 and errors.count(", id ") == 2: return "asks which album"
        key = "p" + picture[1:]
        if self.state == "disk away":
            self.come_back()
            self.fill("--source=deezer", "--embed")
            return "is kept for the next fill" if code == 1 and self.pictures() == [(key, key)] else None
        if code or any(found != (key, key) for found in self.pictures()): return None
        # Undo puts back what is of the album that is there.
        self.run("fill", "undo")
        formers = {"songs replaced": [(former, "None")], "albums joined": [(None, "None")] * 2}
        return REPLACED if self.pictures() == formers.get(self.state, [(former, former)]) else None

    def upgrade(self): return self.filled("--source=itunes", "--upgrade", "--min-pixels=500")
    def embed(self): return self.filled("--source=deezer", "--embed")

    def filled(self, *options):
        code, _, errors = self.fill(*options)
        if self.state == "disk away":
            self.come_back()
            return "says so" if code and self.game.music in errors and self.pictures() == [("p1", "p1")] else None
        found = self.pictures()
        if "--upgrade" in options:
            if found == [("p2", "None" if self.state == "songs replaced" else "p1")]: return LARGER
            if found == [("p4", "None")]: return "writes the new album's"
            if found == [("p1", "p1")] and code == 3 and "the folder has other albums, too" in errors: return "leaves both, says why"
            return "judges anew: doubtful" if found == [("p1", "p1"), ("p3", "p3")] and "found only a doubtful cover" in errors else None
        if found == [("p3", "p3")]: return "writes the new album's"
        if self.state == "songs replaced" and found == [("p1", "p1")]: return "writes into the new songs"
        return LEFT if found in ([("p1", "p1")], [("p1", "p1"), ("p3", "p3")]) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sleeve", type=os.path.abspath)
    parser.add_argument("--table", action="store_true", help="print the table")
    parser.add_argument("--only", choices=STATES)
    parser.add_argument("--verbose", "-v", action="count", default=0)
    options = parser.parse_args()
    (options.known, options.disk, options.keep) = ((), None, False)
    rows = [["since the fill", *COMMANDS.values()], ["---"] * (len(COMMANDS) + 1), *([state, *cells] for state, cells in STATES.items())]
    table = [f"| {' | '.join(cells)} |" for cells in rows]
    if options.table: sys.exit(print("\n".join(table)))
    article = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Sources/Covers/CoverLibrary/CoverLibrary.docc/MusicFolders.md")
    with open(article) as file: wrong = [] if "\n".join(table) in file.read() else ["the article MusicFolders has another table than --table prints"]
    for state, cells in STATES.items():
        if options.only not in (None, state): continue
        for command, cell in zip(COMMANDS, cells):
            if options.verbose: print(f"{state}: {command}", flush=True)
            one = State(options, state, command)
            try:
                seen = getattr(one, command)()
                if seen != cell: wrong.append(f"{state}, {command}: {seen or one.pictures()}, not {cell}")
            finally: one.game.close()
    print("\n".join(wrong) or "right")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
