/// The size in which the Cover Art Archive returns covers: the longer side in pixels, or the original.
public enum CoverSize: String, Sendable, Hashable, CaseIterable {
    /// At most 250 pixels.
    case pixels250 = "250"
    /// At most 500 pixels.
    case pixels500 = "500"
    /// At most 1,200 pixels.
    case pixels1200 = "1200"
    /// The original upload, which may be many megabytes.
    case full
}

/// The URLs of covers in the Cover Art Archive (musicbrainz.org/doc/Cover_Art_Archive/API), by MusicBrainz id. The archive
/// responds with 307 to the cover's location, 404 without a cover, 400 to an invalid id, and 503 above its rate limit.
package struct CoverArtArchive: Sendable {
    /// How long the archive's 404 is cached, in milliseconds. Half of all releases have no cover, and few get one later.
    package static let negativeTimeToLive: Int64 = 7 * 86_400_000

    /// The archive's URL, without a slash at the end.
    package let base: String
    private let size: CoverSize

    package init(base: String, size: CoverSize) {
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.size = size
    }

    /// Whether `url` is the URL of a cover in this archive.
    package func contains(_ url: String) -> Bool {
        url.hasPrefix(base) && url.utf8.dropFirst(base.utf8.count).starts(with: "/release".utf8)
    }

    /// The URL of the front cover of a release or a release group.
    func frontCover(of id: MusicBrainzID) -> String {
        "\(base)/\(id.entity.rawValue)/\(id.uuid)/front" + (size == .full ? "" : "-\(size.rawValue)")
    }
}

/// The MusicBrainz id of a release or a release group.
struct MusicBrainzID: Sendable, Hashable {
    enum Entity: String, Sendable {
        case release
        case releaseGroup = "release-group"
    }

    var entity: Entity
    /// In lower case: the archive accepts no other form (RFC 9562 section 4 recommends it).
    var uuid: String

    /// Returns nil unless `text` is a UUID: `8-4-4-4-12` hexadecimal digits.
    init?(_ entity: Entity, _ text: String) {
        let isUUID =
            text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : byte < 0x80 && Character(UnicodeScalar(byte)).isHexDigit
            }
        guard isUUID else { return nil }
        self.entity = entity
        uuid = text.lowercased()
    }
}
