/// A cover that a source may have for an album.
package struct SourceCandidate: Sendable, Hashable {
    package var source: SourceName
    /// The album as the source describes it.
    package var album: AlbumQuery
    /// URLs of the picture, in the order of trying: the largest first, the original last.
    package var pictures: [String]
    /// Whether it is the album that is wanted; `none` until it is judged.
    package var match: Match

    package init(
        source: SourceName, album: AlbumQuery, pictures: [String],
        match: Match = Match(.none, "not compared with the album")
    ) {
        (self.source, self.album, self.pictures, self.match) = (source, album, pictures, match)
    }

    package var certainty: Match.Certainty { match.certainty }

    /// What several candidates for one picture have in common: the release group, or the first URL.
    var identity: String { album.releaseGroupID ?? pictures.first ?? "" }

    /// Judges what a source has answered. Candidates that match are kept: certain ones first, one for each picture.
    /// - Parameter decisions: Whether a person has accepted a cover, by its identity.
    static func matching(
        _ query: AlbumQuery, _ candidates: [SourceCandidate], _ decisions: [String: Bool] = [:]
    ) -> [SourceCandidate] {
        var seen: Set<String> = []
        return candidates.map { candidate in
            var candidate = candidate
            candidate.match =
                decisions[candidate.identity].map { $0 ? .accepted : .refused }
                ?? Match.judge(query, candidate.album)
            return candidate
        }
        .filter { $0.certainty != .none && !$0.pictures.isEmpty }
        .enumerated().sorted { first, second in
            let (one, other) = (first.element.match, second.element.match)
            if one.certainty != other.certainty { return one.certainty > other.certainty }
            return one.score != other.score ? one.score > other.score : first.offset < second.offset
        }
        .map(\.element).filter { seen.insert($0.identity).inserted }
    }
}
