"""The hard world: what takes one album for another. Each function makes an album, or some, of one kind, below a folder.

Albums that services do not have, but something that looks like it, accept no picture.
"""
from world import VARIOUS

KINDS = {}


def kind(function):
    KINDS[function.__name__.replace("_", " ")] = function


def make(world, count, only=None):
    for name, function in KINDS.items():
        if only and only != name: continue
        world.kind = name
        for number in range(count): function(world, f"{name}/{number + 1:02}", number)


def names(w): return w.artist(), w.title(), w.year()


def simple(w, at, *, title=None, artist=None, year=0, tracks=None, decoys=(), has=True, on="mcid", more={}, **options):
    """An album whose tags are right but for `options`, and decoys: changes of artist, title, year, tracks, type."""
    known, name, of = names(w)
    artist, name = artist or known, title or name
    release = w.release(artist, name, of, tracks, on if has else "", **more)
    for decoy in decoys:
        decoy = dict(decoy)
        years = decoy.pop("years", 0)
        w.release(decoy.pop("artist", artist), decoy.pop("title", name), of + years, decoy.pop("tracks", len(release["names"])), **decoy)
    return w.album(f"{at}/{name.replace('/', '_')}", release, None if has else [], year=of + year, **options)


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
def numbers_restart(w, at, n):
    def edit(tags, number):
        tags.update(FILE=f"{number:02}", DISCNUMBER=None, TRACKTOTAL=None)
    simple(w, at, tracks=[w.lengths(10), w.lengths(9)], edit=edit, decoys=[{"title": "Other"}])


@kind
def sides(w, at, n):
    def edit(tags, number): tags.update(TRACKNUMBER=f"{'AB'[(number - 1) // 5]}{(number - 1) % 5 + 1}", TRACKTOTAL=None)
    simple(w, at, tracks=10, edit=edit, format="flac")


@kind
def years_of_songs(w, at, n):
    simple(w, at, tracks=12, edit=lambda tags, number: tags.update(DATE=1960 + number), decoys=[{"artist": "The Imitators"}])


@kind
def copies(w, at, n):
    release = w.release(*names(w))
    for format in ("flac", "mp3"): w.album(f"{at}/{format.upper()}", release, format=format)


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
def guests(w, at, n):
    one, other = w.artist(), w.artist()
    def edit(tags, number):
        tags["ARTIST"] = other if number == 9 else tags["ARTIST"] + ["", f" feat. {one}", f" & {other}"][number % 3]
    simple(w, at, tracks=12, albumartist=None, edit=edit, decoys=[{"artist": VARIOUS}])


@kind
def joined_artist_names(w, at, n):
    first, second, third = (w.unique(lambda: f"{w.word('first')}{w.word('second').lower()}") for _ in range(3))
    simple(w, at, artist=f"{first}, {second} & {third}", albumartist=None, decoys=[{"artist": first}, {"artist": second}])


@kind
def splits(w, at, n):
    one, other = w.artist(), w.artist()
    def edit(tags, number): tags["ARTIST"] = one if number <= 5 else other
    simple(w, at, artist=f"{one} / {other}", tracks=10, albumartist=None, edit=edit, decoys=[{"artist": one}])


@kind
def various_who_are_one(w, at, n):
    simple(w, at, albumartist=VARIOUS, decoys=[{"artist": VARIOUS}])


@kind
def compilations(w, at, n):
    people = [w.artist() for _ in range(6)]
    def edit(tags, number): tags.update(ARTIST=people[number % 6])
    simple(w, at, artist=VARIOUS, year=n % 2, edit=edit, decoys=[{"artist": people[0]}])


@kind
def disc_folders(w, at, n):
    artist, title, year = names(w)
    release = w.release(artist, title, year, [w.lengths(9), w.lengths(11)])
    w.album(f"{at}/{title}", release, discs=["CD1", "CD 2 - Night"], also=[f"{at}/{title}"])


@kind
def discs_in_tags(w, at, n):
    form = ["{} (Disc {})", "{} [CD{}]", "{} - Disc {}"][n % 3]
    def edit(tags, number): tags["ALBUM"] = form.format(tags["ALBUM"], tags.pop("DISCNUMBER"))
    simple(w, at, tracks=[w.lengths(9), w.lengths(11)], edit=edit)


@kind
def volumes(w, at, n):
    artist, title, year = names(w)
    for volume in (1, 2):
        hasIt = volume == 1 or n % 2
        release = w.release(artist, f"{title}, Vol. {volume}", year, 10, "mcid" if hasIt else "")
        w.album(f"{at}/{artist}/Vol. {volume}", release, None if hasIt else [], title=f"{title} Vol. {volume}")


