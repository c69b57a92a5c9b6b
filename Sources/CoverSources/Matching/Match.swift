/// Whether an album that a source describes is the one that is wanted.
///
/// Certain: artist and title are equal when folded, and the year (within 1) agrees, or the number of tracks without a year to the contrary.
/// Doubtful: one is equal and the other close, or both are equal and nothing else agrees, or what agrees is also true of another album of
/// the same name. That a source names an album first says nothing.
package struct Match: Sendable, Hashable {
    package enum Certainty: String, Sendable, Hashable, Comparable, CaseIterable {
        case none, doubtful, certain

        package static func < (first: Self, second: Self) -> Bool {
            allCases.firstIndex(of: first) ?? 0 < allCases.firstIndex(of: second) ?? 0
        }
    }

    package var certainty: Certainty
    /// What speaks for it, or what is missing, in a few words.
    package var reason: String
    /// Orders matches of one certainty: the higher, the better.
    package var score: Int

    init(_ certainty: Certainty, _ reason: String, score: Int = 0) {
        (self.certainty, self.reason, self.score) = (certainty, reason, score)
    }

    /// A person has decided.
    package static let accepted = Match(.certain, "accepted by you", score: 300)
    static let refused = Match(.none, "refused by you")
    /// Matches by an id have at least this score, matches by names less.
    private static let idScore = 150

    /// Certain by what a source says of the album, not by an id or a person.
    package var isByName: Bool { certainty == .certain && score < Self.idScore }

    /// Compares an album that is wanted with one that a source describes.
    package static func judge(_ query: AlbumQuery, _ candidate: AlbumQuery) -> Match {
        if let id = query.releaseID, id == candidate.releaseID {
            return Match(.certain, "the same MusicBrainz release", score: 200)
        }
        if let id = query.releaseGroupID, id == candidate.releaseGroupID {
            return Match(.certain, "the same MusicBrainz release group", score: idScore)
        }
        let names = Names(query, candidate)
        let facts = Facts(query, candidate)
        switch (names.artist, names.title) {
        case (.equal, .equal): return judgeEqual(names, facts)
        case (.equal, .close): return Match(.doubtful, "the title differs: “\(candidate.title)”", score: facts.score)
        case (.close, .equal): return Match(.doubtful, "the artist differs: “\(candidate.artist)”", score: facts.score)
        case (.unknown, .equal) where facts.agrees:
            return Match(.doubtful, "the artist is not known", score: facts.score)
        default: return Match(.none, "artist or title differ")
        }
    }

    private static func judgeEqual(_ names: Names, _ facts: Facts) -> Match {
        let score = facts.score + (names.haveSameEditions ? 8 : 0) + (names.areWrittenAlike ? 2 : 0)
        guard facts.agrees else {
            if facts.contradicts { return Match(.doubtful, "\(facts.differences)", score: score) }
            let edition = names.haveSameEditions ? "" : "another edition, and "
            return Match(.doubtful, "\(edition)neither the year nor the number of tracks can be compared", score: score)
        }
        if names.areWeak, facts.contradicts {
            return Match(.doubtful, "artists have several albums of this name, and \(facts.differences)", score: score)
        }
        if !names.areOfOneKind, facts.contradicts {
            return Match(
                .doubtful, "one is a single, an EP, a soundtrack or a disc, and \(facts.differences)", score: score)
        }
        return Match(.certain, "artist and title are equal, \(facts.agreements)", score: score)
    }
}

extension Match {
    /// How the names of two albums relate.
    struct Names {
        enum Relation { case equal, close, different, unknown }

        let artist: Relation
        let title: Relation
        let haveSameEditions: Bool
        /// Both titles say, or neither, that it is a single, an EP, a soundtrack or a disc: a single is often named as its album.
        let areOfOneKind: Bool
        let areWrittenAlike: Bool
        /// Title and artist say less than usual: Various Artists have many albums called “Hits”, and bands several of their own name.
        let areWeak: Bool

        init(_ query: AlbumQuery, _ candidate: AlbumQuery) {
            let artists = (FoldedText(artist: query.artist), FoldedText(artist: candidate.artist))
            let titles = (
                FoldedText(query.title, year: query.year), FoldedText(candidate.title, year: candidate.year)
            )
            let areVarious = artists.0.isVarious && artists.1.isVarious
            artist =
                areVarious
                ? .equal
                : artists.0.isVarious || artists.1.isVarious ? .different : Self.relation(artists.0, artists.1)
            title = Self.relation(titles.0, titles.1)
            areOfOneKind = titles.0.kinds == titles.1.kinds && titles.0.disc == titles.1.disc
            haveSameEditions = Set(titles.0.editions) == Set(titles.1.editions)
            areWrittenAlike = query.title == candidate.title && query.artist == candidate.artist
            areWeak = areVarious || titles.0.key == artists.0.key
        }

        private static func signs(_ text: FoldedText) -> String { text.searchText.lowercased().filter { $0 != " " } }

        private static func marks(_ text: FoldedText) -> Set<Character> {
            Set(ScalarFolding.fold(text.searchText).filter("!?+#*".contains))
        }

        private static func relation(_ first: FoldedText, _ second: FoldedText) -> Relation {
            if first.key.isEmpty || second.key.isEmpty { return .unknown }
            if first.key == second.key {
                // In “C#” and “A+”, what folding drops says as much as what it keeps. “Hello!” is not “Hello?”, but “Help” is “Help!”.
                let (marks, others) = (marks(first), marks(second))
                let isOther = !marks.isEmpty && !others.isEmpty && marks.isDisjoint(with: others)
                return !isOther && first.key.count > 2 || signs(first) == signs(second) ? .equal : .close
            }
            return Similarity.areClose(first, second) ? .close : .different
        }
    }

    /// How the years and the numbers of tracks of two albums relate.
    struct Facts {
        private let years: (Int, Int)?
        private let tracks: (Int, Int)?

        init(_ query: AlbumQuery, _ candidate: AlbumQuery) {
            years = query.year.flatMap { year in candidate.year.map { (year, $0) } }
            tracks = query.trackCount.flatMap { count in candidate.trackCount.map { (count, $0) } }
        }

        var yearsAgree: Bool? { years.map { abs($0 - $1) <= 1 } }
        private var tracksAgree: Bool? { tracks.map { $0 == $1 } }

        var agrees: Bool { yearsAgree ?? tracksAgree ?? false }
        var contradicts: Bool { yearsAgree == false || tracksAgree == false }
        var score: Int {
            (yearsAgree == true ? 10 : 0) + (years.map { $0 == $1 } == true ? 5 : 0) + (tracksAgree == true ? 12 : 0)
        }

        var agreements: String {
            let facts = [yearsAgree == true ? "the year" : nil, tracksAgree == true ? "the number of tracks" : nil]
            let names = facts.compactMap { $0 }
            return names.joined(separator: " and ") + (names.count > 1 ? " agree" : " agrees")
        }

        var differences: String {
            let year = yearsAgree == false ? years.map { "it is of \($1), not of \($0)" } : nil
            let count = tracksAgree == false ? tracks.map { "it has \($1) tracks, not \($0)" } : nil
            return [year, count].compactMap { $0 }.joined(separator: ", ")
        }
    }
}
