package import CoverLibrary
package import CoverSources

/// The covers that sources have found and that may be other albums'. The gallery asks no sources: its program knows where they are
/// remembered.
package protocol CoverReview: Sendable {
    /// Those of `albums` that have a doubtful cover and no certain one. An album that has the URL of a candidate is none of them: it was
    /// accepted, until the edit is undone.
    func albums(among albums: [Album]) async throws -> [Album.ID]
    /// The best first.
    func candidates(of album: Album) async throws -> [ProposedCover]
    /// What each source answered that was asked for the album's cover, a line each.
    func answers(of album: Album) async throws -> [String]
    /// How many songs the album has; nil if that is not known.
    func trackCount(of album: Album) -> Int?
    /// None of these candidates is the album's.
    /// - Parameter pictures: URLs of them; nil: all of the album's candidates.
    /// - Returns: The URLs of those that were refused, for `allow`.
    func refuse(_ pictures: [String]?, of album: Album) async throws -> [String]
    /// Takes a refusal back.
    func allow(_ pictures: [String], of album: Album) async throws
}

/// A cover that may be an album's.
package struct ProposedCover: Sendable {
    /// URLs of the picture in the order of trying; not empty.
    package var pictures: [String]
    /// The source's name.
    package var source: String
    /// The album as the source describes it.
    package var artist, title: String
    package var year: String
    /// How many; nil if the source does not say.
    package var tracks: Int?
    /// What is known of it: what agrees with the album, says nothing, or contradicts.
    package var evidence: [Match.Line]

    package init(
        pictures: [String], source: String, artist: String, title: String, year: String, tracks: Int? = nil,
        evidence: [Match.Line]
    ) {
        (self.pictures, self.source) = (pictures, source)
        (self.artist, self.title, self.year) = (artist, title, year)
        (self.tracks, self.evidence) = (tracks, evidence)
    }
}
