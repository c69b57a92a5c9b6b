"""What must be there: whose each file is, what the person has said, what each run has written. It is told of each act, and judges each change."""
import itertools, os

import albums, songs

IMAGES = (".jpg", ".png")


class Fault(Exception):
    """A promise was not kept. `kind` names the promise; `album` whose it was."""

    def __init__(self, kind, text, album=None):
        super().__init__(f"{kind}: {text}")
        self.kind, self.album = kind, album


def is_same(path, one, other):
    """Whether two files are the same. A song in which a picture is put back may have other padding."""
    if one is None or other is None or path.endswith(IMAGES): return one == other
    one, other = songs.Parts(one), songs.Parts(other)
    return (one.audio, one.tags, one.pictures) == (other.audio, other.tags, other.pictures)


class Song:
    def __init__(self, number, name, sound):
        self.number, self.name, self.sound = number, name, sound
        #: Its picture is one that a run wrote.
        self.is_sleeves = False
        #: Pictures that the person took out, and those of which no scan can know yet.
        self.gone, self.pending = set(), set()
        #: Those that may be written again or not: an undo that was killed may have taken them out itself.
        self.former = set()


class Folder:
    """A place of an album. It stays one when it is renamed, and when other songs come into it."""

    def __init__(self, path, album, format, rip=""):
        self.path, self.is_there, self.is_retagged = path, True, False
        #: What was removed from beside former songs of the album: it may be written again or not.
        self.former = set()
        self.put(album, format, rip)
        #: Nothing happened to it that may keep a cover away.
        self.is_plain = True
        #: Where it was at the last scan.
        self.scanned = None

    def put(self, album, format, rip=""):
        if getattr(self, "album", None) is album: self.former |= self.gone | self.pending.keys()
        else: self.former = set()
        self.album, self.format = album, format
        #: Pictures that the person removed from beside these songs; and those of which no scan can know yet, with the songs that were there.
        self.gone, self.pending = set(), {}
        self.songs = [Song(n, f"{n:02} Song.{format}", f"{album.number} {n} {format} {rip}") for n in range(1, len(album.lengths) + 1)]

    def signature(self): return tuple((song.name, song.sound) for song in self.songs)
    def at(self, song): return f"{self.path}/{song.name}"


class Write:
    """What a run changed in one place: a cover (`song` is None), or the tags of a song."""

    def __init__(self, folder, name, song, before, after):
        self.folder, self.name, self.song, self.before, self.after, self.album = folder, name, song, before, after, folder.album
        self.written = self.path
        #: The album of the row that it replaced; what was no row, or was of this one, is None.
        self.former = None

    @property
    def path(self): return self.folder.at(self.song) if self.song else f"{self.folder.path}/{self.name}"
    @property
    def is_there(self): return self.folder.is_there and (self.song is None or self.song in self.folder.songs)


class Run:
    def __init__(self): self.writes, self.said, self.is_maybe, self.is_killed = [], [], False, False


class Said:
    def __init__(self, verb, key, url): self.verb, self.key, self.url, self.is_undone = verb, key, url, False


