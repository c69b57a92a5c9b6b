import Synchronization

/// Whether an album that a source describes is the one that is wanted, by the table of `Evidence`.
///
/// Certain: artist and title agree, year or tracks agree, and nothing contradicts; of weak names year and tracks. Lengths that tell make up for
/// another year, for weak names, and for one name that nearly agrees. Doubtful covers are listed for a person. That a source names an album
/// first says nothing.
package struct Match: Sendable, Hashable {
    package enum Certainty: String, Sendable, Hashable, Comparable, CaseIterable {
        case none, doubtful, certain

        package static func < (first: Self, second: Self) -> Bool {
            allCases.firstIndex(of: first) ?? 0 < allCases.firstIndex(of: second) ?? 0
        }
    }

    package enum Agreement: String, Sendable, Hashable, Codable { case agrees, silent, contradicts }

    /// What is known of the album or its picture.
    package struct Line: Sendable, Hashable, Codable {
        package var agreement: Agreement
        /// A few words, such as `year one apart`.
        package var text: String

        package init(_ agreement: Agreement, _ text: String) { (self.agreement, self.text) = (agreement, text) }

        var agrees: Bool { agreement == .agrees }
        var contradicts: Bool { agreement == .contradicts }
    }

    /// What has decided.
    package enum Ground: String, Sendable, Hashable {
        /// What is known of the album.
        case evidence
        /// A person, about this cover.
        case person
        /// The picture cannot be had, or is none.
        case picture
        /// Albums of other artists have the same picture.
        case repeated
    }

    package var certainty: Certainty
    package var ground: Ground
    package var lines: [Line]
    /// Orders matches of one certainty: the higher, the better.
    package var score: Int
    /// The songs may be those of another edition, which may have a picture of its own.
    package var isOfOtherEdition = false

    init(_ certainty: Certainty, _ lines: [Line], ground: Ground = .evidence, score: Int = 0) {
        (self.certainty, self.lines, self.ground, self.score) = (certainty, lines, ground, score)
    }

    init(_ certainty: Certainty, _ text: String, ground: Ground = .evidence, score: Int = 0) {
        self.init(certainty, [Line(.silent, text)], ground: ground, score: score)
    }

    /// The lines in words: `title agrees, year one apart, 12 tracks where yours has 20: doubtful`.
    package var reason: String {
        if lines.isEmpty { return "not compared with the album" }
        let text = lines.map(\.text).joined(separator: ", ")
        return ground == .evidence ? "\(text): \(certainty == .none ? "another album" : certainty.rawValue)" : text
    }

    static let unjudged = Match(.none, [])
    package static let accepted = Match(.certain, "accepted by you", ground: .person, score: 300)
    package static let refused = Match(.none, "refused by you", ground: .person)
    package static let replaced = Match(.doubtful, "its picture is not the one that you accepted", ground: .picture)
    package static let absent = rejected("the server has no picture of it")
    package static func rejected(_ reason: String) -> Match { Match(.none, reason, ground: .picture) }
    /// All other doubtful covers are better.
    package static let repeated = Match(
        .doubtful, "albums of other artists have the same picture", ground: .repeated)
    /// Matches by an id have at least this score, matches by names less.
    private static let idScore = 150

    /// Certain by what a source says of the album, not by an id or a person.
    package var isByName: Bool { certainty == .certain && score < Self.idScore }

    /// Compares an album that is wanted with one that a source describes.
    /// - Parameters:
    ///   - hasNamesake: Whether another album of this artist and title is known.
    ///   - isContested: Whether one of our year and other lengths is.
    package static func judge(
        _ query: AlbumQuery, _ candidate: AlbumQuery, hasNamesake: Bool = false, isContested: Bool = false
    ) -> Match {
        judge(Evidence(query, candidate), hasNamesake: hasNamesake, isContested: isContested)
    }

    static func judge(_ evidence: Evidence, hasNamesake: Bool = false, isContested: Bool = false) -> Match {
        let (query, candidate) = (evidence.ours.album, evidence.theirs.album)
        let isRelease = query.releaseID != nil && query.releaseID == candidate.releaseID
        if isRelease || query.releaseGroupID != nil && query.releaseGroupID == candidate.releaseGroupID {
            // Ids lie: those of a box, or of another album that was tagged before.
            if !evidence.artist.line.contradicts, !evidence.title.line.contradicts {
                let line = Line(.agrees, "the same MusicBrainz \(isRelease ? "release" : "release group")")
                let score = isRelease ? 200 : idScore
                // The live album of that name.
                let isOther = evidence.year.line.contradicts && evidence.tracks.lengthsAgree != true
                return isOther
                    ? Match(.doubtful, [line, evidence.year.line, evidence.tracks.line], score: score)
                    : Match(.certain, [line], score: score)
            }
        }
        let weakness = Weakness(evidence, hasNamesake: hasNamesake || query.hasNamesake)
        let suffices = weakness?.suffices(evidence) ?? evidence.isCertain
        if suffices || evidence.isCertainInAnotherScript
            || evidence.isCertainByLengths(isContested: isContested)
        {
            var match = Match(.certain, evidence.told, score: evidence.score)
            match.isOfOtherEdition = evidence.isOfOtherEdition
            return match
        }
        guard evidence.isDoubtful else { return Match(.none, evidence.told) }
        let why = evidence.isCertain ? weakness.map { [Line(.silent, $0.reason)] } ?? [] : []
        return Match(.doubtful, evidence.told + why, score: evidence.score)
    }
}

