#!/usr/bin/env python3
"""MusicBrainz, the Cover Art Archive, iTunes and Deezer as their documentation describes them, on this computer, with the releases of a world.

`services.py WORLD.json [--relaxed] [--pictures]` prints the address; each service is below a path of its name. With `--relaxed`, more requests
are answered than the services allow; with `--pictures`, pictures are those of `artwork`.
"""
import collections
import http.server
import json
import re
import sys
import threading
import time
import unicodedata
import urllib.parse

import media
from world import VARIOUS, uuid

VARIOUS_ID = "89ad4ac3-39f7-470e-963a-56509c546377"
# Requests in seconds, as documented: of MusicBrainz one a second, on the average.
LIMITS = {"musicbrainz": (5, 5), "itunes": (20, 60), "deezer": (50, 5)}


def words(text):
    text = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return re.findall(r"\w+", text.replace("'", "").replace("’", ""))


def has_phrase(text, phrase):
    text, phrase = words(text), words(phrase)
    return bool(phrase) and any(text[n:n + len(phrase)] == phrase for n in range(len(text) - len(phrase) + 1))


def near(text):
    """The words of a text, and the longer ones without one letter: a search that forgives a slip has one of them in common."""
    return [{word} | ({word[:n] + word[n + 1:] for n in range(len(word))} if len(word) > 4 else set()) for word in words(text)]


