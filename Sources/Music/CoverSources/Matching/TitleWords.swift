/// The words by which titles are folded, for grouping files and for matching alike. All are folded themselves: lower case, without accents.
package enum TitleWords {
    /// What a copy of an album came on or as: a bracket of such words says nothing about the album.
    package static let carriers = words(
        """
        flac mp3 aac alac ogg opus wav wave wv ape dsd dsd64 dsd128 dsf m4a mqa lossless lossy web webrip webflac rip
        ripped cdrip vinylrip cd cds lp lps sacd dvda vinyl cassette tape digital download retail bit bits khz kbps cbr
        vbr v0 v2 320 hires hd hdtracks qobuz tidal itunes deezer bandcamp spotify amazon beatport shm shmcd shmsacd
        hqcd uhqcd bsc bscd bscd2 blu spec k2hd xrcd xrcd24 hdcd mfsl mofi explicit clean digipak digipack gatefold
        promo dvd bluray dolby atmos spatial eac log cue
        """)
    /// The words that stand beside carriers and editions and tell neither.
    static let accompanying = words(
        """
        super digitally version standard original album track tracks the and with of a new box set in year years content
        lyrics hi res audio from for mastered apple master disc disk discs mix quality high resolution on by edition
        inch 12 7 10 colored coloured 180g plus und release
        """)
    /// The words that name an edition of an album.
    package static let editions = words(
        """
        deluxe edition expanded extended remaster remastered remasters remastering anniversary legacy bonus special
        limited collector collectors reissue reissued reedition repress enhanced mono stereo definitive ultimate
        platinum tour premium exclusive
        """)
    /// One of these is in an edition that stands in no bracket.
    static let plainEditions: Set<String> = [
        "edition", "deluxe", "remaster", "remastered", "remasters", "expanded", "reissue", "mono", "stereo",
    ]
    /// Those of `editions` after which another year of release is no wonder. Countries, `mono` and `stereo` say nothing of it.
    static let reissues = editions.subtracting(["mono", "stereo", "bonus", "special", "limited", "tour", "exclusive"])
    /// Where an edition was sold: an edition only in a bracket.
    static let countries = words(
        """
        us usa uk gb eu europe european japan japanese jp germany german de france french canada canadian australia
        australian italy spain brazil mexico netherlands sweden russia korea international import american british
        """)
    static let singles = ["single": "single", "ep": "ep", "maxi": "single", "maxisingle": "single"]
    /// The words of `Original Motion Picture Soundtrack` and `Music from the Television Series`. A score is another album.
    static let soundtracks = words(
        """
        ost soundtrack soundtracks original motion picture film movie television tv series game video videogame
        recording music songs from the and netflix show
        """)
    /// A disc, before its number or letter.
    package static let discs: Set<String> = ["cd", "disc", "disk", "dvd"]
    /// The words behind which a number is that of a volume.
    package static let volumes = words(
        """
        vol pt no volume part teil book chapter kapitel episode folge act op opus side band tome tomo season cd disc
        disk symphony number nr
        """)
    static let synonyms = [
        "volume": "vol", "volumes": "vol", "vols": "vol", "part": "pt", "parts": "pt", "pts": "pt",
    ]
    static let numberSigns: Set<String> = ["number", "nr", "no", "numero", "№"]
    static let numberWords = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11, "twelve": 12, "eins": 1, "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7,
        "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwolf": 12,
    ]
    /// Definite articles, which no order of names counts. Names are the same without the English one alone: “La Femme” and “Femme” are two bands.
    static let articles = words("the der die das le la les el los las il lo gli het os")
    /// What stands for “and”.
    static let ands: Set<String> = ["and", "und", "et"]
    /// What a featured artist follows.
    static let features: Set<String> = ["feat", "ft", "featuring"]
    /// What joins the names of several artists, folded, between spaces; `,`, `;`, `/` and `|` also without.
    package static let joiners: Set<String> = ["&", "and", "with", "x", "+", "vs.", "vs", "|", "und", "et", "/"]
    /// Another recording of an album's songs, or other music of its name.
    static let recordings = words(
        """
        live acoustic unplugged instrumental instrumentals karaoke tribute demo demos remix remixes remixed remixe
        orchestral symphonic dub covers sessions session rarities outtakes bootleg inspired cast rerecorded rerecording
        rerecordings recorded version versions concert mixtape commentary sides unreleased stripped reimagined revisited
        lullaby piano strings 8bit chopped slowed sped nightcore acapella acapellas acappella cappella capella beats
        backing playback playbacks singalong along
        """)
    /// What may make another recording of a title that has them alone: such a title is never certain.
    static let doubtfulRecordings = words(
        """
        score re recording recordings edit mix mixes english deutsch deutsche german francais french espanol spanish
        italiano italian portuguese japanese korean chinese mandarin russian polish swedish
        """)
    static let allRecordings = recordings.union(doubtfulRecordings)
    /// Languages that `countries` has, too: a version in one of them is another recording.
    static let languages: Set<String> = ["german", "french", "italian", "japanese"]
    /// Titles of these alone tell no album from another.
    static let generic = words(
        """
        greatest hits best of the very gold live unplugged christmas xmas essential essentials original album albums
        series classics classic soundtrack collection collected anthology singles complete ultimate definitive hit mix
        love songs song ballads party summer dance rock pop jazz blues soul country folk reggae disco house techno
        trance punk metal hip hop rap music musik chart charts top now vol pt no disc cd platinum diamond super mega ep
        single demo demos remixes remix bsides sides rarities acoustic sessions session and in at on my all for to with
        from years year decade career story legend legends icon 20th century masters millennium recordings works
        selected early first volume part compilation sampler untitled selftitled st concert tour covers duets
        instrumental winter holiday weihnachten lounge chillout club hitparade schlager kuschelrock bravo absolute
        feelings forever favorites favourites introducing presents grosse grossten erfolge die der das besten beste
        """)
    static let months = words(
        """
        january february march april may june july august september october november december jan feb mar apr jun jul
        aug sep oct nov dec
        """)
    /// Musical works: each has many recordings.
    static let works = words(
        """
        symphony symphonies sinfonie sinfonien symphonie symphonien concerto concertos concerti konzert konzerte sonata
        sonatas sonate sonaten quartet quartets quartett quartette quintet quintets variations variationen cantata
        cantatas kantate kantaten requiem messiah oratorio passion partitas preludes etudes nocturnes waltzes mazurkas
        polonaises impromptus overtures bwv kv hwv op opus brandenburg clavier
        """)
    /// The last names of composers, after which `: ` ends their part of a title, and who perform no recording.
    static let composers = words(
        """
        bach beethoven berlioz bizet brahms britten bruckner chopin corelli debussy dvorak elgar faure gluck grieg
        handel haendel haydn holst liszt mahler mendelssohn monteverdi mozart mussorgsky offenbach orff pachelbel
        paganini prokofiev puccini purcell rachmaninov rachmaninoff ravel rossini satie scarlatti schoenberg schubert
        schumann scriabin shostakovich sibelius smetana strauss stravinsky tchaikovsky telemann verdi vivaldi wagner
        weber
        """)

    private static func words(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// What a roman numeral or a word for a number says; nil for another word.
    package static func number(_ word: String) -> Int? {
        let word = ScalarFolding.fold(word)
        return roman(word) ?? numberWords[word]
    }

    /// A roman numeral from 1 to 39, in lower case; nil for another word.
    static func roman(_ word: String) -> Int? {
        guard !word.isEmpty, word.utf8.count < 8, word.allSatisfy("ivx".contains) else { return nil }
        return (1...39).first { roman($0) == word }
    }

    /// From 1 to 39.
    static func roman(_ number: Int) -> String {
        String(repeating: "x", count: number / 10)
            + ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"][number % 10]
    }

    /// `25`, `25th`, `2011`.
    static func isNumber(_ word: String) -> Bool {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        return !digits.isEmpty && ["", "st", "nd", "rd", "th"].contains(word.dropFirst(digits.count))
    }
}
