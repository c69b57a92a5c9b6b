import AlbumLibrary
import CoverLibrary
import Platform

/// Where an album's cover comes from, as a user enters it in one field: an address, or a release of MusicBrainz.
enum CoverSource: Sendable, Hashable {
    case none
    /// A URL, not validated. That of a picture of the user is below `https://covers.invalid/`.
    case address(String)
    /// A MusicBrainz release id.
    case release(String)
    /// A MusicBrainz release-group id.
    case releaseGroup(String)

    /// Reads an id of a release, `release-group/ID`, the address of either at MusicBrainz or in the Cover Art Archive, or any
    /// other address.
    init(_ text: String) {
        // No id contains whitespace. The validation of an album trims its address.
        let word = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        self = word.isEmpty ? .none : Self.musicBrainz(word) ?? .address(text)
    }

    /// The first place where the album's cover is looked for, alternate addresses left out.
    init(of album: Album) {
        if let url = album.coverURL, !url.isEmpty {
            self = .address(url)
        } else if let id = album.musicBrainzReleaseID {
            self = .release(id)
        } else if let id = album.musicBrainzReleaseGroupID {
            self = .releaseGroup(id)
        } else {
            self = .none
        }
    }

    /// The text that `init(_:)` reads as this source.
    var text: String {
        switch self {
        case .none: ""
        case .address(let url): url
        case .release(let id): "https://musicbrainz.org/release/\(id)"
        case .releaseGroup(let id): "https://musicbrainz.org/release-group/\(id)"
        }
    }

    /// Makes this the first place to look for the album's cover. `none` removes the present one.
    func replace(in album: inout Album) {
        switch (self, Self(of: album)) {
        case (.address(let url), _): album.coverURL = url
        case (.release(let id), _):
            album.coverURL = nil
            album.musicBrainzReleaseID = id
        case (.releaseGroup(let id), _):
            album.coverURL = nil
            album.musicBrainzReleaseID = nil
            album.musicBrainzReleaseGroupID = id
        case (.none, .address): album.coverURL = nil
        case (.none, .release): album.musicBrainzReleaseID = nil
        case (.none, .releaseGroup): album.musicBrainzReleaseGroupID = nil
        case (.none, .none): break
        }
    }

    private static func musicBrainz(_ text: String) -> CoverSource? {
        if MusicBrainzID.uuid(text) != nil { return .release(text) }
        var rest = text[...]
        if let scheme = rest.firstRange(of: "://") {
            guard ["http", "https"].contains(rest[..<scheme.lowerBound].lowercased()) else { return nil }
            rest = rest[scheme.upperBound...]
        }
        var parts = rest.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)[...]
        let host = parts.first?.lowercased() ?? ""
        let isSite = host == "musicbrainz.org" || host.hasSuffix(".musicbrainz.org")
        if isSite || host == "coverartarchive.org" { parts.removeFirst() } else if rest != text { return nil }
        guard let entity = parts.popFirst()?.lowercased(), let id = parts.popFirst(), MusicBrainzID.uuid(id) != nil
        else { return nil }
        // A picture in the archive is an address like any other.
        if !isSite, parts.contains(where: { !$0.isEmpty }) { return nil }
        switch entity {
        case "release": return .release(String(id))
        case "release-group": return .releaseGroup(String(id))
        default: return nil
        }
    }
}