class Services:
    def __init__(self, releases, limits=True, pictures=False):
        """- pictures: Each service gives them in sizes and codings of its own (`artwork`)."""
        self.releases, self.pictures = releases, pictures
        self.limits = limits
        self.by_release = {uuid("release", one["number"]): one for one in releases}
        self.by_key = {one["key"]: one for one in releases}
        self.groups = collections.defaultdict(list)
        for one in releases: self.groups[uuid("group", one["group"])].append(one)
        self.artists = {}
        self.near = {one["key"]: set().union(*near(" ".join([one["artist"], self.sold(one), *one.get("aliases", [])]))) for one in releases}
        self.counts, self.refused, self.times = collections.Counter(), collections.Counter(), collections.defaultdict(list)
        self.downloads = collections.Counter()
        self.lock = threading.Lock()
        services = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version, wbufsize = "HTTP/1.1", -1

            def do_GET(self):
                status, fields, body = services.answer(self.path, self.headers)
                self.send_response(status)
                for name, value in {**fields, "Content-Length": str(len(body))}.items(): self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(body)

            do_HEAD = do_GET
            def log_message(self, *_): pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            def handle_error(self, *_): pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    # ---- Requests

    def answer(self, target, fields):
        parts = urllib.parse.urlsplit(target)
        service, _, path = urllib.parse.unquote(parts.path).strip("/").partition("/")
        query = {key: values[0] for key, values in urllib.parse.parse_qs(parts.query).items()}
        if service == "pictures": return self.picture(path)
        refusal = self.refusal(service, fields)
        if refusal: return refusal
        try:
            return getattr(self, service)(path, query)
        except (AttributeError, KeyError, StopIteration):
            return 404, {}, b'{"error":"Not Found"}'

    def refusal(self, service, fields):
        with self.lock:
            self.counts[service] += 1
            agent = fields.get("User-Agent", "")
            if service == "musicbrainz" and self.limits and "@" not in agent and "://" not in agent: return 403, {}, b"no contact"
            limit = LIMITS.get(service)
            if not limit or not self.limits: return None
            now, times = time.monotonic(), self.times[service]
            times[:] = [then for then in times if now - then < limit[1] - .02] + [now]
            if len(times) <= limit[0]: return None
            self.refused[service] += 1
        if service == "deezer": return self.json({"error": {"type": "Exception", "message": "Quota limit exceeded", "code": 4}})
        return {"musicbrainz": 503, "itunes": 403}[service], {}, b""

    def json(self, value):
        return 200, {"Content-Type": "application/json; charset=utf-8"}, json.dumps(value).encode()

    def picture(self, path):
        """`KEY/SERVICE/NAME`: of an entry, as a service has it, in the size that the name has."""
        key, service, name = path.split("/")
        with self.lock: self.downloads[service] += 1
        shown = self.by_key[key]["picture"]
        if self.pictures:
            import artwork
            kind, data = artwork.given(shown, key, service, name)
        else:
            kind, data = "image/jpeg", media.picture(shown, min(int((re.findall(r"\d+", name) + ["600"])[0]), 600))
        return 200, {"Content-Type": kind, "Cache-Control": "max-age=86400"}, data

    def of(self, service): return [one for one in self.releases if service[0] in one["on"]]
    def artist_id(self, name): return self.artists.setdefault(name, len(self.artists) + 1)
    def lengths(self, one): return [length for disc in one["discs"] for length in disc]
    def date(self, one, unknown): return unknown if one.get("hasNoYear") else f"{one['year']}-05-10"
    def length(self, one, length): return None if one.get("hasNoLengths") else length

    # ---- MusicBrainz (musicbrainz.org/doc/MusicBrainz_API)

    def musicbrainz(self, path, query):
        parts = path.split("/")
        if parts[:3] != ["ws", "2", "release"]: raise KeyError
        if len(parts) == 4: return self.json(self.described(self.by_release[parts[3]], True))
        text = query["query"]
        found = [(self.score(one, text), number, one) for number, one in enumerate(self.of("musicbrainz"))]
        found = [one for score, _, one in sorted(found, key=lambda one: (-one[0], one[1])) if score > 0]
        limit = int(query.get("limit", 25))
        return self.json({"count": len(found), "offset": 0, "releases": [{**self.described(one, False), "score": 100} for one in found[:limit]]})

    def score(self, one, text):
        """Lucene: phrases must be there, of words in parentheses some; names that are no longer than what is asked come first."""
        score = 0
        for field, phrase, some, value in re.findall(r'(\w+):(?:"((?:[^"\\]|\\.)*)"|\(([^)]*)\)|(\S+))', text):
            phrase = re.sub(r"\\(.)", r"\1", phrase or value)
            names = {
                "tracks": [str(len(self.lengths(one)))], "release": [one["title"]], "artist": [one["artist"], *one.get("aliases", [])], "reid": [uuid("release", one["number"])],
                "rgid": [uuid("group", one["group"])], "arid": [VARIOUS_ID if one["artist"] == VARIOUS else uuid("artist", self.artist_id(one["artist"]))],
            }.get(field)
            if names is None: continue
            if field in ("reid", "rgid", "arid", "tracks"): part = float(phrase.lower() in names)
            elif some:
                asked = set(words(some))
                part = max(len(asked & set(words(name))) / max(len(asked | set(words(name))), 1) for name in names)
            elif not words(phrase): part = float(phrase.strip() in [name.strip() for name in names])
            else: part = max(len(words(phrase)) / len(words(name)) if has_phrase(name, phrase) else 0 for name in names)
            if part == 0: return 0
            score += part
        return score

    def described(self, one, isWhole):
        name = one["artist"]
        artist = {"id": VARIOUS_ID if name == VARIOUS else uuid("artist", self.artist_id(name)), "name": name, "sort-name": name,
                  "disambiguation": "", "type": "Group", "country": None,
                  "aliases": [{"name": alias, "sort-name": alias, "locale": None, "primary": None, "type": "Artist name"} for alias in one.get("aliases", [])]}
        credit = [{"name": name, "joinphrase": "", "artist": artist}]
        def disc(number, lengths):
            found = {"position": number + 1, "format": "CD", "title": "", "track-count": len(lengths)}
            if isWhole:
                start = sum(map(len, one["discs"][:number]))
                found["tracks"] = [
                    {"id": f"t{start + n}", "number": str(n + 1), "position": n + 1, "title": one["names"][start + n], "length": self.length(one, length), "artist-credit": credit,
                     "recording": {"id": f"x{start + n}", "title": one["names"][start + n], "length": self.length(one, length), "disambiguation": "", "video": False, "aliases": [],
                                   "artist-credit": credit, "isrcs": [], "relations": []}} for n, length in enumerate(lengths)]
            return found
        return {
            "id": uuid("release", one["number"]), "title": one["title"], "status": "Official", "date": self.date(one, ""), "country": "XW",
            "artist-credit": credit, "disambiguation": "", "barcode": None, "asin": None, "aliases": [], "label-info": [], "release-events": [], "relations": [], "genres": [],
            "text-representation": {"language": "eng", "script": "Latn"}, "packaging": None, "track-count": len(self.lengths(one)),
            "media": [disc(number, lengths) for number, lengths in enumerate(one["discs"])],
            "cover-art-archive": {"front": "c" in one["on"], "artwork": "c" in one["on"], "count": 1},
            "release-group": {"id": uuid("group", one["group"]), "title": one["title"], "primary-type": one["type"], "secondary-types": [], "disambiguation": "",
                              "aliases": [], "genres": [], "relations": [], "first-release-date": "" if one.get("hasNoYear") else str(one["first"])}}

    # ---- Cover Art Archive (musicbrainz.org/doc/Cover_Art_Archive/API)

    def caa(self, path, query):
        entity, id, *rest = path.split("/")
        known = {"release": [self.by_release.get(id)], "release-group": self.groups.get(id, [])}[entity]
        one = next(one for one in known if one and "c" in one["on"])
        if rest: return 307, {"Location": f"{self.url}/pictures/{one['key']}/caa/{rest[0]}"}, b""
        image = f"{self.url}/caa/{entity}/{id}/front"
        return self.json({"release": f"https://musicbrainz.org/release/{id}", "images": [
            {"front": True, "back": False, "approved": True, "types": ["Front"], "image": image, "id": 1,
             "thumbnails": {size: f"{image}-{size}" for size in ("250", "500", "1200")}}]})

    # ---- iTunes (Apple's documentation archive, "iTunes Search API")

    def itunes(self, path, query):
        if path == "lookup":
            one = next(one for one in self.of("itunes") if str(one["number"]) == query["id"])
            songs = [
                {"wrapperType": "track", "kind": "song", "collectionId": one["number"], "artistName": one["artist"], "collectionName": one["title"], "discNumber": disc + 1,
                 "discCount": len(one["discs"]), "trackNumber": track + 1, "trackCount": len(lengths), "trackTimeMillis": self.length(one, length), "trackName": "Song"}
                for disc, lengths in enumerate(one["discs"]) for track, length in enumerate(lengths)]
            results = [self.collection(one)] + (songs if query.get("entity") == "song" else [])
        else:
            asked = near(query["term"])
            found = [one for one in self.of("itunes") if asked and all(word & self.near[one["key"]] for word in asked)]
            results = [self.collection(one) for one in found[:int(query.get("limit", 50))]]
        return self.json({"resultCount": len(results), "results": results})

    def sold(self, one): return one["title"] + {"Single": " - Single", "EP": " - EP"}.get(one["type"], "")

    def collection(self, one):
        url = f"{self.url}/pictures/{one['key']}/itunes"
        return {
            "wrapperType": "collection", "collectionType": "Album", "collectionId": one["number"], "artistId": self.artist_id(one["artist"]),
            "artistName": one["artist"], "collectionName": self.sold(one), "artworkUrl60": f"{url}/60x60bb.jpg", "artworkUrl100": f"{url}/100x100bb.jpg",
            "trackCount": len(self.lengths(one)), "primaryGenreName": "Rock",
            **({} if one.get("hasNoYear") else {"releaseDate": f"{one['year']}-05-10T07:00:00Z"})}

    # ---- Deezer (developers.deezer.com/api)

    def deezer(self, path, query):
        if path.startswith("album/"):
            one = next((one for one in self.of("deezer") if str(one["number"]) == path.split("/")[1]), None)
            if not one: return self.json({"error": {"type": "DataException", "message": "no data", "code": 800}})
            songs = [{"id": n, "title": name, "duration": round((self.length(one, length) or 0) / 1_000), "track_position": n + 1, "type": "track", "artist": {"name": one["artist"]}}
                     for n, (name, length) in enumerate(zip(one["names"], self.lengths(one)))]
            if path.endswith("/tracks"): return self.json({"data": songs, "total": len(songs)})
            return self.json({**self.offered(one), "release_date": self.date(one, "0000-00-00"), "duration": sum(self.lengths(one)) // 1_000,
                              "contributors": [{"name": one["artist"]}], "tracks": {"data": songs}})
        phrases = dict(re.findall(r'(artist|album):"([^"]*)"', query["q"]))
        rest = set(words(re.sub(r'\w+:"[^"]*"', "", query["q"])))
        found = [
            one for one in self.of("deezer")
            if (phrases or rest) and all(has_phrase(one["title" if field == "album" else field], phrase) or one["title" if field == "album" else field] == phrase.strip()
                                         for field, phrase in phrases.items())
            and rest <= set(words(f"{one['artist']} {one['title']}"))][:int(query.get("limit", 25))]
        if path == "search": return self.json({"data": [{"title": "Song", "artist": {"name": one["artist"]}, "album": self.offered(one)} for one in found], "total": len(found)})
        return self.json({"data": [self.offered(one) for one in found], "total": len(found)})

    def offered(self, one):
        folder = f"{self.url}/pictures/{one['key']}/deezer"
        sizes = {"cover_small": 56, "cover": 120, "cover_medium": 250, "cover_big": 500, "cover_xl": 1_000}
        return {
            "id": one["number"], "title": one["title"], "type": "album", "record_type": one["type"].lower(), "nb_tracks": len(self.lengths(one)),
            "artist": {"id": self.artist_id(one["artist"]), "name": one["artist"]},
            **{name: f"{folder}/{side}x{side}-000000-80-0-0.jpg" for name, side in sizes.items()}}


if __name__ == "__main__":
    with open(sys.argv[1]) as file: services = Services(json.load(file)["releases"], "--relaxed" not in sys.argv, "--pictures" in sys.argv)
    print(services.url, flush=True)
    threading.Event().wait()
