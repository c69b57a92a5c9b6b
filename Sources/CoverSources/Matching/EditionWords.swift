/// The words that name an edition of an album rather than another album, and those that name another recording.
enum EditionWords {
    /// Whether a part such as `Deluxe Edition` or `2011 Remaster` names an edition: each word may be in such a name, and one says so.
    static func nameEdition(_ words: [String]) -> Bool {
        words.contains(where: telling.contains)
            && words.allSatisfy { telling.contains($0) || accompanying.contains($0) || isNumber($0) }
    }

    private static let telling: Set<String> = [
        "deluxe", "edition", "expanded", "remaster", "remastered", "remasters", "anniversary", "bonus", "special",
        "limited",
        "collector", "collectors", "reissue", "explicit", "clean", "mono", "stereo", "enhanced", "ep", "single",
        "soundtrack",
        "ost", "disc", "disk", "cd", "vinyl", "lp", "hd", "hires",
    ]
    private static let kinds: Set<String> = ["single", "ep", "soundtrack", "ost", "disc", "disk", "cd"]

    /// The editions that name a kind of release rather than its size.
    static func kind(_ editions: [String]) -> Set<String> {
        Set(editions.filter { edition in kinds.contains { edition.contains($0) } })
    }

    private static let accompanying: Set<String> = [
        "super", "digital", "digitally", "version", "international", "us", "uk", "eu", "japan", "japanese", "european",
        "standard",
        "original", "motion", "picture", "film", "movie", "album", "track", "tracks", "the", "and", "with", "of", "a",
        "new",
        "box", "set", "in", "year", "years", "mix", "content", "lyrics",
    ]
    /// A difference in one of these words means another recording, however close the titles are.
    static let recordings: Set<String> = [
        "live", "acoustic", "unplugged", "instrumental", "instrumentals", "karaoke", "tribute", "demo", "demos",
        "remix", "remixes",
        "remixed", "orchestral", "symphonic", "dub", "covers", "sessions", "rarities", "outtakes", "bootleg",
    ]

    /// `25`, `25th`, `2011`.
    private static func isNumber(_ word: String) -> Bool {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        return !digits.isEmpty && ["", "st", "nd", "rd", "th"].contains(word.dropFirst(digits.count))
    }
}