@kind
def volumes_that_are_discs(w, at, n):
    artist, title, year = names(w)
    release = w.release(artist, title, year, [w.lengths(10), w.lengths(10)])
    w.album(f"{at}/{title}", release, discs=["Vol 1", "Vol 2"], also=[f"{at}/{title}"])


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
def id_of_another_album(w, at, n):
    simple(w, at, id=w.release(*names(w))["number"])


@kind
def id_of_another_album_alone(w, at, n):
    simple(w, at, has=False, id=w.release(*names(w))["number"])


@kind
def two_ids_in_a_folder(w, at, n):
    artist, title, year = names(w)
    discs = [w.lengths(8), w.lengths(9)]
    parts = [w.release(artist, f"{w.title()} ({part})", year, discs[part]) for part in range(2)]
    def edit(tags, number): tags["MUSICBRAINZ_ALBUMID"] = w.id(parts[tags["DISCNUMBER"] - 1])
    w.album(at, w.release(artist, title, year, discs), edit=edit)


@kind
def songs_without_the_id(w, at, n):
    def edit(tags, number):
        if number % 3 == 0: tags.pop("MUSICBRAINZ_ALBUMID")
    simple(w, at, id=True, edit=edit)


# ---- Which album of the library it is

def replaced(w, at, before, after):
    """A folder whose album and cover are moved away after the first fill, and others lie there."""
    former, _ = w.album(at, before)
    w.albums.remove(former)
    _, songs = w.album(at, after, None if after["on"] else [], later=True)
    w.later.append({"remove": former["songs"] + [f"{at}/cover.jpg"], "songs": songs})


@kind
def folder_used_again(w, at, n):
    replaced(w, at, w.release(*names(w), 10), w.release(*names(w), 10, "" if n % 2 else "mcid"))


@kind
def used_again_a_year_later(w, at, n):
    artist, title, year = names(w)
    replaced(w, at, w.release(artist, title, year, 10), w.release(artist, title, year + 1, 10, ""))


@kind
def used_again_by_the_same_artist(w, at, n):
    artist, title, year = names(w)
    replaced(w, at, w.release(artist, title, year, 10), w.release(artist, w.title(), year, 10, ""))


# ---- Evidence: the artist

@kind
def aliases(w, at, n):
    alias = w.artist()
    simple(w, at, artist=alias, on="", decoys=[])
    w.releases[-1].update(artist=w.artist(), aliases=[alias], on="mc")


@kind
def reversed_names(w, at, n):
    artist, family = w.person(), None
    simple(w, at, artist=artist)
    w.albums.pop()
    release = w.releases[-1]
    family = ", ".join(reversed(artist.split()))
    w.album(f"{at}/{release['title']}", release, artist=family)


@kind
def and_his_band(w, at, n):
    artist = w.artist()
    simple(w, at, artist=artist)
    w.releases[-1]["artist"] = f"{artist} & {['The', 'His', 'Her'][n % 3]} {w.word('second')}"


@kind
def joined_with_another(w, at, n):
    artist, guest = w.artist(), w.artist()
    simple(w, at, artist=artist, has=False, decoys=[{"artist": f"{artist} & {guest}", "years": 1, "tracks": 11}])


@kind
def artist_of_another_script(w, at, n):
    latin = w.artist()
    artist = w.unique(lambda: "".join(w.random.choice("бвгджзклмнпрст") + w.random.choice("аеиоу") for _ in range(4)).title())
    simple(w, at, artist=latin, on="i", more={"aliases": [latin]}, decoys=[{"artist": artist + "в", "aliases": [latin], "on": "i", "years": 3}])
    w.releases[-2]["artist"] = artist


@kind
def composers(w, at, n):
    composer, performer = w.person(), w.person()
    work = f"Symphony No. {n % 9 + 1}"
    simple(w, at, artist=performer, title=work, tracks=4, albumartist=performer if n % 2 else composer,
           edit=lambda tags, _: tags.update(ALBUM=f"{composer}: {work}", COMPOSER=composer), decoys=[{"artist": w.person(), "years": 4}, {"artist": w.person()}])
    w.releases[-3]["title"] = f"{composer}: {work}"


# ---- Evidence: the title

@kind
def carriers(w, at, n):
    suffix = ["[FLAC]", "(2CD)", "[24-96]", "(Vinyl Rip)", "{WEB}", "[SHM-CD]", "(Explicit)", "[320]", "(CD Rip)", "[MP3]"][n % 10]
    simple(w, at, edit=lambda tags, _: tags.update(ALBUM=f"{tags['ALBUM']} {suffix}"), decoys=[{"artist": "The Imitators"}])