extension Evidence {
    fileprivate var isCertain: Bool {
        namesAgree && (year.line.agrees || tracks.line.agrees) && !year.line.contradicts && !tracks.line.contradicts
    }

    /// Where one name is of another script, the other name and six lengths suffice.
    fileprivate var isCertainInAnotherScript: Bool {
        let lengths = tracks.comparedLengths
        let isOther =
            artist.isOtherScript && title.line.agrees || title.isOtherScript && artist.line.agrees
            || artist.isOtherScript && title.isOtherScript && year.line.agrees && lengths >= 10
        return isOther && lengths >= 6 && !year.line.contradicts
    }

    /// Whether lengths tell: nobody edits them, and two albums hardly share them.
    /// - Parameter isContested: Whether an album of our year and name has other lengths.
    fileprivate func isCertainByLengths(isContested: Bool) -> Bool {
        if tracks.telling == .nothing || artist.isOtherPerformer { return false }
        if namesAgree { return !year.line.contradicts || tracks.telling == .recording && !isContested }
        let isNear =
            artist.line.agrees
            ? title.isNear && title.isSameRecording : title.line.agrees && (artist.isJoined || artist.isNear)
        return isNear && year.line.agrees && tracks.lengths?.haveBonus == false
    }

    fileprivate var isDoubtful: Bool {
        // A person may read the same names in other characters, or in another language.
        if tracks.lengths?.allTell == true, title.isSameRecording { return true }
        if artist.line.contradicts || title.line.contradicts { return false }
        let contradictions = [year.line, tracks.line].count(where: \.contradicts)
        if artist.line.agrees { return title.line.agrees || contradictions < 2 }
        if artist.isUnknown {
            return title.line.agrees && contradictions == 0 && (year.line.agrees || tracks.line.agrees)
        }
        return title.line.agrees && contradictions < 2 || artist.isOtherScript && tracks.comparedLengths >= 6
    }
}

/// Why the names of two albums say less than usual: other albums have them, too.
private enum Weakness {
    /// - Parameter isGeneral: Whether nothing is left of the title but general words.
    case various(isGeneral: Bool)
    case generic, work, namesake
    /// One artist is joined with others.
    case joined(isGeneral: Bool)

    init?(_ evidence: Evidence, hasNamesake: Bool) {
        let titles = evidence.titles
        let artists = [evidence.ours, evidence.theirs].map { $0.artists[0].whole }
        let isGeneric = [titles.0, titles.1].contains { TitleEvidence.isGeneric($0, artists) }
        if TitleEvidence.isWork(titles.0) || TitleEvidence.isWork(titles.1) || evidence.artist.isOthersWork {
            self = .work
        } else if evidence.artist.areVarious {
            self = .various(isGeneral: isGeneric || hasNamesake)
        } else if evidence.artist.isJoined {
            self = .joined(isGeneral: isGeneric || hasNamesake)
        } else if isGeneric {
            self = .generic
        } else if hasNamesake {
            self = .namesake
        } else {
            return nil
        }
    }

    /// Whether year and tracks tell the album.
    func suffices(_ evidence: Evidence) -> Bool {
        guard evidence.title.line.agrees, evidence.tracks.line.agrees, !evidence.year.line.contradicts,
            evidence.tracks.lengths?.areSome != true
        else { return false }
        let (isEqual, lengthsAgree) = (evidence.year.line.agrees, evidence.tracks.lengthsAgree == true)
        switch self {
        case .various(let isGeneral): return evidence.namesAgree && (isEqual || evidence.year.isNear && !isGeneral)
        case .generic, .namesake: return evidence.namesAgree && isEqual
        case .work: return evidence.namesAgree && isEqual && (evidence.artist.isPerformer || lengthsAgree)
        case .joined(let isGeneral): return isEqual && (!isGeneral || lengthsAgree)
        }
    }

    var reason: String {
        switch self {
        case .various: "various artists have many albums of a name"
        case .generic: "such a title has many albums"
        case .work: "a work has many recordings"
        case .namesake: "another album has this name"
        case .joined: "the artist is joined with others"
        }
    }
}

/// An album with its names as they are compared. Folding takes most of the time of a comparison, so that it is done once for each album.
struct FoldedAlbum: Sendable {
    let album: AlbumQuery
    /// The main artist, then the other names.
    let artists: [ArtistName]
    /// With an artist's name in it.
    let title: FoldedText

    init(_ album: AlbumQuery) {
        self.album = album
        artists = ([album.artist] + album.otherArtists).map { ArtistName($0) }
        title = FoldedText(FoldedText.spaced(album.title), year: album.year)
    }
}

/// An album that is wanted, beside those that sources describe, each of which is compared with it once.
final class AlbumComparison: Sendable {
    let query: AlbumQuery
    private let folded: FoldedAlbum
    private let known = Mutex<[AlbumQuery: Evidence]>([:])

    init(_ query: AlbumQuery) { (self.query, folded) = (query, FoldedAlbum(query)) }

    func evidence(_ candidate: AlbumQuery) -> Evidence {
        known.withLock { known in
            if let evidence = known[candidate] { return evidence }
            let evidence = Evidence(folded, FoldedAlbum(candidate))
            known[candidate] = evidence
            return evidence
        }
    }
}
