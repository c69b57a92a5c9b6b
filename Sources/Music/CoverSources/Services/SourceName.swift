/// The services that are asked for covers, by the names that options have for them.
package enum SourceName: String, Sendable, Hashable, CaseIterable, Codable {
    /// The Cover Art Archive.
    case caa
    case musicbrainz
    case itunes
    case deezer

    /// The service's own name.
    package var title: String {
        switch self {
        case .caa: "Cover Art Archive"
        case .musicbrainz: "MusicBrainz"
        case .itunes: "iTunes"
        case .deezer: "Deezer"
        }
    }

    /// The service's address, without a slash at the end.
    package var defaultBase: String {
        switch self {
        case .caa: "https://coverartarchive.org"
        case .musicbrainz: "https://musicbrainz.org"
        case .itunes: "https://itunes.apple.com"
        case .deezer: "https://api.deezer.com"
        }
    }
}
