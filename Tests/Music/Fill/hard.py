"""The hard world: what takes one album for another. Albums that services do not have, but something that looks like it, accept no picture.

`SIMPLE` has the kinds that are one album in a folder, as options of `simple`; the functions below `@kind` make the others.
"""
from world import VARIOUS, Kinds

KINDS = kind = Kinds()
# One picture of one album is no placeholder that could be known as one.
LEAST = {"placeholders": 3}


def make(world, count, only=None):
    for name, function in KINDS.items():
        if only and only != name: continue
        world.kind = name
        for number in range(max(count, LEAST.get(name, 1))): function(world, f"{name}/{number + 1:02}", number)


def names(w): return w.artist(), w.title(), w.year()


def simple(w, at, *, title=None, artist=None, year=0, tracks=None, decoys=(), has=True, on="mcid", more={}, known={}, own=(), **options):
    """An album whose tags are right but for `options`. Decoys are what services have, too, as changes of it. `year` is the tags' difference;
    `known` is what services say of it instead; without `has` they do not have it."""
    known_artist, known_title, of = names(w)
    artist, title = artist or known_artist, title or known_title
    release = w.release(artist, title, of, tracks, on if has else "", **more)
    for decoy in decoys:
        decoy = dict(decoy)
        years = decoy.pop("years", 0)
        w.release(decoy.pop("artist", artist), decoy.pop("title", title), of + years, decoy.pop("tracks", len(release["names"])), **decoy)
    album, _ = w.album(f"{at}/{title.replace('/', '_')}", release, None if has else [], **{"year": of + year, "artist": artist, "title": title, **options})
    release.update(known)
    album["own"] += own
    return album


def titled(form): return lambda tags, number: tags.update(ALBUM=form.format(tags["ALBUM"], year=tags["DATE"]))
def tagged(**changes): return lambda tags, number: tags.update(changes)
def without(name): return lambda tags, number: tags.pop(name)
def singers(tags, number): tags.update(ARTIST=f"Singer {number}")


def artists(choose):
    """Songs of several artists; `choose(number, own)` names that of a song."""
    return lambda tags, number: tags.update(ARTIST=choose(number, tags["ARTIST"]))


def guests(w, n):
    one, other = w.artist(), w.artist()
    mark = ["&", "and", "with", "x", "vs."][n % 5]
    return {"tracks": 12, "albumartist": None, "decoys": [{"artist": VARIOUS}],
            "edit": artists(lambda number, own: other if number == 9 else own + ["", f" feat. {one}", f" {mark} {other}"][number % 3])}


def joined(w, n):
    first, second, third = (w.unique(lambda: f"{w.word('first')}{w.word('second').lower()}") for _ in range(3))
    return {"artist": [f"{first}, {second} & {third}", f"{first}, The {second}", f"{first} and {second}"][n % 3], "albumartist": None, "decoys": [{"artist": first}, {"artist": second}]}


def splits(w, n):
    one, other = w.artist(), w.artist()
    return {"artist": f"{one} / {other}", "tracks": 10, "albumartist": None, "edit": artists(lambda number, _: one if number <= 5 else other), "decoys": [{"artist": one}]}


def other_script(w, n):
    latin = w.artist()
    cyrillic = w.unique(lambda: "".join(w.random.choice("бвгджзклмнпрст") + w.random.choice("аеиоу") for _ in range(4)).title())
    return {"artist": latin, "on": "i", "known": {"artist": cyrillic}, "more": {"aliases": [latin]},
            "decoys": [{"artist": f"{cyrillic}в", "aliases": [latin], "on": "i", "years": 3}]}


def composers(w, n):
    composer, performer, work = w.person(), w.person(), f"Symphony No. {n % 9 + 1}"
    return {"artist": performer, "title": work, "tracks": 4, "albumartist": performer if n % 2 else composer, "known": {"title": f"{composer}: {work}"},
            "edit": tagged(ALBUM=f"{composer}: {work}", COMPOSER=composer), "decoys": [{"artist": w.person(), "years": 4}, {"artist": w.person()}]}


def numerals(w, n):
    ours, theirs = [("IV", "4"), ("Volume II", "Vol. 2"), ("Pt. 1", "Part One"), ("Vol. 03", "Vol. 3"), ("No. 2", "Nr. 2")][n % 5]
    title = w.title()
    return {"title": f"{title} {ours}", "known": {"title": f"{title} {theirs}"}, "decoys": [{"title": f"{title} 7"}]}


