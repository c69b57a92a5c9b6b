/// The MusicBrainz id of a release or a release group.
package struct MusicBrainzID: Sendable, Hashable {
    enum Entity: String, Sendable {
        case release
        case releaseGroup = "release-group"
    }

    var entity: Entity
    /// In lower case: the archive accepts no other form (RFC 9562 section 4 recommends it).
    var uuid: String

    /// Returns nil unless `text` is a UUID, or an address that ends with one: `https://musicbrainz.org/release/UUID`.
    init?(_ entity: Entity, _ text: String) {
        let text = text.contains("musicbrainz.org/\(entity.rawValue)/") ? String(text.suffix(36)) : text
        guard let uuid = Self.uuid(text) else { return nil }
        (self.entity, self.uuid) = (entity, uuid)
    }

    /// A UUID, `8-4-4-4-12` hexadecimal digits, in lower case; nil for another text.
    package static func uuid(_ text: some StringProtocol) -> String? {
        let isUUID =
            text.utf8.count == 36
            && text.utf8.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : byte < 0x80 && Character(UnicodeScalar(byte)).isHexDigit
            }
        return isUUID ? text.lowercased() : nil
    }
}
