/// A service that may be asked for covers: a row of the table of all of them. What it is asked, and how it answers, is in its file.
package struct SourceService: Sendable {
    package let name: SourceName
    /// Its own name, for people.
    let title: String
    /// Without a slash at the end.
    let address: String
    /// Nil for one that is asked without a key.
    package var key: SourceKey?
    /// The source, at the addresses that services have.
    let source: @Sendable (_ address: (SourceName) -> String) -> CoverSource

    /// All services, in the order in which they are asked if a person names none.
    package static let all = [
        SourceService(name: .caa, title: "Cover Art Archive", address: "https://coverartarchive.org") {
            .coverArtArchive($0(.caa), musicBrainz: $0(.musicbrainz))
        },
        SourceService(name: .musicbrainz, title: "MusicBrainz", address: "https://musicbrainz.org") {
            .musicBrainz($0(.musicbrainz), archive: $0(.caa))
        },
        SourceService(name: .itunes, title: "iTunes", address: "https://itunes.apple.com") { .iTunes($0(.itunes)) },
        SourceService(name: .deezer, title: "Deezer", address: "https://api.deezer.com") { .deezer($0(.deezer)) },
        SourceService(name: .discogs, title: "Discogs", address: "https://api.discogs.com", key: .discogs) {
            .discogs($0(.discogs))
        },
    ]
}
