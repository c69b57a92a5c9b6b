import Platform

/// An album as its tags name it, whose cover is wanted; or as a source describes it.
package struct AlbumQuery: Sendable, Hashable, Codable {
    /// Names are cut to this length, in bytes: those of a service, and those in tags, have any.
    private static let maximumLength = 1_000

    /// The album's main artist, as written; `""` if it is unknown.
    package var artist: String
    /// Other names that the album may be credited to, as written: the artist that all its songs share, a service's aliases.
    package var otherArtists: [String]
    /// The album's title, as written.
    package var title: String
    /// The year of release; nil if it is unknown.
    package var year: Int?
    /// The year of the first release of the album; nil if it is unknown.
    package var originalYear: Int?
    /// The numbers of tracks that it may have: of one disc, and of all; empty if they are unknown.
    package var trackCounts: Set<Int>
    /// Whether the library has another album of this artist and title: then the names say less.
    package var hasNamesake: Bool
    /// How long its songs are, in milliseconds, in the order of discs and tracks; 0 for one of unknown length. Empty if nothing is known.
    package var lengths: [Int]
    /// The lengths of the songs in all folders beside its own that have its names, in the order of the folders' names: those of an album whose
    /// discs no name tells. Nil if there is no such folder.
    package var setLengths: [Int]?
    /// The MusicBrainz id of the release, in lower case; nil if it is unknown or not a UUID.
    package private(set) var releaseID: String?
    /// The MusicBrainz id of the release group, as `releaseID`.
    package private(set) var releaseGroupID: String?

    package init(
        artist: String, otherArtists: [String] = [], title: String, year: Int? = nil, originalYear: Int? = nil,
        trackCount: Int? = nil, trackCounts: Set<Int> = [], lengths: [Int] = [], releaseID: String? = nil,
        releaseGroupID: String? = nil, hasNamesake: Bool = false
    ) {
        // 0000 and 1900 are what programs write that know no year.
        func known(_ year: Int?) -> Int? { year.flatMap { (1_901...9_999).contains($0) ? $0 : nil } }
        self.artist = artist.shortened(to: Self.maximumLength)
        self.title = title.shortened(to: Self.maximumLength)
        self.otherArtists = otherArtists.map { $0.shortened(to: Self.maximumLength) }
        (self.year, self.originalYear) = (known(year), known(originalYear))
        self.trackCounts = trackCounts.union([trackCount].compactMap(\.self)).filter { (1...9_999).contains($0) }
        self.lengths = lengths.map { min(max(0, $0), 1 << 40) }
        self.hasNamesake = hasNamesake
        self.releaseID = Self.id(releaseID)
        self.releaseGroupID = Self.id(releaseGroupID)
    }

    /// The number of tracks on all discs together; nil if it is unknown.
    package var trackCount: Int? { trackCounts.max() }

    /// A MusicBrainz id in lower case; nil for a text that is none and so cannot be a part of a URL.
    private static func id(_ text: String?) -> String? {
        guard let text, text.utf8.count == 36 || text.contains("musicbrainz.org/") else { return nil }
        let id = text.suffix(36).lowercased()
        // Foundation takes some other texts for UUIDs, too.
        return UUID(uuidString: id)?.uuidString.lowercased() == id ? id : nil
    }

    /// Its names, folded, and its year.
    package var key: String {
        let names = [FoldedText(artist: artist).key, FoldedText(title, year: year).wholeKey]
        return (names + [year.map { String($0) } ?? ""]).joined(separator: "|")
    }

    /// The title with the kind of a release that is no album, unless it says so itself: a single is often named as its album.
    /// - Parameter kind: As a source names it, such as `Single`, `ep` or `Album`.
    static func title(_ title: String, kind: String?) -> String {
        guard let kind, ["single", "ep"].contains(kind.lowercased()),
            FoldedText(title).kinds.isDisjoint(with: ["single", "ep"])
        else { return title }
        return "\(title) (\(kind))"
    }

    /// The year at the beginning of a date such as `1994-05-10`, or of a text such as `1994`; nil if there is none.
    package static func year(of text: String?) -> Int? {
        guard let text, text.utf8.prefix(4).allSatisfy({ (0x30...0x39).contains($0) }), let year = Int(text.prefix(4)),
            (1_000...9_999).contains(year)
        else { return nil }
        return year
    }
}