class Model:
    def __init__(self, world, known=()):
        self.world = world
        self.folders, self.runs, self.said = [], [], {}
        #: The covers of runs by path, and of what album each is.
        self.sleeves, self.of = {}, {}
        #: What undo took back, and no unwatched fill writes again: (folder or song, picture).
        self.taken = set()
        #: What the last run has written again of that: it is taken back still, if the run was killed and its file put back.
        self.released = []
        #: Albums whose lack a fill has named, ids of the library by folder paths, and the album of each id.
        self.named, self.ids = set(), {}
        #: The pictures that runs have written for each album, undone or not.
        self.written = {}
        self.known, self.faults = known, []

    def fault(self, kind, text, album=None):
        """Throws, unless the kind is one that is known to fail."""
        if kind not in self.known: raise Fault(kind, text, album)
        self.faults.append(f"{kind}: {text}")

    # ---- What the person has said

    def newest(self, album, key):
        return next((one.verb for one in reversed(self.said.get(album, [])) if one.key == key and not one.is_undone), None)

    def refused(self, album): return {one.key for one in self.said.get(album, []) if self.newest(album, one.key) == "refused"}
    def permitted(self, album): return {one.key for one in self.said.get(album, []) if self.newest(album, one.key) == "accepted"}

    def accepted(self, album):
        """The picture that has to be there: of acceptances the newest, if nothing was said about it since."""
        last = next((one for one in reversed(self.said.get(album, [])) if one.verb == "accepted" and not one.is_undone), None)
        return last.key if last and self.newest(album, last.key) == "accepted" else None

    def say(self, verb, album, keys, url=None):
        found = [Said(verb, key, url) for key in keys]
        self.said.setdefault(album, []).extend(found)
        if verb != "refused": self.release(album, keys, is_acceptance=verb == "accepted")
        return found

    def release(self, album, keys=None, is_acceptance=False, named=None):
        """A newer acceptance, or `allow`, lets covers be written again that were removed: all, or those named. What was taken out of songs is
        noticed by a scan: `allow` knows nothing of it before. Of a `named` folder alone, if something was removed there: elsewhere either is right."""
        for folder in self.of_album(album):
            for place in (folder, *folder.songs):
                sets = [place.gone] + ([place.pending] if is_acceptance or place is folder else []) + ([folder.former] if place is folder else [])
                for pictures in sets:
                    for key in list(pictures):
                        if keys is not None and key not in keys: continue
                        pictures.pop(key) if isinstance(pictures, dict) else pictures.discard(key)
                        if named not in (None, folder): place.former.add(key)
                # What undo took back a fill by hand writes, or one after an acceptance.
                if is_acceptance: self.taken = {one for one in self.taken if one[0] is not place or keys is not None and one[1] not in keys}

    def counts(self, said): return any(said in all and self.accepted(album) == said.key for album, all in self.said.items())

    def was_written(self, album, key):
        """Whether a run may have written a picture for an album."""
        return key in self.written.get(album, ())

    def of_album(self, album): return [folder for folder in self.folders if folder.is_there and folder.album is album]

    # ---- Whose a file is

    def folder(self, path):
        """The folder that a file is in."""
        return next((one for one in self.folders if one.is_there and one.path == os.path.dirname(path)), None)

    def song(self, path):
        folder = self.folder(path)
        return next((song for song in folder.songs if song.name == os.path.basename(path)), None) if folder else None

    def is_sleeves(self, path, data): return self.sleeves.get(path) == data

    def covers(self, folder, files, sleeves):
        """The pictures beside an album's songs: those of runs, or those of the person."""
        return {path: data for path, data in files.items() if os.path.dirname(path) == folder.path and path.endswith(IMAGES)
                and not os.path.basename(path).startswith(".") and self.is_sleeves(path, data) == sleeves}

    # ---- What a scan notices

    def notice(self, is_below):
        """Removals whose songs are still there stay: the scan has seen them."""
        for folder in self.folders:
            if not folder.is_there or not is_below(folder): continue
            folder.gone |= self.noticed(folder)
            folder.pending.clear()
            for song in folder.songs:
                song.gone |= song.pending
                song.pending = set()
            folder.scanned = folder.path

    def noticed(self, folder): return {key for key, then in folder.pending.items() if then == folder.signature()}

    # ---- Changes

    def judge(self, folder, place, key, what, is_quiet=False):
        """Whether a picture may be written there."""
        album, kind = folder.album, "" if place is folder else "tags-"
        accepted = self.accepted(album)
        gone = place.gone | (self.noticed(folder) if place is folder else place.pending)
        if key in self.refused(album): self.fault(kind + "refused", f"{what}: {key}, which was refused for {album}", album)
        if key in gone and key not in place.gone and place is folder and folder.scanned != folder.path:
            self.fault("removed-moved", f"{what}: {key}, which the person removed before the folder was moved", album)
        elif key in gone: self.fault(kind + "removed", f"{what}: {key}, which the person removed there", album)
        if accepted and key != accepted: self.fault(kind + "not-accepted", f"{what}: {key}, where {accepted} is accepted for {album}", album)
        if is_quiet and (place, key) in self.taken: self.fault(kind + "taken-back", f"{what}: {key}, which undo took back, by a fill that nobody watches", album)
        if not is_quiet and (place, key) in self.taken:
            self.taken.discard((place, key))
            self.released.append((place, key))
        if self.world.shows.get(key) is not album and key not in self.permitted(album):
            if key.startswith("mine"): return self.fault("from-tags", f"{what}: {key}, a picture of the person that a run wrote into the tags", album)
            others = [str(one) for one in self.said if key in self.permitted(one)]
            self.fault(kind + ("namesake" if others else "wrong"), f"{what}: {key} of {self.world.shows.get(key)} for {album}" + (f"; {others} has it" if others else ""), album)

    def change(self, before, after, is_undo=False, is_quiet=False, is_cut=False):
        """Judges what a command did to the files. - Returns: what it wrote."""
        writes, former = [], len(self.released)
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if old == new or os.path.basename(path).startswith("."): continue
            folder, song = self.folder(path), self.song(path)
            if not is_undo and self.put_back(path, old, new): continue
            if song:
                writes.append(self.change_song(folder, song, old, new, after, is_undo, is_quiet))
                continue
            if old is not None and not self.is_sleeves(path, old):
                self.fault("person's", f"{path}, a file of the person, was {'removed' if new is None else 'changed'}", folder and folder.album)
            if folder is None or path.removeprefix(folder.path + "/") not in ("cover.jpg", "folder.jpg", "front.jpg"):
                self.fault("place", f"{path} was {'written' if new else 'removed'}", folder and folder.album)
                continue
            if new is not None and not is_undo:
                if not albums.is_whole(new): self.fault("whole", f"{path} is no whole picture", folder.album)
                tags = {albums.key(picture) for picture in self.pictures(folder, after) if picture} if not any(s.is_sleeves for s in folder.songs) else set()
                if albums.key(new) not in tags: self.judge(folder, folder, albums.key(new), path, is_quiet)
            if new is None and not is_undo and not is_cut: self.fault("lost", f"{path} was removed, which is nobody's wish", folder.album)
            write = Write(folder, os.path.basename(path), None, old, new)
            if new is not None: self.written.setdefault(folder.album, set()).add(albums.key(new))
            if old is not None: write.former = self.of.get(path)
            writes.append(write)
            if new is None:
                self.sleeves.pop(path, None), self.of.pop(path, None)
            else:
                (self.sleeves[path], self.of[path]) = (new, folder.album)
        del self.released[:former]
        return [one for one in writes if one]

    def put_back(self, path, old, new):
        """Whether the start of a command has put back what a fill or an undo that was killed was about to change there."""
        def are(one, other): return is_same(path, old, one) and is_same(path, new, other)
        found = ((run, one) for run in self.killed() for one in run.writes if one.path == path and (are(one.before, one.after) or are(one.after, one.before)))
        run, write = next(found, (None, None))
        if write is None: return False
        if is_same(path, new, write.before):
            run.writes.remove(write)
            # Undo may have nothing to do for it.
            run.is_maybe = not run.writes and not run.said
            self.taken.update(one for one in self.released if one[0] is (write.song or write.folder))
        if write.song: write.song.is_sleeves = songs.Parts(new).picture is not None
        elif new is None: self.sleeves.pop(path, None), self.of.pop(path, None)
        else: self.sleeves[path], self.of[path] = new, write.folder.album
        return True

    def killed(self):
        """The last runs, the newest first, which were killed, or an undo of which was."""
        return itertools.takewhile(lambda run: run.is_killed, reversed(self.runs))

    def is_of_killed(self, path): return any(one.path == path for run in self.killed() for one in run.writes)

    def pictures(self, folder, files): return [songs.Parts(files[folder.at(song)]).picture for song in folder.songs if folder.at(song) in files]

    def change_song(self, folder, song, old, new, files, is_undo, is_quiet):
        path, album = folder.at(song), folder.album
        if new is None:
            self.fault("song", f"{path} is gone", album)
            return None
        then, now = songs.Parts(old), songs.Parts(new)
        if then.audio != now.audio: self.fault("audio", f"the audio of {path} has changed", album)
        if then.tags != now.tags: self.fault("tags", f"the tags of {path} have changed: {then.tags} {now.tags}", album)
        if len(now.pictures) > 1: self.fault("pictures", f"{path} has {len(now.pictures)} pictures", album)
        if then.picture and not song.is_sleeves: self.fault("person's", f"the person's picture in {path} was replaced or taken out", album)
        if not is_undo:
            if now.picture is None or now.picture == then.picture:
                self.fault("rewritten", f"{path} has changed, and has no new picture", album)
            else:
                if not albums.is_whole(now.picture): self.fault("whole", f"{path} has no whole picture", album)
                persons = {albums.key(data) for data in self.covers(folder, files, False).values()}
                key = albums.key(now.picture)
                if key not in persons:
                    if persons: self.fault("person's-first", f"{path} got {key}, beside it is the person's {persons}", album)
                    # The person's picture in the tags, which a run wrote beside the songs.
                    if not key.startswith("mine") or files.get(next((one for one in self.covers(folder, files, True)), None)) != now.picture:
                        self.judge(folder, song, key, path, is_quiet)
                elif key in song.gone | song.pending:
                    self.fault("tags-removed", f"{path}: {key}, which the person took out of it", album)
        song.is_sleeves = now.picture is not None and (not is_undo or then.picture is not None)
        return Write(folder, song.name, song, old, new)

    # ---- Undo

    def expect(self, run, files):
        """What is there when a run was taken back: allowed contents by path."""
        found = {}
        for write in run.writes:
            if not write.is_there: continue
            now = files.get(write.path)
            if now == write.after:
                is_others = write.before is not None and write.song is None and (write.former or write.album) is not write.folder.album
                found[write.path] = [None if is_others else write.before]
                former = songs.Parts(write.before).picture if write.song and write.before else None if is_others or write.song else write.before
                # What is refused by now does not come back; of two services' entries, or without this run's acceptance, one may be.
                refused = {one.key for one in self.said.get(write.folder.album, []) if one.verb == "refused" and not one.is_undone}
                if former and albums.key(former) in refused: found[write.path] += ["without", former] if write.song else [None]
            elif write.song and now is not None and now != write.before:
                then, parts = songs.Parts(write.after), songs.Parts(now)
                if parts.picture is not None and parts.picture == then.picture:
                    former = songs.Parts(write.before).picture if write.before else None
                    found[write.path] = [now, "without", former]
        return found

    def undo(self, before, after):
        """Judges an undo that ended by itself. - Returns: the run that it took back; None if there was none."""
        # An acceptance that was allowed since is taken back already. Of runs that were killed nobody knows whether they count.
        runs = []
        for run in reversed(self.runs):
            if not (run.writes or run.is_maybe or any(self.counts(one) for one in run.said)): continue
            runs.append(run)
            if not run.is_maybe: break
        problems = []
        for run in runs:
            problems.append(self.problem(run, before, after))
            if problems[-1] is None:
                while self.runs[-1] is not run: self.withdraw(self.runs.pop())
                self.take_back(self.runs.pop(), before)
                # Nothing was to be changed for the run before either: it may have been that one.
                for other in runs[runs.index(run) + 1:] if run.is_maybe else ():
                    if self.problem(other, before, after) is not None: break
                    other.is_maybe = True
                return run
        if not runs:
            problems = [self.problem(Run(), before, after)]
            if problems == [None]: return None
        self.fault(*problems[0])
        if self.runs: self.take_back(self.runs.pop(), before)
        return None

    def problem(self, run, before, after):
        expected = self.expect(run, before)
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if os.path.basename(path).startswith("."): continue
            allowed = expected.get(path, [old])
            if new in allowed or is_same(path, new, allowed[0]): continue
            if "without" in allowed and new is not None:
                then, now = songs.Parts(old), songs.Parts(new)
                if (then.audio, then.tags) == (now.audio, now.tags) and now.picture in (None, allowed[2]): continue
            folder = self.folder(path)
            show = lambda data: "nothing" if data is None else f"{albums.key(data)} {albums.digest(data)}"
            wanted = " or ".join(show(one) for one in allowed[:1])
            is_former, write = allowed == [None] and new is not None and new != old, next((one for one in run.writes if one.path == path), None)
            kind = "undo-former" if is_former else "undo-moved" if write and write.written != path and new == old else "undo"
            return (kind, f"{path} was {show(old)}, is {show(new)}, is to be {wanted}", folder and folder.album)
        return None

    def take_back(self, run, before):
        for write in run.writes:
            if not write.is_there: continue
            place, now = write.song or write.folder, before.get(write.path)
            if write.after is not None and now is not None and (now == write.after or write.song):
                # Tags may have been edited since.
                picture = songs.Parts(write.after).picture if write.song else write.after
                if picture and (not write.song or songs.Parts(now).picture == picture): self.taken.add((place, albums.key(picture)))
            elif now is None and not write.song and write.folder.album is write.album:
                # The person had removed it: it stays so.
                write.folder.gone |= self.noticed(write.folder)
            if not write.song: write.folder.is_plain = False
        self.withdraw(run)

    def take_part_back(self, before, after):
        """What an undo that was killed has taken back. The next one may go on with it, or it was all of the run."""
        for run in reversed(self.runs):
            was_maybe, run.is_maybe, run.is_killed = run.is_maybe, True, True
            if not was_maybe: break
        for write in (write for run in self.runs for write in run.writes):
            if write.is_there and write.after is not None and before.get(write.path) == write.after != after.get(write.path):
                picture = songs.Parts(write.after).picture if write.song else write.after
                if picture: self.taken.add((write.song or write.folder, albums.key(picture)))

    def withdraw(self, run):
        for said in run.said: said.is_undone = True
