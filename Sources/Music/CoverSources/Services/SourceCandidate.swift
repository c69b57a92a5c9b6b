/// A cover that a source may have for an album.
package struct SourceCandidate: Sendable, Hashable, Codable {
    package var source: SourceName
    /// What the source calls the album, such as its number; nil where that is a MusicBrainz id.
    package var id: String?
    /// The album as the source describes it.
    package var album: AlbumQuery
    /// URLs of the picture, in the order of trying: the largest first, the original last. One of more than 8 KiB is no URL, that of a
    /// placeholder no picture; one of `previews` is left out if there are others.
    package var pictures: [String]
    /// URLs of small renditions of the picture, to compare it by: of some 250 pixels, in the order of trying.
    package var previews: [String]
    /// Where the source tells more of the album, below its address: its date, its tracks and their lengths. Nil once that is known, or if it has
    /// no such place.
    var details: String?
    /// Whether it is the album that is wanted; `none` until it is judged.
    package var match = Match.unjudged

    /// What is kept of it.
    private enum CodingKeys: CodingKey { case source, id, album, pictures, previews, details }

    package init(
        source: SourceName, album: AlbumQuery, pictures: [String], previews: [String] = [], details: String? = nil,
        id: String? = nil, match: Match = .unjudged
    ) {
        (self.source, self.album, self.details, self.id, self.match) = (source, album, details, id, match)
        // A small rendition that is cached would be taken before the large one.
        let large = pictures.filter { !previews.contains($0) }
        func isPicture(_ url: String) -> Bool { url.utf8.count <= 8 << 10 && !Placeholder.isAt(url) }
        self.pictures = (large.isEmpty ? pictures : large).filter(isPicture)
        self.previews = previews.filter(isPicture)
    }

    package var certainty: Match.Certainty { match.certainty }

    /// What several candidates for one picture have in common: the release group, or the first URL.
    package var identity: String { album.releaseGroupID ?? pictures.first ?? "" }

    /// With what the source says of the album at `details`.
    func adding(_ details: SourceCandidate) -> SourceCandidate {
        let (more, former) = (details.album, album)
        var candidate = self
        candidate.details = nil
        candidate.album = AlbumQuery(
            artist: more.artist.isEmpty ? former.artist : more.artist,
            otherArtists: more.otherArtists.isEmpty ? former.otherArtists : more.otherArtists,
            // The kind of a release is told by a search alone.
            title: more.title.isEmpty || former.title.hasPrefix(more.title) ? former.title : more.title,
            year: more.year ?? former.year, originalYear: more.originalYear ?? former.originalYear,
            trackCounts: former.trackCounts.union(more.trackCounts),
            lengths: more.lengths.isEmpty ? former.lengths : more.lengths, releaseID: former.releaseID,
            releaseGroupID: more.releaseGroupID ?? former.releaseGroupID)
        candidate.pictures = details.pictures + pictures.filter { !details.pictures.contains($0) }
        return candidate
    }

    /// By what a decision about the cover is found again: the archive may be asked by the id of the release or of its group, and at another
    /// address.
    package var name: PictureName {
        var name = PictureName(source, album, urls: pictures, digest: digest)
        name.ids = Set(
            [id.map { "\(source):\($0)" }].compactMap(\.self)
                + [album.releaseID, album.releaseGroupID].compactMap { $0.map { "musicbrainz:\($0)" } })
        return name
    }

    /// A cover about which a person has decided.
    package init(_ decision: Decision) {
        let picture = decision.picture
        self.init(
            source: picture.source, album: picture.album, pictures: picture.urls,
            match: decision.verdict == .accepted ? .accepted : .refused)
    }

    /// The same cover, about which something has raised a doubt.
    /// - Parameter reason: In a few words.
    package func doubted(_ reason: String) -> SourceCandidate {
        judged(Match(.doubtful, match.lines + [.init(.contradicts, reason)], score: match.score))
    }

    package func judged(_ match: Match) -> SourceCandidate {
        var candidate = self
        candidate.match = match
        return candidate
    }

    /// Judges what a source has answered. Candidates that match are kept, and those that a person has decided about: certain ones first, one
    /// for each picture.
    /// - Parameters:
    ///   - namesakes: Those in the answers of all sources.
    ///   - decisions: What a person has said about the album's pictures.
    static func matching(
        _ comparison: AlbumComparison, _ candidates: [SourceCandidate], _ namesakes: Namesakes, _ decisions: Decisions
    ) -> [SourceCandidate] {
        let query = comparison.query
        var seen: Set<String> = []
        let judged = candidates.map { candidate in
            let evidence = comparison.evidence(candidate.album)
            let judged = candidate.judged(
                .judge(evidence, hasNamesake: namesakes.areSeveral, isContested: namesakes.areContested))
            return namesakes.areOpen && judged.match.isByName && SongLengths.known(candidate.album.lengths) == nil
                ? judged.doubted("an album of this name has other lengths") : judged
        }
        let found =
            judged
            .filter { candidate in candidate.certainty != .none || decisions.ruling(on: candidate.name) != nil }
            .filter { !$0.pictures.isEmpty }
            .ordered(query).filter { seen.insert($0.identity).inserted }
        return found.map { $0.weighed(against: found, query) }.ordered(query)
    }

    /// Whether the source can still say something of the album that counts: more than the judgement has, or what would make it certain.
    func needsDetails(for comparison: AlbumComparison) -> Bool {
        let query = comparison.query
        guard details != nil, match.isByName || certainty == .doubtful else { return false }
        let hasLengths = SongLengths.known(query.lengths) != nil
        let isOpen =
            hasLengths && album.lengths.isEmpty || query.year != nil && album.year == nil || album.trackCounts.isEmpty
            || source == .musicbrainz && album.originalYear == nil && query.year != album.year
        if !isOpen || certainty == .certain { return isOpen }
        var best = album
        if best.trackCounts.isEmpty { best.trackCounts = query.trackCounts }
        if best.year == nil { best.year = query.year }
        if source == .musicbrainz { best.originalYear = best.originalYear ?? query.year }
        let lists = hasLengths && best.lengths.isEmpty ? [query.lengths, query.setLengths ?? []] : [best.lengths]
        return lists.contains { lengths in
            best.lengths = lengths
            return Match.judge(comparison.evidence(best)).certainty == .certain
        }
    }

    /// Whether its lengths may make an album of other names doubtful: it has as many tracks, and is not of another year.
    fileprivate func mayAgreeInLengths(_ comparison: AlbumComparison) -> Bool {
        let query = comparison.query
        guard details != nil, album.lengths.isEmpty, !album.trackCounts.isDisjoint(with: query.trackCounts) else {
            return false
        }
        var album = album
        album.lengths = query.lengths
        let evidence = comparison.evidence(album)
        return Match.judge(evidence).certainty > .none && !evidence.year.line.contradicts
    }
}