def numbers_differ(w, n):
    ours, theirs = [("2", "3"), ("Vol. 4", "Vol. 5"), ("Part One", "Part Two"), ("II", "III"), ("Chapter 7", "Chapter 8"), ("Vol. 1", "Vol. 1-3")][n % 6]
    title = w.title()
    return {"title": f"{title} {ours}", "has": False, "decoys": [{"title": f"{title} {theirs}"}, {"title": title}]}


def other_recordings(w, n):
    form = ["{} (Live)", "{} (Karaoke Version)", "{} (Instrumental)", "{} Remixes", "{} (Acoustic)", "{} (Anna's Version)", "{} (Re-recorded)", "{} (Demos)",
            "A Tribute to {}", "{} - Live at the Harbour"][n % 10]
    title = w.title()
    return {"title": title, "has": False, "decoys": [{"title": form.format(title)}]}


def scores(w, n):
    title = w.title()
    decoys = [{"title": f"{title} ({form})"} for form in ("Original Motion Picture Score", "Music Inspired by the Film", "Original Cast Recording")]
    return {"title": f"{title} (Original Motion Picture Soundtrack)", "artist": [VARIOUS, None][n % 2], "has": False, "edit": [singers, None][n % 2], "decoys": decoys}


def soundtracks(w, n):
    title = w.title()
    ours = ["OST", "(Original Soundtrack)", "- Soundtrack", "(Music from the Motion Picture)", ""][n % 5]
    return {"title": f"{title} {ours}".strip(), "known": {"title": f"{title} (Original Motion Picture Soundtrack)"}}


def symbols(w, n):
    titles = ["÷", "( )", "!!!", "+", "=", "×", "…", "*", "#", "&"]
    return {"title": titles[n % 10], "decoys": [{"title": titles[(n + 5) % 10], "years": 1}]}


def compilations(w, n):
    people = [w.artist() for _ in range(6)]
    return {"artist": VARIOUS, "year": n % 2, "edit": artists(lambda number, _: people[number % 6]), "decoys": [{"artist": people[0]}]}


def general_compilations(w, n):
    title = ["Summer Hits", "Love Songs", "Dance Party", "Chill Out", "Rock Ballads"][n % 5] + ("" if n % 2 else f" {w.word('title')}")
    return {"artist": VARIOUS, "title": title, "has": False, "decoys": [{"years": 5, "on": "d"}, {"years": 1}], "edit": singers}


def annual_compilations(w, n):
    return {"artist": VARIOUS, "title": f"Harbour Hits {1990 + n}", "has": False, "decoys": [{"title": f"Harbour Hits {1991 + n}"}, {"title": "Harbour Hits"}], "edit": singers}


def aliases(w, n): return (lambda one: {"artist": one, "on": "mc", "known": {"artist": w.artist(), "aliases": [one]}})(w.artist())
def renamed(w, n, change): return (lambda one: {"artist": one, "known": {"artist": change(one)}})(w.artist())
def sides(tags, number): tags.update(TRACKNUMBER=f"{'AB'[(number - 1) // 5]}{(number - 1) % 5 + 1}", TRACKTOTAL=None)
def restart(tags, number): tags.update(FILE=f"{number:02}", DISCNUMBER=None, TRACKTOTAL=None)


def discs_in_tags(w, n):
    form = ["{} (Disc {})", "{} [CD{}]", "{} - Disc {}"][n % 3]
    return {"tracks": [w.lengths(9), w.lengths(11)], "edit": lambda tags, _: tags.update(ALBUM=form.format(tags["ALBUM"], tags.pop("DISCNUMBER")))}


def some_ids(tags, number):
    if number % 3 == 0: tags.pop("MUSICBRAINZ_ALBUMID")


def in_the_tags(w, differ):
    keys = [f"own{w.random.randrange(10 ** 9)}" for _ in range(14 if differ else 1)]
    return {"own": keys, "cover": lambda number: keys[number % len(keys)]}


