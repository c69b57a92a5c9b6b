"""What a person does in a night: steps by chance, of what is there."""
import random


def steps(game, count):
    """The steps of so many nights, each chosen when those before it were played."""
    rng = random.Random(f"{game.seed} nights")
    chooser = Chooser(game, rng)
    for night in range(count):
        for _ in range(5 if night == 0 else rng.choice([0, 0, 1, 1, 2])): yield from chooser.add()
        for _ in range(rng.choice([0, 1, 1, 2, 3])): yield from chooser.act()
        if rng.random() < 0.15: yield {"do": "look", "command": rng.choice(["review", "audit", "dry", "undo", "scan"])}
        for _ in range(rng.choice([0, 0, 1, 2])): yield from chooser.say()
        yield from chooser.fill()
        while rng.random() < 0.25: yield from chooser.undo()


class Chooser:
    def __init__(self, game, rng):
        self.game, self.rng, self.next = game, rng, 0
        self.left = [album.number for album in game.world.albums]
        # Namesakes come in neighbouring nights.

    @property
    def folders(self): return [one for one in self.game.model.folders if one.is_there]

    def number(self):
        self.next += 1
        return self.next

    def add(self):
        if not self.left: return
        rng, album = self.rng, self.game.world.albums[self.left.pop(0)]
        path = f"{album.artist}/{album.title}" + rng.choice(["", f" ({album.year})"])
        if any(one.path == path for one in self.folders): path += f" {self.next}"
        chance = rng.random()
        yield {"do": "add", "number": self.number(), "album": album.number, "path": path, "cover": chance < 0.1, "embedded": 0.1 < chance < 0.2}
        if chance > 0.92: yield {"do": "add", "number": self.number(), "album": album.number, "path": f"Portable/{path}", "copy": True}

    def act(self):
        rng = self.rng
        if not self.folders: return
        folder = rng.choice(self.folders)
        album = folder.album
        kinds = ["year", "genre", "spell", "move", "move", "rename_songs", "remove_cover", "remove_cover", "remove_pictures", "give_cover", "give_cover", "take_cover",
                 "give_pictures", "rip", "reuse", "grow", "forget", "delete"]
        kind = rng.choice(kinds)
        if kind == "year": yield {"do": "tag", "album": album.number, "name": "DATE", "value": album.year}
        elif kind == "genre": yield {"do": "tag", "album": album.number, "name": "GENRE", "value": rng.choice(["Rock", "Folk", "Jazz", None])}
        elif kind == "spell": yield {"do": "tag", "album": album.number, "name": "ALBUM", "value": rng.choice([album.title, album.title + " [FLAC]", album.title.upper()])}
        elif kind == "move":
            name = f"{rng.choice([album.artist, 'Sorted', 'Sorted/' + album.artist[0]])}/{rng.choice(['', f'{album.year} - '])}{album.title} {rng.randrange(99)}"
            yield {"do": "move", "folder": folder.number, "path": name}
        elif kind == "rename_songs": yield {"do": kind, "folder": folder.number, "text": rng.choice([" Song", " - Song", f". {album.title}"])}
        elif kind == "rip": yield {"do": "reuse", "folder": folder.number, "album": album.number, "rip": str(rng.randrange(99))}
        elif kind == "reuse":
            if self.left: yield {"do": kind, "folder": folder.number, "album": self.left.pop(0)}
        elif kind == "give_cover": yield {"do": kind, "folder": folder.number, "name": rng.choice(["cover.jpg", "folder.jpg", "front.jpg"])}
        elif kind == "grow": yield {"do": kind, "album": album.number}
        elif kind == "forget": yield {"do": kind}
        elif kind != "delete" or rng.random() < 0.3: yield {"do": kind, "folder": folder.number}

    def say(self):
        """Something about an album that has offers; rather about one without a cover, or one that was spoken of."""
        rng, game = self.rng, self.game
        folders = [one for one in self.folders if one.scanned == one.path]
        if not folders: return
        lacking = [one for one in folders if one in game.model.named or game.model.said.get(one.album)]
        folder = rng.choice(lacking if lacking and rng.random() < 0.7 else folders)
        by, verb = rng.choice(["folder", "id"]), rng.choice(["accept", "accept", "refuse", "refuse", "allow", "all", "give"])
        if verb == "all":
            yield {"do": "allow_all", "folder": folder.number, "by": by}
            return
        yield {"do": "ask", "folder": folder.number}
        offers = game.offers
        if not offers: return
        step = {"do": "decide", "verb": verb, "folder": folder.number, "key": rng.choice(offers), "by": by}
        if verb == "accept" and rng.random() < 0.4: step["options"] = ["--embed"]
        if verb == "accept" and rng.random() < 0.1: step["kill"] = self.kill()
        yield step

    def kill(self): return self.rng.choice([["music", self.rng.randrange(1, 40)], ["all", self.rng.randrange(1, 500)]])

    def fill(self):
        rng = self.rng
        # After answers were removed, and with --retry-missing or --upgrade, many albums are asked for again, and iTunes has 20 answers a minute.
        sources = "deezer" if self.game.is_forgotten else rng.choice(["deezer", "deezer,itunes", "itunes,deezer", "tags,deezer,itunes"])
        self.game.is_forgotten = False
        options = [f"--source={sources}"] + [one for one, chance in (("--embed", 0.4), ("--upgrade", 0.2), ("--quiet", 0.3), ("--retry-missing", 0.1)) if rng.random() < chance]
        if {"--retry-missing", "--upgrade"} & set(options): options[0] = "--source=deezer"
        step = {"do": "fill", "options": options}
        if rng.random() < 0.15 and self.folders: step["below"] = rng.choice(self.folders).path.split("/")[0]
        if rng.random() < 0.2: step["kill"] = self.kill()
        yield step
        if "kill" in step and rng.random() < 0.7: yield {"do": "fill", "options": options}

    def undo(self):
        step = {"do": "undo"}
        if self.rng.random() < 0.15: step["kill"] = self.kill()
        yield step
        if "kill" in step and self.rng.random() < 0.5: yield {"do": "undo"}
