/// What pictures prove of covers that are doubtful because facts are missing. That two sources show one picture says that both speak of one
/// album, not that it is the wanted one: so what one of them says of it, both say, and it is judged as always.
extension SourceCandidate {
    /// What it counts in the list of doubtful covers that several sources show one.
    private static let sharedScore = 10

    /// Whether a picture may decide: the cover is doubtful for what is known of the album, and not for what has shown since.
    package func mayBeProved(for query: AlbumQuery) -> Bool {
        certainty == .doubtful && Match.judge(query, album).certainty == .doubtful
    }

    /// The sources whose picture is the same file: the archive's covers are found by MusicBrainz.
    package var sameSources: Set<SourceName> {
        [SourceName.caa, .musicbrainz].contains(source) ? [.caa, .musicbrainz] : [source]
    }

    /// Whether there are covers of several sources.
    package static func areOfSeveralSources(_ covers: [SourceCandidate]) -> Bool {
        Set(covers.map(\.sameSources)).count > 1
    }

    /// Whether covers are of sources that do not err alike.
    package static func areIndependent(_ covers: [SourceCandidate]) -> Bool {
        Set(covers.map(\.source.lineage)).count > 1
    }

    /// The largest of several covers that show one picture, judged by what all of their sources say of the album.
    /// - Parameters:
    ///   - covers: Those that may be proved. The first one is the best.
    ///   - others: Those that show other pictures.
    ///   - all: Everything that was found for the album.
    /// - Returns: Nil if they are of one source.
    package static func pooled(
        _ covers: [SourceCandidate], beside others: [SourceCandidate], for query: AlbumQuery,
        among all: [SourceCandidate]
    ) -> SourceCandidate? {
        guard let first = covers.first, let largest = largest(covers), areOfSeveralSources(covers) else { return nil }
        let evidence = covers.map { Evidence(query, $0.album) }
        let pool = evidence.dropFirst().reduce(evidence[0]) { $0.pooled(with: $1) }
        let hasNamesake = query.hasNamesake || areSeveral(all, query)
        let isDisputed =
            !areIndependent(covers)
            && others.contains { $0.source.lineage != first.source.lineage && Evidence(query, $0.album).namesAgree }
        let isCertain =
            !isDisputed
            && covers.allSatisfy { Match.suffices(pool, query, $0.album, hasNamesake: hasNamesake) }
        let titles = Set(covers.map(\.source.title)).sorted()
        let same = "\(titles.dropLast().joined(separator: ", ")) and \(titles.last ?? "") show the same picture"
        let facts: [(name: String, line: (Evidence) -> Match.Line)] = [
            ("artist", { $0.artist.line }), ("title", { $0.title.line }), ("year", { $0.year.line }),
            ("tracks", { $0.tracks.line }),
        ]
        let gained = facts.compactMap { fact in
            guard !fact.line(evidence[0]).agrees, let index = evidence.firstIndex(where: { fact.line($0).agrees })
            else { return nil as Match.Line? }
            return .init(.agrees, "\(covers[index].source.title) knows the \(fact.name)")
        }
        let proof = [Match.Line(.agrees, same)] + gained
        if isCertain { return largest.judged(Match(.certain, pool.told + proof, score: first.match.score)) }
        let score = first.match.score + sharedScore
        return largest.judged(Match(.doubtful, proof + first.match.lines, score: score))
    }

    /// The largest of covers whose picture is the one in the tags of all songs. The tags tell the album unless several have its name, or an
    /// independent source shows another picture, where all titles are only near the wanted one: that of a sibling may be in the tags.
    /// - Parameters: As of `pooled`.
    package static func proved(
        byTags covers: [SourceCandidate], beside others: [SourceCandidate], for query: AlbumQuery,
        among all: [SourceCandidate]
    ) -> SourceCandidate? {
        guard let first = covers.first, let largest = largest(covers) else { return nil }
        if query.hasNamesake || haveNamesakes(all, query) { return nil }
        let isNear = covers.allSatisfy { !Evidence(query, $0.album).title.line.agrees }
        if isNear, !areIndependent(covers), others.contains(where: { $0.source.lineage != first.source.lineage }) {
            return nil
        }
        let proof = Match.Line(.agrees, "its picture is the one in the tags")
        return largest.judged(
            Match(.certain, Evidence(query, first.album).told + [proof], score: first.match.score))
    }

    package static func largest(_ covers: [SourceCandidate]) -> SourceCandidate? {
        covers.enumerated().max { one, other in
            (one.element.largestSide ?? 0, -one.offset) < (other.element.largestSide ?? 0, -other.offset)
        }?.element
    }
}