IMITATORS = {"artist": "The Imitators"}
CARRIERS = ["[FLAC]", "(2CD)", "[24-96]", "(Vinyl Rip)", "{{WEB}}", "[SHM-CD]", "(Explicit)", "[320]", "(CD Rip)", "[MP3]"]
EDITIONS = ["(Remastered 2011)", "[Remastered]", "(Mono)", "(Anniversary Edition)", "(Special Edition)"]
SIMPLE = {
    # Grouping.
    "numbers restart": lambda w, n: {"tracks": [w.lengths(10), w.lengths(9)], "edit": restart},
    "sides": lambda w, n: {"tracks": 10, "edit": sides, "format": "flac"},
    "years of songs": lambda w, n: {"tracks": 12, "edit": lambda tags, number: tags.update(DATE=1960 + number), "decoys": [IMITATORS]},
    "guests": guests, "joined artist names": joined, "splits": splits, "compilations": compilations, "discs in tags": discs_in_tags,
    "various who are one": lambda w, n: {"albumartist": VARIOUS, "decoys": [{"artist": VARIOUS}]},
    "label as album artist": lambda w, n: {"albumartist": f"{w.word('title')} Records"},
    "songs without the id": lambda w, n: {"id": True, "edit": some_ids},
    "id of another album": lambda w, n: {"id": w.release(*names(w))["number"]},
    "id of another album alone": lambda w, n: {"id": w.release(*names(w))["number"], "has": False},
    # The artist.
    "aliases": aliases, "artist of another script": other_script, "composers": composers,
    "reversed names": lambda w, n: (lambda one: {"artist": ", ".join(reversed(one.split())), "known": {"artist": one}})(w.person()),
    "and his band": lambda w, n: renamed(w, n, lambda one: f"{one} & {['The', 'His', 'Her'][n % 3]} {w.word('second')}"),
    "the and accents": lambda w, n: renamed(w, n, lambda one: f"The {one}".replace("e", "é" if n % 2 else "e")),
    "joined with another": lambda w, n: (lambda one: {"artist": one, "has": False, "decoys": [{"artist": f"{one} & {w.artist()}", "years": 1, "tracks": 11}]})(w.artist()),
    # The title.
    "carriers": lambda w, n: {"edit": titled("{} " + CARRIERS[n % 10]), "decoys": [IMITATORS]},
    "year in the title": lambda w, n: {"edit": titled(["{year} - {}", "[{year}] {}", "({year}) {}"][n % 3])},
    "edition with equal songs": lambda w, n: {"edit": titled("{} " + EDITIONS[n % 5])},
    "beginning of a title": lambda w, n: (lambda one: {"title": one, "has": False, "decoys": [{"title": f"{one} {w.word('first')} {w.word('second')}"}]})(w.title()),
    "one letter apart": lambda w, n: {"edit": lambda tags, _: tags.update(ALBUM=tags["ALBUM"][:-2] + tags["ALBUM"][-1])},
    "numerals": numerals, "numbers differ": numbers_differ, "other recordings": other_recordings, "scores": scores, "soundtracks": soundtracks, "symbols": symbols,
    # The year.
    "original date": lambda w, n: {"year": 30, "edit": lambda tags, _: tags.update(ORIGINALDATE=tags["DATE"] - 30)},
    "reissue of unknown origin": lambda w, n: {"year": 25},
    "unknown years": lambda w, n: {"edit": tagged(DATE=["0000", "1900", "2099", ""][n % 4]), "decoys": [{"years": 12}] if n % 2 else []},
    "recorded again": lambda w, n: {"has": False, "decoys": [{"years": n % 3}]},
    # The tracks.
    "songs missing": lambda w, n: {"tracks": 12, "only": [0, 1, 3, 4, 7, 8, 11], "decoys": [{"years": 10}]},
    "as many other songs": lambda w, n: {"has": False, "edit": without("DATE"), "decoys": [{}]},
    "other mastering": lambda w, n: {"shift": 7_000},
    "unknown lengths": lambda w, n: {"format": "flac", "edit": tagged(LENGTH=0)},
    # Names that say little.
    "greatest hits": lambda w, n: {"title": ["Greatest Hits", "Best of", "Gold", "The Essential", "Anthology"][n % 5], "tracks": 20, "has": n % 2 == 0, "decoys": [{"years": -1, "tracks": 12}, {"years": 5}]},
    "own name": lambda w, n: (lambda one: {"artist": one, "title": one, "decoys": [{"years": 20}, {"years": 1}]})(w.artist()),
    "live": lambda w, n: {"title": ["Live", "Unplugged", "Christmas", "Acoustic", "Live in Concert"][n % 5], "has": False, "decoys": [{"years": 1}]},
    "dates": lambda w, n: {"title": f"1987-05-{10 + n} Harbour Hall", "has": False, "decoys": [{"title": f"1987-05-{11 + n} Harbour Hall"}, {"title": f"1987-06-{10 + n} Harbour Hall"}]},
    "works": lambda w, n: {"title": ["Symphony No. 9", "Goldberg Variations", "Cantatas Vol. 12", "Requiem", "The Four Seasons"][n % 5], "artist": w.person(), "has": False, "tracks": 4,
                           "decoys": [{"artist": w.person()}, {"years": 1}, {"years": 15}]},
    "general compilations": general_compilations, "annual compilations": annual_compilations,
    # Singles, EPs, namesakes.
    "singles": lambda w, n: {"tracks": 2, "more": {"type": "Single"}, "edit": titled("{}" + [" - Single", ""][n % 2]), "decoys": [{"tracks": 11}]},
    "single named as its album": lambda w, n: {"tracks": 2, "has": False, "decoys": [{"tracks": 11}]},
    "album named as its single": lambda w, n: {"tracks": 11, "has": False, "decoys": [{"tracks": 2, "type": "Single"}, {"tracks": 5, "type": "EP"}]},
    "eps": lambda w, n: {"tracks": 5, "more": {"type": "EP"}, "edit": titled("{}" + [" EP", " - EP", ""][n % 3]), "decoys": [{"tracks": 12}]},
    "namesakes": lambda w, n: {"has": n % 2 == 0, "decoys": [{"years": 1}]},
    "imitators": lambda w, n: (lambda one: {"title": one, "has": False, "decoys": [IMITATORS, {**IMITATORS, "title": f"A Tribute to {one}"}]})(w.title()),
    # What is no cover, and what is.
    "pictures that differ": lambda w, n: in_the_tags(w, True),
    "no album": lambda w, n: {"has": False, "edit": tagged(ALBUM=["Unknown Album", "[non-album tracks]", "Unknown", ""][n % 4]), "decoys": [{"title": ["Unknown Album", "[non-album tracks]", "Unknown", "Unknown"][n % 4]}]},
}