extension [SourceCandidate] {
    /// The album that its source is asked for more of: the best match alone, as a request costs seconds. Where nothing matches, one whose lengths
    /// may show that it has other names.
    /// - Parameters:
    ///   - matching: What matches of these.
    ///   - isFirst: Whether none was asked for yet.
    func indexOfDetails(_ matching: [SourceCandidate], isFirst: Bool, for comparison: AlbumComparison) -> Int? {
        if let best = matching.first(where: { $0.certainty > .none }) {
            return best.needsDetails(for: comparison) ? firstIndex { $0.details == best.details } : nil
        }
        guard isFirst, matching.isEmpty else { return nil }
        func score(_ index: Int) -> Int { comparison.evidence(self[index].album).score }
        return indices.filter { self[$0].mayAgreeInLengths(comparison) }.max { score($0) < score($1) }
    }
}

// MARK: Albums of one name

extension SourceCandidate {
    /// What answers tell of albums of our name. It is all that weighs of other sources when the answers of one are judged.
    struct Namesakes: Sendable, Hashable {
        var areSeveral = false
        /// One of our year has other lengths.
        var areContested = false
        /// One has other lengths, and one without lengths may be that.
        var areOpen = false

        init() {}

        init(_ candidates: [SourceCandidate], _ comparison: AlbumComparison) {
            let named = named(candidates, comparison)
            areSeveral = SourceCandidate.areSeveral(named)
            areContested = named.contains { $0.evidence.year.isEqual && $0.evidence.tracks.isOther() }
            areOpen = named.contains {
                !$0.evidence.year.line.contradicts && $0.evidence.tracks.isOther(ofOneNumber: true)
            }
        }
    }

    /// Whether the answers have another album of the artist and title that are wanted: bands name albums after themselves, and record an album
    /// again.
    private static func areSeveral(_ named: [Named]) -> Bool {
        let ofYear = named.filter(\.evidence.year.isEqual)
        return areOther(named)
            || named.contains { candidate, evidence in
                // One of another year is not ours, unless its group is; a single of the name is no such album.
                evidence.year.line.contradicts && !evidence.tracks.line.contradicts
                    && evidence.tracks.lengthsAgree != true
                    && ofYear.allSatisfy { $0.candidate.isOther(than: candidate) }
            }
    }

    private typealias Named = (candidate: SourceCandidate, evidence: Evidence)

    private static func named(_ candidates: [SourceCandidate], _ comparison: AlbumComparison) -> [Named] {
        candidates.prefix(200).compactMap { candidate in
            let evidence = comparison.evidence(candidate.album)
            return evidence.namesAgree && evidence.title.haveSameEditions ? (candidate, evidence) : nil
        }
    }