@kind
def year_in_the_title(w, at, n):
    form = ["{} - {}", "[{}] {}", "({}) {}"][n % 3]
    simple(w, at, edit=lambda tags, _: tags.update(ALBUM=form.format(tags["DATE"], tags["ALBUM"])))


@kind
def edition_with_equal_songs(w, at, n):
    suffix = ["(Remastered 2011)", "[Remastered]", "(Mono)", "(Anniversary Edition)", "(Special Edition)"][n % 5]
    simple(w, at, edit=lambda tags, _: tags.update(ALBUM=f"{tags['ALBUM']} {suffix}"))


@kind
def beginning_of_a_title(w, at, n):
    title = w.title()
    simple(w, at, title=title, has=False, decoys=[{"title": f"{title} {w.word('first')} {w.word('second')}"}])


@kind
def numbers_differ(w, at, n):
    title = w.title()
    ours, theirs = [("2", "3"), ("Vol. 4", "Vol. 5"), ("Part One", "Part Two"), ("II", "III"), ("Chapter 7", "Chapter 8")][n % 5]
    simple(w, at, title=f"{title} {ours}", has=False, decoys=[{"title": f"{title} {theirs}"}, {"title": title}])


@kind
def one_letter_apart(w, at, n):
    simple(w, at, edit=lambda tags, _: tags.update(ALBUM=tags["ALBUM"][:-2] + tags["ALBUM"][-1]))


@kind
def numerals(w, at, n):
    ours, theirs = [("IV", "4"), ("Volume II", "Vol. 2"), ("Pt. 1", "Part One"), ("Vol. 03", "Vol. 3"), ("No. 2", "Nr. 2")][n % 5]
    title = w.title()
    simple(w, at, title=f"{title} {theirs}", edit=lambda tags, _: tags.update(ALBUM=f"{title} {ours}"), decoys=[{"title": f"{title} 7"}])


@kind
def other_recordings(w, at, n):
    form = ["{} (Live)", "{} (Karaoke Version)", "{} (Instrumental)", "{} Remixes", "{} (Acoustic)", "{} (Anna's Version)", "{} (Re-recorded)", "{} (Demos)",
            "A Tribute to {}", "{} - Live at the Harbour"][n % 10]
    title = w.title()
    simple(w, at, title=title, has=False, decoys=[{"title": form.format(title)}])


@kind
def scores(w, at, n):
    title, composer = w.title(), w.person()
    simple(w, at, title=f"{title} (Original Motion Picture Soundtrack)", artist=[VARIOUS, composer][n % 2], has=False, edit=lambda tags, number: tags.update(ARTIST=f"Singer {number}") if n % 2 == 0 else None,
           decoys=[{"title": f"{title} (Original Motion Picture Score)"}, {"title": f"{title} (Music Inspired by the Film)"}])


@kind
def soundtracks(w, at, n):
    title = w.title()
    ours = [" OST", " (Original Soundtrack)", " - Soundtrack", " (Music from the Motion Picture)", ""][n % 5]
    simple(w, at, title=f"{title} (Original Motion Picture Soundtrack)", edit=lambda tags, _: tags.update(ALBUM=title + ours))


@kind
def symbols(w, at, n):
    titles = ["÷", "( )", "!!!", "+", "=", "×", "…", "*", "#", "&"]
    simple(w, at, title=titles[n % 10], decoys=[{"title": titles[(n + 5) % 10], "years": 1}])


# ---- Evidence: the year

@kind
def original_date(w, at, n):
    simple(w, at, year=30, edit=lambda tags, _: tags.update(ORIGINALDATE=tags["DATE"] - 30))


@kind
def reissue_of_unknown_origin(w, at, n):
    simple(w, at, year=25)


@kind
def reissues(w, at, n):
    artist, title, year = names(w)
    first = w.release(artist, title, year, 10)
    again = w.release(artist, title, year + 20, first["discs"], group=first, names=first["names"])
    w.album(f"{at}/{title}", again, [first["picture"], again["picture"]])


@kind
def unknown_years(w, at, n):
    simple(w, at, edit=lambda tags, _: tags.update(DATE=["0000", "1900", "2099", ""][n % 4]), decoys=[{"years": 12}] if n % 2 else [])


@kind
def recorded_again(w, at, n):
    simple(w, at, has=False, decoys=[{"years": n % 3}])


# ---- Evidence: the tracks

@kind
def songs_missing(w, at, n):
    simple(w, at, tracks=12, only=[0, 1, 3, 4, 7, 8, 11], decoys=[{"years": 10}])


@kind
def as_many_other_songs(w, at, n):
    simple(w, at, has=False, edit=lambda tags, _: tags.pop("DATE"), decoys=[{}])