for name, options in SIMPLE.items(): KINDS[name] = lambda w, at, n, options=options: simple(w, at, **options(w, n))


# ---- Which files are one album

@kind
def two_albums_in_a_folder(w, at, n):
    title, year = w.title(), w.year()
    for _ in range(2): w.album(at, w.release(w.artist(), title, year, 10), tagsOnly=True)


@kind
def two_years_in_a_folder(w, at, n):
    artist, title, year = names(w)
    for later in (0, 7): w.album(at, w.release(artist, title, year + later, 10), tagsOnly=True)


@kind
def two_ids_that_clash(w, at, n):
    artist, title, year = names(w)
    for _ in range(2): w.album(at, w.release(artist, title, year, 10), id=True, tagsOnly=True)


@kind
def copies(w, at, n):
    release = w.release(*names(w))
    for format in ("flac", "mp3"): w.album(f"{at}/{format.upper()}" if n % 2 else at, release, format=format)


@kind
def scattered(w, at, n):
    release = w.release(*names(w), 10)
    for part in range(2): w.album(f"{at}/{part}", release, only=range(part * 5, part * 5 + 5))


@kind
def single_beside_album(w, at, n):
    artist, title, year = names(w)
    album = w.release(artist, title, year, 10)
    w.album(f"{at}/{title}", album)
    w.album(f"{at}/{title} (Single)", w.release(artist, title, year, album["discs"][0][:1], type="Single"))


@kind
def plain_beside_deluxe(w, at, n):
    artist, title, year = names(w)
    plain = w.release(artist, title, year, 10)
    w.album(f"{at}/{title}", plain)
    w.album(f"{at}/{title} Deluxe", w.release(artist, f"{title} (Deluxe Edition)", year, plain["discs"][0] + w.lengths(6), group=plain))


@kind
def disc_folders(w, at, n):
    title = w.title()
    w.album(f"{at}/{title}", w.release(w.artist(), title, w.year(), [w.lengths(9), w.lengths(11)]), discs=["CD1", "CD 2 - Night"], also=[f"{at}/{title}"])


@kind
def volumes(w, at, n):
    artist, title, year = names(w)
    for volume in (1, 2):
        hasIt = volume == 1 or n % 2
        release = w.release(artist, f"{title}, Vol. {volume}", year, 10, "mcid" if hasIt else "")
        w.album(f"{at}/{artist}/Vol. {volume}", release, None if hasIt else [], title=f"{title} Vol. {volume}")


@kind
def volumes_that_are_discs(w, at, n):
    title = w.title()
    w.album(f"{at}/{title}", w.release(w.artist(), title, w.year(), [w.lengths(10), w.lengths(10)]), discs=["Vol 1", "Vol 2"], also=[f"{at}/{title}"])


@kind
def discs_in_the_artists_folder(w, at, n):
    artist, title, year = names(w)
    w.album(f"{at}/{artist}", w.release(artist, title, year, [w.lengths(8), w.lengths(8)]), discs=["CD1", "CD2"])


