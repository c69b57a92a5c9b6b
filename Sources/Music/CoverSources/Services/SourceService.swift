/// A service that may be asked for covers: a row of the table of all of them. What it is asked, and how it answers, is in its file.
package struct SourceService: Sendable {
    package let name: SourceName
    /// Its own name, for people.
    let title: String
    /// Without a slash at the end.
    let address: String
    /// Nil for one that is asked without a key.
    package let key: SourceKey?
    /// The source, at the addresses that services have.
    let source: @Sendable (_ address: (SourceName) -> String) -> CoverSource

    private init(
        _ name: SourceName, _ title: String, _ address: String, key: SourceKey? = nil,
        source: @escaping @Sendable ((SourceName) -> String) -> CoverSource
    ) {
        (self.name, self.title, self.address, self.key, self.source) = (name, title, address, key, source)
    }

    /// All services, in the order in which they are asked if a person names none.
    package static let all = [
        SourceService(.caa, "Cover Art Archive", "https://coverartarchive.org") {
            .coverArtArchive($0(.caa), musicBrainz: $0(.musicbrainz))
        },
        SourceService(.musicbrainz, "MusicBrainz", "https://musicbrainz.org") {
            .musicBrainz($0(.musicbrainz), archive: $0(.caa))
        },
        SourceService(.itunes, "iTunes", "https://itunes.apple.com") { .iTunes($0(.itunes)) },
        SourceService(.deezer, "Deezer", "https://api.deezer.com") { .deezer($0(.deezer)) },
        SourceService(.discogs, "Discogs", "https://api.discogs.com", key: .discogs) { .discogs($0(.discogs)) },
        SourceService(.lastfm, "Last.fm", "https://ws.audioscrobbler.com", key: .lastFM) { .lastFM($0(.lastfm)) },
    ]
}