@kind
def bonus_song(w, at, n):
    artist, title, year = names(w)
    release = w.release(artist, title, year, 10)
    more = w.release(artist, title, year, release["discs"][0] + w.lengths(1), "")
    w.album(f"{at}/{title}", more, [release["picture"]])


@kind
def other_mastering(w, at, n): simple(w, at, shift=7_000)


@kind
def one_file(w, at, n):
    release = w.release(*names(w))
    whole = w.release(release["artist"], release["title"], release["year"], [sum(release["discs"][0])], "")
    w.album(f"{at}/{release['title']}", whole, [release["picture"]], format="flac", numbered=False)


@kind
def unknown_lengths(w, at, n): simple(w, at, format="flac", edit=lambda tags, _: tags.update(LENGTH=0))


# ---- Names that say little

@kind
def greatest_hits(w, at, n):
    title = ["Greatest Hits", "Best of", "Gold", "The Essential", "Anthology"][n % 5]
    simple(w, at, title=title, tracks=20, has=n % 2 == 0, decoys=[{"years": -1, "tracks": 12}, {"years": 5}])


@kind
def own_name(w, at, n):
    artist = w.artist()
    simple(w, at, artist=artist, title=artist, decoys=[{"years": 20}, {"years": 1}])


@kind
def live(w, at, n): simple(w, at, title=["Live", "Unplugged", "Christmas", "Acoustic", "Live in Concert"][n % 5], has=False, decoys=[{"years": 1}])


@kind
def dates(w, at, n):
    simple(w, at, title=f"1987-05-{10 + n} Harbour Hall", has=False, decoys=[{"title": f"1987-05-{11 + n} Harbour Hall"}, {"title": f"1987-06-{10 + n} Harbour Hall"}])


@kind
def works(w, at, n):
    title = ["Symphony No. 9", "Goldberg Variations", "Cantatas Vol. 12", "Requiem", "The Four Seasons"][n % 5]
    simple(w, at, title=title, artist=w.person(), has=False, tracks=4, decoys=[{"artist": w.person()}, {"years": 1}, {"years": 15}])


@kind
def general_compilations(w, at, n):
    title = ["Summer Hits", "Love Songs", "Dance Party", "Chill Out", "Rock Ballads"][n % 5]
    simple(w, at, artist=VARIOUS, title=f"{title} {w.word('title')}"[:len(title) if n % 2 else None], has=False, decoys=[{"years": 5, "on": "d"}, {"years": 1, "on": "mcid"}],
           edit=lambda tags, number: tags.update(ARTIST=f"Band {number}"))


@kind
def annual_compilations(w, at, n):
    year = 1990 + n
    simple(w, at, artist=VARIOUS, title=f"Harbour Hits {year}", has=False, decoys=[{"title": f"Harbour Hits {year + 1}"}, {"title": "Harbour Hits"}],
           edit=lambda tags, number: tags.update(ARTIST=f"Band {number}"))


# ---- Singles and EPs

@kind
def single_named_as_its_album(w, at, n):
    simple(w, at, tracks=2, has=False, decoys=[{"tracks": 11}])


@kind
def album_named_as_its_single(w, at, n):
    simple(w, at, tracks=11, has=False, decoys=[{"tracks": 2, "type": "Single"}, {"tracks": 5, "type": "EP"}])


@kind
def eps(w, at, n):
    simple(w, at, tracks=5, more={"type": "EP"}, edit=lambda tags, _: tags.update(ALBUM=tags["ALBUM"] + [" EP", " - EP", ""][n % 3]), decoys=[{"tracks": 12}])


# ---- Names of two, and what is no cover

@kind
def namesakes(w, at, n):
    simple(w, at, has=n % 2 == 0, decoys=[{"years": 1}])


@kind
def imitators(w, at, n):
    title = w.title()
    simple(w, at, title=title, has=False, decoys=[{"artist": "The Imitators", "title": f"A Tribute to {title}"}, {"artist": "The Imitators"}])


@kind
def placeholders(w, at, n): simple(w, at, on="d", more={"picture": "placeholder"}); w.albums[-1]["accept"] = []


@kind
def picture_in_the_tags(w, at, n):
    own = f"own{w.random.randrange(10**9)}"
    simple(w, at, cover=lambda number: own)
    w.albums[-1]["accept"] = [own]


@kind
def pictures_that_differ(w, at, n):
    start = w.random.randrange(10**9)
    simple(w, at, cover=lambda number: f"own{start + number}")
    w.albums[-1]["own"] = [f"own{start + number}" for number in range(30)]


@kind
def no_album(w, at, n):
    title = ["Unknown Album", "[non-album tracks]", "Unknown", ""][n % 4]
    simple(w, at, has=False, edit=lambda tags, _: tags.update(ALBUM=title), decoys=[{"title": title or "Unknown"}])