@kind
def loose_songs(w, at, n):
    for number in range(3): w.album(at, w.release(*names(w), 12), only=[number], tagsOnly=True)


@kind
def three_quarters(w, at, n):
    w.album(at, w.release(*names(w), 12))
    w.album(at, w.release(*names(w), 12), only=[3], tagsOnly=True)


@kind
def picture_of_the_artist(w, at, n):
    artist = w.artist()
    w.give(f"{at}/{artist}/folder.jpg", f"artist{w.random.random()}")
    w.album(f"{at}/{artist}/One", w.release(artist, w.title(), w.year()))
    w.album(f"{at}/{artist}/Two", w.release(artist, w.title(), w.year(), on=""), [])


@kind
def boxes(w, at, n):
    artist, year = w.artist(), w.year()
    albums = [w.release(artist, w.title(), year - 20 + part, 10) for part in range(3)]
    box = w.release(artist, f"The {w.word('title')} Box", year, [one["discs"][0] for one in albums])
    for one in albums: w.album(f"{at}/{one['title']}", one, id=box["number"])


@kind
def two_ids_in_a_folder(w, at, n):
    artist, title, year = names(w)
    discs = [w.lengths(8), w.lengths(9)]
    parts = [w.release(artist, f"{w.title()} ({part})", year, discs[part]) for part in range(2)]
    w.album(at, w.release(artist, title, year, discs), edit=lambda tags, _: tags.update(MUSICBRAINZ_ALBUMID=w.id(parts[tags["DISCNUMBER"] - 1])))


# ---- Which album of the library it is

def replaced(w, at, before, after):
    """A folder whose album and cover are moved away after the first fill, and others lie there."""
    former, _ = w.album(at, before)
    w.albums.remove(former)
    _, songs = w.album(at, after, None if after["on"] else [], later=True)
    w.later.append({"remove": former["songs"] + [f"{at}/cover.jpg"], "songs": songs})


@kind
def folder_used_again(w, at, n): replaced(w, at, w.release(*names(w), 10), w.release(*names(w), 10, "" if n % 2 else "mcid"))


@kind
def used_again_a_year_later(w, at, n):
    artist, title, year = names(w)
    replaced(w, at, w.release(artist, title, year, 10), w.release(artist, title, year + 1, 10, ""))


@kind
def used_again_by_the_same_artist(w, at, n):
    artist, title, year = names(w)
    replaced(w, at, w.release(artist, title, year, 10), w.release(artist, w.title(), year, 10, ""))


@kind
def corrected_tags(w, at, n):
    artist, title, year = names(w)
    right = w.release(artist, title, year, 10)
    replaced(w, at, w.release(artist, w.title(), year, right["discs"], "", names=right["names"]), right)


@kind
def removed_by_the_person(w, at, n):
    album = simple(w, at)
    w.later.append({"remove": [f"{album['folders'][0]}/cover.jpg"], "songs": {}})
    album["own"], album["accept"] = album["accept"], []


# ---- Evidence

@kind
def two_of_one_name(w, at, n):
    artist, title, year = names(w)
    w.album(f"{at}/First", w.release(artist, title, year, 10))
    w.album(f"{at}/Second", w.release(artist, title, year + 1, 10, ""), [])


@kind
def reissues(w, at, n):
    artist, title, year = names(w)
    first = w.release(artist, title, year, 10)
    again = w.release(artist, title, year + 20, first["discs"], group=first, names=first["names"])
    w.album(f"{at}/{title}", again, [first["picture"], again["picture"]])


@kind
def bonus_song(w, at, n):
    artist, title, year = names(w)
    release = w.release(artist, title, year, 10)
    w.album(f"{at}/{title}", w.release(artist, title, year, release["discs"][0] + w.lengths(1), ""), [release["picture"]])


@kind
def one_file(w, at, n):
    release = w.release(*names(w))
    whole = w.release(release["artist"], release["title"], release["year"], [sum(release["discs"][0])], "")
    w.album(f"{at}/{release['title']}", whole, [release["picture"]], format="flac", numbered=False)


@kind
def placeholders(w, at, n):
    # One alone looks like a cover. Albums of three artists with one picture show that it is none.
    for number in range(3): simple(w, f"{at}/{number}", on="d", more={"picture": "placeholder"})["accept"] = []


@kind
def picture_in_the_tags(w, at, n):
    album = simple(w, at, **in_the_tags(w, False))
    # Where services are asked alone, theirs is right, too.
    album["accept"] = album["own"] + (album["accept"] if w.pictures else [])
