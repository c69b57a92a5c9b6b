/// What a service says of an album beside what a person's files say of theirs: artist, title, year and tracks, each of which agrees, says
/// nothing or contradicts.
struct Evidence: Sendable {
    let (ours, theirs): (FoldedAlbum, FoldedAlbum)
    /// Without the artists' names.
    let titles: (FoldedText, FoldedText)
    let artist: ArtistEvidence
    let title: TitleEvidence
    let year: YearEvidence
    let tracks: TrackEvidence

    init(_ ours: FoldedAlbum, _ theirs: FoldedAlbum) {
        (self.ours, self.theirs) = (ours, theirs)
        let (query, candidate) = (ours.album, theirs.album)
        artist = ArtistEvidence(ours, theirs)
        titles = TitleEvidence.folded(ours, theirs)
        year = YearEvidence(query, candidate, isReissue: titles.0.isReissue || titles.1.isReissue)
        tracks = TrackEvidence(query, candidate, isPart: titles.0.disc != nil)
        // Without lengths, an edition of equal year and number has what the other has.
        let areSame = tracks.lengthsAgree ?? (tracks.line.agrees && year.isEqual)
        let areAll = tracks.lengths.map { $0.agree && !$0.haveBonus } ?? false
        title = TitleEvidence(titles.0, titles.1, lengthsAgree: areAll, areSame: areSame)
    }

    init(_ query: AlbumQuery, _ candidate: AlbumQuery) { self.init(FoldedAlbum(query), FoldedAlbum(candidate)) }

    private var lines: [Match.Line] { [artist.line, title.line, year.line, tracks.line] }

    /// Whether artist and title agree, or, of joined names, one artist's.
    var namesAgree: Bool { artist.line.agrees && title.line.agrees }

    /// One title has the word of an edition that the other has not, and the songs are not known to be the same.
    var isOfOtherEdition: Bool { titles.0.editions != titles.1.editions && tracks.lengths?.areOfAll != true }

    /// The lines for a person, without an artist that agrees.
    var told: [Match.Line] { lines.filter { $0 != artist.line || !$0.agrees } }

    /// Orders albums of one certainty. The spelling only decides between equals.
    var score: Int {
        let weights = [20, 16, 15, 12]
        let sum = zip(lines, weights).reduce(0) { sum, pair in
            switch pair.0.agreement {
            case .agrees: sum + pair.1
            case .silent: sum
            case .contradicts: sum - pair.1
            }
        }
        return sum + (year.isEqual ? 5 : year.isNear ? 3 : 0) + (tracks.lengthsAgree == true ? 20 : 0)
            + (title.haveSameEditions ? 6 : 0)
    }
}

/// How the years of two albums relate.
struct YearEvidence: Sendable {
    let line: Match.Line
    /// The years of release, or of the first release, are one.
    let isEqual: Bool
    let isNear: Bool

    init(_ query: AlbumQuery, _ candidate: AlbumQuery, isReissue: Bool) {
        let (ours, theirs) = ([query.year, query.originalYear], [candidate.year, candidate.originalYear])
        let years = (ours.compactMap(\.self), theirs.compactMap(\.self))
        isEqual = years.0.contains(where: years.1.contains)
        isNear = query.year.flatMap { year in candidate.year.map { abs($0 - year) == 1 } } ?? false
        guard let our = years.0.first, let their = years.1.first else {
            line = .init(.silent, "year unknown")
            return
        }
        line =
            isEqual
            ? .init(.agrees, "year agrees")
            : isNear
                ? .init(.silent, "year one apart")
                : .init(isReissue ? .silent : .contradicts, "\(their) where yours is of \(our)")
    }
}
