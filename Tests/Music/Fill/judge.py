"""Tells right, wrong and missed covers from the bytes of the files in a music folder."""
import collections
import os
import re

import media

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".gif")
OUTCOMES = ["right", "review", "missed", "none", "wrong"]


class Verdict:
    def __init__(self, album):
        self.album, self.outcome, self.reasons = album, "", []


def release_of(key, world):
    return next((one for one in world["releases"] if one["picture"] == key), None)


def described(key, world):
    one = release_of(key, world)
    if not one: return key
    counts = " + ".join(str(len(disc)) for disc in one["discs"])
    return f"“{one['artist']}, {one['title']}” ({one['year']}, {counts} tracks, {one['type'].lower()}, at {one['on']})"


def key_of(url, world):
    """Which picture an address leads to."""
    found = re.search(r"/pictures/(\w+)/", url)
    if found: return next(one["picture"] for one in world["releases"] if one["key"] == found[1])
    found = re.search(r"/(release|release-group)/([0-9a-f]{8})-", url)
    if not found: return None
    field, number = ("number" if found[1] == "release" else "group"), int(found[2], 16)
    return next((one["picture"] for one in world["releases"] if one[field] == number and "c" in one["on"]), None)


def judge(world, music, doubtful=()):
    """- doubtful: the folder, the title and the address of the first doubtful cover of albums that a program lists."""
    files = collections.defaultdict(set)
    for folder, _, names in os.walk(music):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), music)
            if not name.lower().endswith(IMAGES): continue
            with open(os.path.join(music, path), "rb") as file: keys = media.shown(file.read())
            if path not in world["given"]: files[os.path.dirname(path)] |= keys or {f"{path} shows nothing known"}
    allowed = collections.defaultdict(set)
    for album in world["albums"]:
        if not album["tagsOnly"]:
            for folder in album["folders"] + album["also"]: allowed[folder] |= set(album["accept"])
    verdicts = []
    for album in world["albums"]:
        verdict = Verdict(album)
        accept, places = set(album["accept"]), album["folders"] + album["also"]
        above = [folder for folder in files if folder not in allowed and any(one.startswith(folder + "/") for one in places)]
        for folder in places + above:
            for key in files.get(folder, set()) - allowed[folder]:
                why = "a folder of several albums" if album["tagsOnly"] or folder in above else "the folder"
                verdict.reasons.append(f"{why} `{folder}` has {described(key, world)}")
        inTags = set()
        for song in album["songs"]:
            with open(os.path.join(music, song), "rb") as file: keys = media.shown(file.read())
            inTags |= keys
            for key in keys - accept - set(album.get("own", [])):
                verdict.reasons.append(f"the tags of `{os.path.dirname(song)}` have {described(key, world)}")
        isFilled = all(files.get(folder, set()) & accept for folder in album["folders"]) or any(files.get(folder, set()) & accept for folder in album["also"])
        listed = [key_of(url, world) for folder, title, url in doubtful if os.path.relpath(folder, music) in places and (not title or not album["tagsOnly"])]
        if verdict.reasons: verdict.outcome = "wrong"
        elif not accept: verdict.outcome = "none"
        elif album["tagsOnly"]: verdict.outcome = "right" if inTags & accept else "none"
        elif isFilled: verdict.outcome = "right"
        elif any(key in accept for key in listed): verdict.outcome = "review"
        elif album.get("isNowhere"): verdict.outcome = "none"
        else: verdict.outcome = "missed"
        verdict.reasons = sorted(set(verdict.reasons))
        verdicts.append(verdict)
    return verdicts


def counts(verdicts, byKind=True):
    """Rows of a table, by their names: right; the right one is the first doubtful one; missed; none, as it should be; wrong."""
    kinds = collections.defaultdict(collections.Counter)
    for verdict in verdicts:
        for kind in [verdict.album["kind"], *verdict.album.get("labels", []), "all"]: kinds[kind][verdict.outcome] += 1
    labels = {label for verdict in verdicts for label in verdict.album.get("labels", [])}
    names = sorted(set(kinds) - labels - {"all"}) + sorted(labels) if byKind else []
    return {kind: [kinds[kind][name] for name in OUTCOMES] for kind in names + ["all"]}


def table(verdicts, byKind=True):
    lines = [f"{'':34}" + "".join(f"{name:>8}" for name in OUTCOMES)]
    return lines + [f"{kind:34}" + "".join(f"{number or '':>8}" for number in row) for kind, row in counts(verdicts, byKind).items()]


def wrong(verdicts):
    """Wrong covers by kind, and why, as Markdown."""
    lines = []
    for kind in sorted({one.album["kind"] for one in verdicts if one.outcome == "wrong"}):
        found = [one for one in verdicts if one.outcome == "wrong" and one.album["kind"] == kind]
        lines.append(f"- **{kind}**: {len(found)}")
        lines += [f"    - {one.album['name']}: {one.reasons[0]}" for one in found[:2]]
    return lines
