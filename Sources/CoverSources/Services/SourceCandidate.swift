/// A cover that a source may have for an album.
package struct SourceCandidate: Sendable, Hashable {
    package var source: SourceName
    /// The album as the source describes it.
    package var album: AlbumQuery
    /// URLs of the picture, in the order of trying: the largest first, the original last. One of more than 8 KiB is no URL.
    package var pictures: [String]
    /// Whether it is the album that is wanted; `none` until it is judged.
    package var match: Match

    package init(
        source: SourceName, album: AlbumQuery, pictures: [String],
        match: Match = Match(.none, "not compared with the album")
    ) {
        (self.source, self.album, self.match) = (source, album, match)
        self.pictures = pictures.filter { $0.utf8.count <= 8 << 10 }
    }

    package var certainty: Match.Certainty { match.certainty }

    /// What several candidates for one picture have in common: the release group, or the first URL.
    var identity: String { album.releaseGroupID ?? pictures.first ?? "" }

    /// The same cover, about which something has raised a doubt.
    /// - Parameter reason: In a few words.
    package func doubted(_ reason: String) -> SourceCandidate { judged(Match(.doubtful, reason, score: match.score)) }

    /// The same cover, which cannot be had.
    /// - Parameter reason: In a few words.
    package func rejected(_ reason: String) -> SourceCandidate { judged(Match(.none, reason)) }

    /// Judges what a source has answered. Candidates that match are kept, and those that a person has decided about: certain ones first, one
    /// for each picture.
    /// - Parameters:
    ///   - known: What other sources have answered.
    ///   - decisions: The pictures, by their identities, about which a person has decided.
    static func matching(
        _ query: AlbumQuery, _ candidates: [SourceCandidate], known: [SourceCandidate] = [],
        decisions: [String: Bool] = [:]
    ) -> [SourceCandidate] {
        var seen: Set<String> = []
        let found = candidates.map { $0.judged(.judge(query, $0.album)) }
            .filter { ($0.certainty != .none || decisions[$0.identity] != nil) && !$0.pictures.isEmpty }
            .ordered().filter { seen.insert($0.identity).inserted }
        return found.map { $0.weighed(query, against: found + known) }.ordered()
    }

    func judged(_ match: Match) -> SourceCandidate {
        var candidate = self
        candidate.match = match
        return candidate
    }
}

extension [SourceCandidate] {
    /// With what a person has decided in place of what was judged.
    /// - Parameter decisions: Whether a cover was accepted, by its identity.
    func decided(_ decisions: [String: Bool]) -> [SourceCandidate] {
        map { candidate in
            decisions[candidate.identity].map { candidate.judged($0 ? .accepted : .refused) } ?? candidate
        }.ordered()
    }

    /// The best match first; the order of equally good ones stays.
    fileprivate func ordered() -> [SourceCandidate] {
        enumerated().sorted { first, second in
            let (one, other) = (first.element.match, second.element.match)
            if one.certainty != other.certainty { return one.certainty > other.certainty }
            return one.score != other.score ? one.score > other.score : first.offset < second.offset
        }
        .map(\.element)
    }
}
