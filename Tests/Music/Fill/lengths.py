"""The world of lengths: what the lengths of songs decide, one kind for each rule. Albums that services do not have accept no picture."""
from hard import names, simple, singers, tagged, titled, without
from world import VARIOUS, Kinds

KINDS = kind = Kinds()


def make(world, count, only=None):
    for name, function in KINDS.items():
        if only and only != name: continue
        world.kind = name
        # Folders are shared out among fills.
        for number in range(count): function(world, f"{name} {number // 3 + 1}/{number + 1:02}", number)


def misspelt(text): return text[:2] + text[3:]
def twice_misspelt(text): return "".join(reversed(text[:3])) + text[3:]
def moved(w, lengths, least, most): return [length + w.random.choice([-1, 1]) * w.random.randint(least, most) for length in lengths]


def edition(w, at, listed, songs, **options):
    """An album of other songs than the release that services have of it, whose picture is right."""
    album = {**listed, "discs": [songs], "names": [f"Song {number + 1}" for number in range(len(songs))]}
    w.album(f"{at}/{listed['title']}", album, [listed["picture"]], **options)


# ---- Lengths that tell make an album certain

@kind
def another_year(w, at, n): simple(w, at, year=[6, -6, 11][n % 3], tracks=11)


@kind
def no_year_and_no_total(w, at, n): simple(w, at, edit=lambda tags, number: tags.update(DATE=None, TRACKTOTAL=None), tracks=10)


@kind
def a_general_title(w, at, n):
    title = ["Greatest Hits", "Live", "The Essential", "Christmas"][n % 4]
    simple(w, at, title=title, tracks=12, edit=without("DATE"), decoys=[{"title": title, "years": 5, "tracks": 14}])


@kind
def two_of_the_artists_name(w, at, n):
    artist = w.artist()
    simple(w, at, artist=artist, title=artist, tracks=10, edit=without("DATE"), decoys=[{"years": 7, "tracks": 10}])


@kind
def various_artists(w, at, n): simple(w, at, artist=VARIOUS, tracks=14, year=3, edit=singers)


@kind
def a_work(w, at, n):
    work = ["Symphony No. 5", "Requiem", "The Four Seasons"][n % 3]
    simple(w, at, artist=w.person(), title=work, tracks=8, year=2, decoys=[{"artist": w.person(), "years": 4, "tracks": 8}])


@kind
def bonus_songs(w, at, n):
    listed = w.release(*names(w), 10)
    edition(w, at, listed, listed["discs"][0] + w.lengths(1 + n % 4), title=[None, f"{listed['title']} (Deluxe Edition)"][n % 2])


@kind
def a_misspelt_title(w, at, n):
    title = w.title()
    simple(w, at, title=title, tracks=10, edit=tagged(ALBUM=misspelt(title)))


@kind
def a_title_misspelt_twice(w, at, n):
    title = w.title()
    simple(w, at, title=title, tracks=11, on="mcd", edit=tagged(ALBUM=misspelt(misspelt(title))))


@kind
def a_subtitle(w, at, n):
    title = w.title()
    simple(w, at, title=f"{title}: {w.title()}", tracks=10, edit=tagged(ALBUM=title))


@kind
def a_misspelt_artist(w, at, n):
    artist = w.artist()
    simple(w, at, artist=misspelt(artist), tracks=10, known={"artist": artist})


@kind
def a_joined_artist(w, at, n):
    artist = w.artist()
    simple(w, at, artist=artist, tracks=10, known={"artist": f"{artist} & {w.artist()}"})


@kind
def underscores(w, at, n):
    simple(w, at, tracks=9, edit=lambda tags, number: tags.update({name: tags[name].replace(" ", "_") for name in ("ALBUM", "ARTIST", "ALBUMARTIST")}))


@kind
def carriers(w, at, n): simple(w, at, tracks=9, edit=titled(["{} @320", "{} [320 kbps]", "{}, {year}", "{} (EAC, log, cue)", "{} [EAC-FLAC]"][n % 5]))


@kind
def without_lengths_at_one(w, at, n):
    """MusicBrainz has none; Deezer has the same album."""
    artist, title, year = names(w)
    listed = w.release(artist, title, year, 10, "mc", hasNoLengths=True)
    again = w.release(artist, title, year, listed["discs"][0], "d")
    w.album(f"{at}/{title}", listed, [listed["picture"], again["picture"]])


@kind
def a_vinyl_rip(w, at, n): simple(w, at, tracks=10, shift=[0, 1_500][n % 2], edit=titled("{} (Vinyl Rip)"))


# ---- What comes close, and is another album

@kind
def a_new_recording(w, at, n):
    lengths = w.lengths(10)
    simple(w, at, tracks=lengths, has=False, decoys=[{"years": 9, "tracks": moved(w, lengths, 2_200, 9_000)}])


@kind
def another_recording_of_these_lengths(w, at, n):
    form = ["{} (Live)", "{} (Karaoke Version)", "{} (Instrumental)", "{} (Demos)", "{} Remixes", "A Tribute to {}"][n % 6]
    title, lengths = w.title(), w.lengths(10)
    simple(w, at, title=title, tracks=lengths, has=False, decoys=[{"title": form.format(title), "tracks": lengths}])


@kind
def lengths_that_are_all_equal(w, at, n):
    lengths = [180_000] * 12
    simple(w, at, tracks=lengths, has=False, decoys=[{"years": 8, "tracks": lengths}])


@kind
def a_composer_as_album_artist(w, at, n):
    composer, work = w.person(), ["Mass in B Minor", "La Bohème", "Der Ring"][n % 3]
    decoys = [{"artist": composer, "years": 1, "hasNoLengths": True}]
    simple(w, at, artist=composer, title=work, tracks=8, has=False, edit=tagged(ARTIST=w.person()), decoys=decoys)


@kind
def a_neighbour_of_other_lengths(w, at, n):
    """MusicBrainz has no lengths, Deezer those of another album of the name and year."""
    artist, title, year = names(w)
    ours = w.release(artist, title, year, 10, "")
    for on, more in (("mc", {"hasNoLengths": True}), ("d", {})): w.release(artist, title, year, 10, on, **more)
    w.album(f"{at}/{title}", ours, [])


@kind
def an_id_of_the_live_album(w, at, n):
    artist, title, year = names(w)
    ours, live = w.release(artist, title, year, 10, ""), w.release(artist, title, year + 8, 10, "mc")
    w.album(f"{at}/{title}", ours, [], id=live["number"])


@kind
def no_album(w, at, n):
    title = ["Unknown Album", "Unbekanntes Album", "Album inconnu", "Album sconosciuto", "Álbum desconocido"][n % 5]
    simple(w, at, title=title, tracks=10, has=False, decoys=[{"tracks": 10}])
