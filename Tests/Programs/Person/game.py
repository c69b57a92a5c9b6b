"""A night's steps: what the person does to the files, and what the command does. Each step is a value that can be played again."""
import itertools, json, os, shutil, subprocess, tempfile

import albums, songs
from model import Fault, Folder, Model, Run, is_same

#: The longest that a command may take, in seconds.
LIMIT = 300
#: The outcomes of a report that tell of a folder's cover.
OUTCOMES = {"written", "covered", "doubtful", "missing", "failed", "unwritten"}


class Game:
    def __init__(self, options, seed):
        self.options, self.seed = options, seed
        self.world = albums.World(seed)
        self.services = albums.Services(self.world)
        self.model = Model(self.world, options.known)
        # On a disk each sync takes its time, and there is one for each song.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="sleeve-person-", dir=memory))
        self.music, self.home = f"{self.folder}/music", f"{self.folder}/home"
        os.mkdir(self.music), os.mkdir(self.home)
        self.count, self.commands, self.last, self.is_forgotten = 0, 0, None, False

    def close(self):
        self.services.stop()
        if not self.options.keep: shutil.rmtree(self.folder)

    # ---- Files

    def files(self):
        found = {}
        for path, _, names in os.walk(self.music):
            for name in names:
                with open(f"{path}/{name}", "rb") as file: found[os.path.relpath(f"{path}/{name}", self.music)] = file.read()
        return found

    def read(self, path):
        try:
            with open(f"{self.music}/{path}", "rb") as file: return file.read()
        except FileNotFoundError: return None

    def write(self, path, data):
        os.makedirs(os.path.dirname(f"{self.music}/{path}"), exist_ok=True)
        with open(f"{self.music}/{path}.new", "wb") as file: file.write(data)
        os.replace(f"{self.music}/{path}.new", f"{self.music}/{path}")

    def song(self, folder, song, picture):
        """Writes a song as the person's tagger does."""
        album = folder.album
        tags = {**album.tags, "TITLE": f"Song {song.number}", "TRACKNUMBER": song.number}
        self.write(folder.at(song), songs.song(folder.format, tags, album.lengths[song.number - 1], song.sound, picture))

    def picture(self, folder, song): return songs.Parts(self.read(folder.at(song))).picture

    def persons(self):
        """Another picture of the person's each time."""
        self.count += 1
        return albums.media.picture(f"mine{self.count}", 500)

    def at(self, number):
        """The folder of a number; None if it is not there."""
        folders = self.model.folders
        return next((one for one in folders if one.number == number and one.is_there), None)

    # ---- Acts of the person. Each returns False where it means nothing.

    def add(self, number, album, path, copy=False, cover=False, embedded=False):
        album = self.world.albums[album]
        if any(one.is_there and (one.path == path or one.number == number) for one in self.model.folders): return False
        format = album.format if not copy else {"flac": "mp3", "mp3": "flac"}[album.format]
        folder = Folder(path, album, format)
        folder.number = number
        picture = self.persons() if embedded else None
        for song in folder.songs: self.song(folder, song, picture)
        if cover: self.write(f"{path}/folder.jpg", self.persons())
        folder.is_plain = not cover and not embedded and not copy
        self.model.folders.append(folder)

    def tag(self, album, name, value):
        """The tags of all copies of an album."""
        album = self.world.albums[album]
        album.tags[name] = value
        for folder in self.model.of_album(album):
            folder.is_retagged = True
            for song in folder.songs: self.song(folder, song, self.picture(folder, song))

    def move(self, folder, path):
        folder = self.at(folder)
        if folder is None or os.path.exists(f"{self.music}/{path}"): return False
        os.makedirs(os.path.dirname(f"{self.music}/{path}"), exist_ok=True)
        os.rename(f"{self.music}/{folder.path}", f"{self.music}/{path}")
        for table in (self.model.sleeves, self.model.of):
            for name in [name for name in table if os.path.dirname(name) == folder.path]: table[f"{path}/{os.path.basename(name)}"] = table.pop(name)
        folder.path = path

    def rename_songs(self, folder, text):
        folder = self.at(folder)
        if folder is None: return False
        for song in folder.songs:
            name = f"{song.number:02}{text}.{folder.format}"
            os.rename(f"{self.music}/{folder.at(song)}", f"{self.music}/{folder.path}/{name}")
            song.name = name

    def delete(self, folder):
        folder = self.at(folder)
        if folder is None: return False
        shutil.rmtree(f"{self.music}/{folder.path}")
        folder.is_there = False
        for table in (self.model.sleeves, self.model.of):
            for name in [name for name in table if os.path.dirname(name) == folder.path]: del table[name]

    def reuse(self, folder, album, rip=""):
        """Other songs in the folder: those of another album, or those of the same one again. The pictures beside them stay."""
        folder = self.at(folder)
        if folder is None: return False
        for song in folder.songs: os.remove(f"{self.music}/{folder.at(song)}")
        album, format = self.world.albums[album], {"flac": "mp3", "mp3": "flac"}[folder.format]
        if album is not folder.album: folder.is_plain, folder.scanned = False, None
        folder.put(album, format, rip)
        for song in folder.songs: self.song(folder, song, None)

    def remove_cover(self, folder):
        """The person removes the covers of runs, and keeps the songs."""
        folder = self.at(folder)
        covers = self.model.covers(folder, self.files(), True) if folder else {}
        for path, data in covers.items():
            os.remove(f"{self.music}/{path}")
            # Of what a run was about to write when it was killed nobody knows whether it was there: it may be written again or not.
            if self.model.is_of_killed(path): folder.former.add(albums.key(data))
            else: folder.pending[albums.key(data)] = folder.signature()
            self.model.sleeves.pop(path), self.model.of.pop(path, None)
            folder.is_plain = False
        return bool(covers)

    def remove_pictures(self, folder):
        folder = self.at(folder)
        had = False
        for song in folder.songs if folder else []:
            picture = self.picture(folder, song)
            if picture is None: continue
            had = True
            if song.is_sleeves: self.lose(folder, song)
            song.is_sleeves = False
            self.song(folder, song, None)
        return had

    def lose(self, folder, song):
        """The person takes a run's picture out of a song."""
        (song.former if self.model.is_of_killed(folder.at(song)) else song.pending).add(albums.key(self.picture(folder, song)))

    def give_cover(self, folder, name):
        """A picture of the person beside the songs; in the place of a run's, if there is one of that name."""
        folder = self.at(folder)
        if folder is None: return False
        path = f"{folder.path}/{name}"
        old = self.read(path)
        if old is not None and self.model.is_sleeves(path, old):
            folder.pending[albums.key(old)] = folder.signature()
            self.model.sleeves.pop(path), self.model.of.pop(path, None)
        self.write(path, self.persons())
        folder.is_plain = False

    def take_cover(self, folder):
        """The person removes own pictures beside the songs."""
        folder = self.at(folder)
        covers = self.model.covers(folder, self.files(), False) if folder else {}
        for path in covers: os.remove(f"{self.music}/{path}")
        return bool(covers)

    def give_pictures(self, folder):
        folder = self.at(folder)
        if folder is None: return False
        picture = self.persons()
        for song in folder.songs:
            # What a run wrote there is replaced, which is a removal.
            if song.is_sleeves: self.lose(folder, song)
            self.song(folder, song, picture)
            song.is_sleeves = False
        folder.is_plain = False

    def grow(self, album):
        """The services have larger renditions by now, and their answers are asked for again."""
        for one in self.world.releases:
            if self.world.shows[one["picture"]] is self.world.albums[album]: one["side"] = min(one["side"] * 2, 1_000)

    def forget(self):
        """The answers of services are a cache that may be removed."""
        self.is_forgotten = True
        found = [name for name in os.listdir(f"{self.home}/albums.json.state") if name.startswith(("sources.", "answers."))] if self.last else []
        for name in found: os.remove(f"{self.home}/albums.json.state/{name}")
        return bool(found)

    # ---- Commands

    def command(self, *words, kill=None):
        """- Returns: exit code, the objects of stdout, and stderr. -9: it was killed."""
        environment = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "SLEEVE_CACHE": f"{self.home}/cache",
                       "SLEEVE_LIBRARY": f"{self.home}/albums.json", "SLEEVE_CONTACT": "person@example.org", "TMPDIR": self.folder,
                       "SLEEVE_SOURCE_BASE": ",".join(f"{name}={self.services.url}/{name}" for name in ("musicbrainz", "caa", "itunes", "deezer"))}
        environment |= {name: value for name, value in os.environ.items() if name.startswith("SWIFT_")}
        if kill and self.options.disk:
            environment |= {"LD_PRELOAD": self.options.disk, "DISK_ROOT": self.music if kill[0] == "music" else self.folder, "DISK_KILL": str(kill[1])}
        # Services count the requests of the last minute; nights are longer.
        shutil.rmtree(f"{self.home}/.local/state", ignore_errors=True)
        self.commands += 1
        try:
            result = subprocess.run([self.options.sleeve, *words], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise Fault("hangs", f"sleeve {' '.join(words)}")
        if self.options.verbose > 1: print(f"      $ sleeve {' '.join(words)}  [{result.returncode}]\n{result.stdout}{result.stderr}".rstrip())
        if result.returncode < 0 and not (kill and result.returncode == -9):
            raise Fault("crash", f"sleeve {' '.join(words)} ended by signal {-result.returncode}: {result.stderr[-2000:]}")
        self.output = result.stdout
        lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")] if result.returncode >= 0 else []
        return result.returncode, lines, result.stderr

    def expect_code(self, words, code, allowed, errors):
        if code not in allowed: self.model.fault("exit", f"sleeve {' '.join(words)} exited with {code}, not {allowed}: {errors[-500:]}")

    def fill(self, below=None, options=(), kill=None):
        if not os.listdir(self.music): return False
        top = f"{self.music}/{below}" if below else self.music
        if not os.path.isdir(top): return False
        report = f"{self.home}/report.jsonl"
        if os.path.exists(report): os.remove(report)
        words = ["fill", top, "--json", "--report", report, *options]
        before, run, model = self.files(), Run(), self.model
        code, lines, errors = self.command(*words, kill=kill)
        after, is_below = self.files(), lambda folder: not below or folder.path.startswith(f"{below}/")
        self.last = below or "."
        run.writes = model.change(before, after, is_quiet="--quiet" in options, is_cut=code == -9)
        run.is_killed = code == -9
        # A fill that was killed in its first file is undone alone, too.
        run.is_maybe = run.is_killed and not run.writes
        if run.writes or run.is_maybe: model.runs.append(run)
        if run.is_killed: return
        model.notice(is_below)
        self.expect_code(words, code, (0, 3), errors)
        with open(report) as file: told = [json.loads(line) for line in file]
        self.claim(told, run, after)
        self.check_report(told, [one for one in model.folders if one.is_there and is_below(one)], code, after, is_whole=not below)
        counts = {"files": sum(one.song is None and one.after is not None for one in run.writes), "embedded": sum(one.song is not None for one in run.writes)}
        for name, count in counts.items():
            if lines and lines[-1].get(name, 0) != count: model.fault("count", f"sleeve {' '.join(words)} says {name} {lines[-1].get(name, 0)}, {count} are there")
        if not below: self.check_left(after)
        self.check_covers(is_below, after, options)

    def claim(self, told, run, files):
        """What killed runs wrote may be put back at the next start and written again: it is the next run's then."""
        again = {line["file"].removeprefix(f"{self.music}/") for line in told if line["outcome"] in ("written", "embedded")} - {one.path for one in run.writes}
        runs = self.model.runs
        for former in [*itertools.takewhile(lambda one: one.is_killed, (one for one in reversed(runs) if one is not run))]:
            moved = [one for one in former.writes if one.path in again and files.get(one.path) == one.after]
            if moved and run not in runs: runs.append(run)
            run.writes += moved
            former.writes = [one for one in former.writes if one not in moved]
            if moved and not former.writes and not former.said: runs.remove(former)

    def check_left(self, files):
        """After a fill of all folders nothing of Sleeve's is left but covers."""
        left = [path for path in files if os.path.basename(path).startswith(".")]
        if left: self.model.fault("left", f"{left} are left")
        for path in left: os.remove(f"{self.music}/{path}")

    def check_report(self, told, folders, code, files, is_whole):
        """Each folder of an album is named once (M6); the exit code says whether an album without a cover was not named before, by a fill of the
        same folders: what one of others has filled meanwhile, and undo has taken back, is as it was."""
        model, news = self.model, False
        for folder in folders:
            lines = [line for line in told if line["folder"] == f"{self.music}/{folder.path}" and line["outcome"] in OUTCOMES]
            if len(lines) != 1:
                model.fault("named", f"{folder.path} is named {len(lines)} times: {[line['outcome'] for line in lines]}", folder.album)
                if not lines: continue
            id, outcome = lines[0]["album"], lines[0]["outcome"]
            if model.ids.setdefault(id, folder.album) is not folder.album:
                model.fault("identity", f"{id}, which was {model.ids[id]}, is {folder.album} in {folder.path}", folder.album)
                model.ids[id] = folder.album
            (persons, sleeves) = (model.covers(folder, files, False), {albums.key(data) for data in model.covers(folder, files, True).values()})
            # What a run wrote for an album that was here before, or what is refused since, may count or not: it is named.
            # So may one that was written for other tags, or as accepted.
            if not persons and any(not self.fits(key, folder.album) or self.is_outdated(folder, key) for key in sleeves):
                if outcome not in ("written", "covered"): model.named.add(folder)
                continue
            has = bool(persons or sleeves)
            if (outcome in ("written", "covered")) != has: model.fault("outcome", f"{folder.path} is {outcome}, and has {'a' if has else 'no'} cover", folder.album)
            if has and is_whole: model.named.discard(folder)
            elif has: continue
            elif folder not in model.named:
                # Copies of an album are named as one.
                news = news or all(one.album is not folder.album for one in model.named)
                model.named.add(folder)
        if news and code == 0: model.fault("news", "an album without a cover was never named, and the exit code is 0")
        if code == 3 and not any(line["outcome"] not in ("written", "covered", "embedded") for line in told):
            model.fault("news", "every album has a cover, and the exit code is 3")

    def fits(self, key, album):
        """Whether a picture is the album's, or was accepted for it, and is not refused."""
        return (self.world.shows.get(key) is album or key in self.model.permitted(album)) and key not in self.model.refused(album)

    def is_outdated(self, folder, key):
        """Whether a run may have written a picture for other tags, or because it was accepted then."""
        said = any(one.key == key and one.verb != "refused" for one in self.model.said.get(folder.album, []))
        return folder.is_retagged or said and (self.model.accepted(folder.album) != key or self.is_open(folder.album))

    def is_open(self, album):
        """Whether nobody knows if an acceptance counts: undo may have taken back its run, or one that was killed."""
        return any(one in self.model.said.get(album, []) for run in self.model.runs if run.is_maybe for one in run.said)

    def check_covers(self, is_below, files, options):
        """What has to be there after a fill that has ended by itself."""
        model, sources = self.model, next((one.split("=")[1] for one in options if one.startswith("--source=")), "")
        for folder in model.folders:
            if not folder.is_there or not is_below(folder): continue
            album, sleeves, persons = folder.album, model.covers(folder, files, True), model.covers(folder, files, False)
            accepted = model.accepted(album)
            keys = {albums.key(data) for data in sleeves.values()}
            if accepted and not self.is_open(album) and not persons and accepted not in folder.gone | folder.former and keys != {accepted} and not ("--quiet" in options and (folder, accepted) in model.taken):
                model.fault("accepted", f"{folder.path} has {keys or 'no cover'}, {accepted} is accepted for {album}", album)
            offers = [one for one in self.world.releases if self.world.shows[one["picture"]] is album and any(on in sources.replace("tags", "") for on in
                      [{"d": "deezer", "i": "itunes"}[letter] for letter in one["on"]])]
            if offers and album.is_alone and folder.is_plain and not model.said.get(album) and not sleeves and not persons:
                model.fault("missing", f"{folder.path} has no cover, the services have {[one['picture'] for one in offers]}", album)
            shown = {albums.key(data) for data in (persons or sleeves).values()}
            if "--embed" in options and len(shown) == 1 and (persons or self.fits(*shown, album) and not self.is_outdated(folder, *shown) and accepted in (None, *shown)):
                for song in folder.songs:
                    if not shown & (song.gone | song.former | {key for place, key in model.taken if place is song}) and self.picture(folder, song) is None and not song.gone:
                        model.fault("embed", f"{folder.at(song)} has no picture, beside it is {shown}", album)

    # ---- What the person says

    def why(self, folder):
        """What is known of an album: its id, and the addresses of pictures by key, with how certain each is."""
        before = self.files()
        code, lines, errors = self.command("why", f"{self.music}/{folder.path}", "--json")
        self.check_unchanged(before, ["why", folder.path])
        self.expect_code(["why", folder.path], code, (0,), errors)
        found = lines[0] if code == 0 and lines else {"album": {"id": None}, "candidates": []}
        offers = [(self.world.key(one["pictures"][0]), one["pictures"][0], one["certainty"]) for one in found["candidates"] if one["pictures"]]
        return found["album"]["id"], [one for one in offers if one[0]]

    def ask(self, folder):
        """The person looks at what there is for an album."""
        folder = self.meant(folder)
        if folder is None: return False
        self.offers = sorted({key for key, *_ in self.why(folder)[1]})

    def check_unchanged(self, before, words, album=None):
        """A command that reads changes nothing, but that files are put back which a killed one had moved."""
        after = self.files()
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if old == new or os.path.basename(path).startswith(".") or self.model.put_back(path, old, new): continue
            self.model.fault("writes", f"{' '.join(words)} has changed {path}", album)

    def meant(self, folder):
        """A folder that the library knows where it is."""
        folder = self.at(folder)
        return folder if folder and folder.scanned == folder.path else None

    def name(self, folder, id, by): return f"{self.music}/{folder.path}" if by == "folder" else f"id:{id}"

    def decide(self, verb, folder, key, by, options=(), kill=None):
        """Accepts, refuses or allows a picture by its address beside its album."""
        folder = self.meant(folder)
        if folder is None: return False
        before, model, run, album = self.files(), self.model, Run(), folder.album
        id, offers = self.why(folder)
        url = next((url for found, url, _ in offers if found == key), None)
        if url is None or id is None: return False
        # What two services offer has two addresses: what was said of one is taken back by that.
        if verb == "allow": url = next((one.url for one in reversed(model.said.get(album, [])) if one.key == key and one.url and not one.is_undone), url)
        # An acceptance that a newer one has replaced is none.
        if verb == "allow" and key not in {*model.refused(album), model.accepted(album)}: return False
        if verb == "refuse" and model.newest(album, key) == "refused": return False
        if verb == "give": return self.give(album, id, key, url)
        words = ["fill", verb, self.name(folder, id, by), url, "--json", *options]
        # What is accepted already is not accepted by this command.
        is_new = verb != "accept" or model.accepted(album) != key
        if is_new: run.said = model.say({"accept": "accepted", "refuse": "refused", "allow": "allowed"}[verb], album, [key], url)
        else: model.release(album, [key], is_acceptance=True)
        code, lines, errors = self.command(*words, kill=kill)
        after = self.files()
        run.writes = model.change(before, after, is_cut=code == -9)
        if verb != "accept":
            self.expect_code(words, code, (0,), errors)
            if run.writes: model.fault("writes", f"{' '.join(words)} wrote {[one.path for one in run.writes]}", album)
            return
        if code != -9: self.expect_code(words, code, (0, 3), errors)
        run.is_killed = code == -9
        run.is_maybe = run.is_killed and not run.writes
        if is_new or run.writes: model.runs.append(run)
        if is_new and run.is_maybe:
            # Whether it was written down nobody knows.
            _, offers = self.why(folder)
            if not any(found == key and sure == "certain" for found, _, sure in offers): model.withdraw(run)

    def give(self, album, id, key, url):
        """An address that the person gives an album is an acceptance. One that the album may have from a fill says nothing new."""
        if any(one.key == key for one in self.model.said.get(album, [])) or self.model.was_written(album, key): return False
        before, words = self.files(), ["album", "edit", f"id:{id}", "--cover-url", url, "--json"]
        code, _, errors = self.command(*words)
        self.expect_code(words, code, (0,), errors)
        self.check_unchanged(before, words, album)
        self.model.say("accepted", album, [key], url)

    def allow_all(self, folder, by):
        """Allows whatever was said about an album, and removed from it."""
        folder = self.meant(folder)
        if folder is None: return False
        album, model = folder.album, self.model
        # An acceptance that a newer one has replaced is none.
        is_said = bool(model.refused(album) or model.accepted(album))
        if not (is_said or folder.gone): return False
        id, _ = self.why(folder)
        before = self.files()
        words = ["fill", "allow", self.name(folder, id, by), "--json"]
        code, _, errors = self.command(*words)
        # Of what was removed the command may know nothing yet.
        self.expect_code(words, code, (0,) if is_said else (0, 1), errors)
        self.check_unchanged(before, words, album)
        model.say("allowed", album, model.refused(album) | {one for one in [model.accepted(album)] if one})
        model.release(album, named=folder if by == "folder" else None)

    def undo(self, kill=None):
        before, model = self.files(), self.model
        words = ["fill", "undo", "--json"]
        code, lines, errors = self.command(*words, kill=kill)
        after = self.files()
        if code == -9:
            # Each place is as before, or taken back.
            if not model.runs: return
            model.take_part_back(before, after)
            for path, allowed in ((path, allowed) for run in model.killed() for path, allowed in model.expect(run, before).items()):
                if after.get(path) not in [before.get(path), *allowed] and "without" not in allowed and not is_same(path, after.get(path), allowed[0]): model.fault("undo", f"{path} is neither")
            self.follow(before, after)
            return
        self.expect_code(words, code, (0, 3), errors)
        model.undo(before, after)
        self.follow(before, after)

    def follow(self, before, after):
        """Takes over what an undo did."""
        known, self.model.known = self.model.known, self.model.known + ("lost",)
        faults = len(self.model.faults)
        self.model.change(before, after, is_undo=True)
        self.model.known = known
        del self.model.faults[faults:]

    def look(self, command):
        """A command that reads changes nothing."""
        before, folders = self.files(), [one for one in self.model.folders if one.is_there and one.scanned == one.path]
        if not folders or not self.last: return False
        words = {"review": ["fill", "review", "--json"], "audit": ["audit", "--json"], "undo": ["fill", "undo", "--dry-run", "--json"],
                 "dry": ["fill", self.music, "--dry-run", "--json", "--source=deezer"], "scan": ["album", "scan", self.music, "--json"]}[command]
        code, lines, errors = self.command(*words)
        self.expect_code(words, code, (0, 3), errors)
        self.check_unchanged(before, words)
        if command in ("scan", "dry"): self.model.notice(lambda folder: True)
        if command == "review":
            for line in lines:
                album, key = self.model.ids.get(line["album"]), self.world.key(line["url"])
                # What two services offer has two addresses: of each the newest word counts.
                said = [one for one in self.model.said.get(album, []) if one.key == key and one.url in (None, line["url"]) and not one.is_undone]
                if key in self.model.refused(album) and said and said[-1].verb == "refused": self.model.fault("review", f"{key}, which was refused for {album}, is listed", album)
                if album and key == self.model.accepted(album) and not self.is_open(album): self.model.fault("review", f"{key}, which is accepted for {album}, is listed", album)
