/// How large the Cover Art Archive is asked to give covers: the longer side in pixels, or as they were uploaded.
public enum CoverSize: String, Sendable, Hashable, CaseIterable {
    /// At most 250 pixels.
    case pixels250 = "250"
    /// At most 500 pixels.
    case pixels500 = "500"
    /// At most 1,200 pixels.
    case pixels1200 = "1200"
    /// As it was uploaded; that may be many megabytes.
    case full
}

/// The archive that has covers by MusicBrainz ids (musicbrainz.org/doc/Cover_Art_Archive/API). It answers 307 to where the
/// cover is, 404 where it has none, 400 for what is no id, and 503 to those who ask too often.
package struct CoverArtArchive: Sendable {
    package let base: String
    private let size: CoverSize

    /// - Parameter base: its URL.
    package init(base: String, size: CoverSize) {
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        self.size = size
    }

    /// How long it is believed that it has no cover, in milliseconds: half of all releases have none, and few get one.
    package static let patience: Int64 = 7 * 86_400_000

    package func holds(_ url: String) -> Bool {
        url.hasPrefix(base) && url.utf8.dropFirst(base.utf8.count).starts(with: "/release".utf8)
    }

    /// Where the front cover of a release or a group of releases is to be had.
    func cover(of id: MusicBrainzID) -> String {
        "\(base)/\(id.entity.rawValue)/\(id.uuid)/front" + (size == .full ? "" : "-\(size.rawValue)")
    }
}

/// What MusicBrainz calls a release, or a group of them, by.
struct MusicBrainzID: Sendable, Hashable {
    enum Entity: String, Sendable {
        case release
        case releaseGroup = "release-group"
    }

    var entity: Entity
    /// In lower case: the archive knows no other (RFC 9562 section 4 has it written so).
    var uuid: String

    /// Nil: the text is no UUID.
    init?(_ entity: Entity, _ text: String) {
        guard Self.isUUID(text) else { return nil }
        self.entity = entity
        uuid = text.lowercased()
    }

    /// `8-4-4-4-12` hexadecimal digits.
    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place)
                    ? byte == UInt8(ascii: "-") : byte < 0x80 && Character(UnicodeScalar(byte)).isHexDigit
            }
    }
}
