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
        if query.hasNamesake || Self.haveNamesakes(all, query) { return nil }
        let proof = Match.Line(.agrees, "its picture is the one in the tags")
        return judged(Match(.certain, Evidence(query, album).told + [proof], score: match.score))
    }
}