    /// Whether they are several albums.
    private static func areOther(_ named: [Named]) -> Bool {
        named.indices.contains { index in
            named[(index + 1)...].contains { $0.candidate.isOther(than: named[index].candidate) }
        }
    }

    /// Whether two candidates of one name are different albums. Entries of one release group, or with agreeing lengths, are one.
    private func isOther(than other: SourceCandidate) -> Bool {
        if let group = album.releaseGroupID, let otherGroup = other.album.releaseGroupID { return group != otherGroup }
        if let areEqual = TrackEvidence.lengthsAgree(album, other.album), areEqual { return false }
        let haveOneNumber =
            album.trackCounts.isEmpty || other.album.trackCounts.isEmpty
            || !album.trackCounts.isDisjoint(with: other.album.trackCounts)
        if let year = album.year, let otherYear = other.album.year, abs(year - otherYear) > 1 {
            // A single of the name is no such album.
            return source == other.source || haveOneNumber
        }
        if source != other.source { return false }
        if album.year != nil, album.year == other.album.year, haveOneNumber { return false }
        return !haveOneNumber || album.year == nil && identity != other.identity
    }

    /// Only one album of a name can be certain at a source: the one that fits best, of equal ones that which is written as the tags have it.
    private func weighed(against others: [SourceCandidate], _ query: AlbumQuery) -> SourceCandidate {
        guard match.isByName else { return self }
        let rival = others.first { other in
            guard other.match.isByName, other.isOther(than: self) else { return false }
            let (ours, theirs) = (isWritten(as: query), other.isWritten(as: query))
            return other.match.score != match.score ? other.match.score > match.score : theirs || !ours
        }
        guard let rival else { return self }
        return doubted("another album fits as well: “\(rival.album.title)”")
    }

    /// Whether the title is that of the tags, letter for letter but case.
    fileprivate func isWritten(as query: AlbumQuery) -> Bool { album.title.lowercased() == query.title.lowercased() }
}

extension [SourceCandidate] {
    /// The best match first, of equal ones that which is written as the tags have it, then in the order of all services. What one of them has
    /// found stays in its order.
    package func ordered(_ query: AlbumQuery? = nil) -> [SourceCandidate] {
        func isWritten(_ candidate: SourceCandidate) -> Bool {
            query.map { candidate.isWritten(as: $0) } ?? false
        }
        return enumerated().sorted { first, second in
            let (one, other) = (first.element, second.element)
            if one.certainty != other.certainty { return one.certainty > other.certainty }
            if one.match.score != other.match.score { return one.match.score > other.match.score }
            let (isFirst, isSecond) = (isWritten(one), isWritten(other))
            if isFirst != isSecond { return isFirst }
            return one.source == other.source ? first.offset < second.offset : one.source < other.source
        }
        .map(\.element)
    }
}

extension SourceName { package static let picture = SourceName(rawValue: "picture") }

/// Pictures that no service has offered: of the tags, or at an address that a person or a list gave. They are known by their digests, and
/// decisions about them stand beside those about other covers.
extension SourceCandidate {
    /// - Parameter digest: the picture's SHA-256.
    package init(picture digest: String, of album: AlbumQuery) {
        self.init(
            source: .picture, album: AlbumQuery(artist: album.artist, title: album.title),
            pictures: [Self.scheme + digest])
    }

    /// Why such a picture is not written.
    package static let refusal = "you refused its picture; `sleeve fill allow` lets it be written again"

    /// Of a picture without a service.
    var digest: String? {
        pictures.first.flatMap { $0.hasPrefix(Self.scheme) ? String($0.dropFirst(Self.scheme.count)) : nil }
    }

    private static let scheme = "sha256:"
}

/// What the picture in the tags of an album's songs proves of covers that are doubtful because facts are missing.
extension SourceCandidate {
    /// Whether it may decide: the cover is doubtful for what is known of the album, and not for what has shown since.
    package func mayBeProved(for query: AlbumQuery) -> Bool {
        certainty == .doubtful && Match.judge(query, album).certainty == .doubtful
    }

    /// The cover as it is judged if its picture is the one in the tags of all songs: certain. Nil if several albums have the name, as the tags may
    /// have the picture of any of them.
    /// - Parameter all: Everything that was found for the album.
    package func provedByTags(for query: AlbumQuery, among all: [SourceCandidate]) -> SourceCandidate? {
        if query.hasNamesake || Self.areOther(Self.named(all, AlbumComparison(query))) { return nil }
        let proof = Match.Line(.agrees, "its picture is the one in the tags")
        return judged(Match(.certain, Evidence(query, album).told + [proof], score: match.score))
    }
}
