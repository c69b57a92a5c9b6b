import Platform

/// The size in which the Cover Art Archive returns covers: the longer side in pixels, or the original. Further sizes may be added.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum CoverSize: String, Sendable, Hashable, CaseIterable {
    /// At most 250 pixels.
    case pixels250 = "250"
    /// At most 500 pixels.
    case pixels500 = "500"
    /// At most 1,200 pixels.
    case pixels1200 = "1200"
    /// The original upload, which may be many megabytes.
    case full

    /// The last part of a front cover's URL in the Cover Art Archive.
    fileprivate var fileName: String { self == .full ? "front" : "front-\(rawValue)" }
}

/// The URLs of covers in the Cover Art Archive (musicbrainz.org/doc/Cover_Art_Archive/API), by MusicBrainz id. The archive
/// responds with 307 to the cover's location, 404 without a cover, 400 to an invalid id, and 503 above its rate limit. The original may
/// be a PDF, and a thumbnail may be missing: it is made some time after the upload, or not at all.
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

    /// The URLs of the front cover of a release or a release group: in the size that was asked for, then in the others. The original
    /// comes last, because it may be large.
    func frontCovers(of id: MusicBrainzID) -> [String] {
        sizes.map { "\(base)/\(id.entity.rawValue)/\(id.uuid)/\($0.fileName)" }
    }

    private var sizes: [CoverSize] {
        switch size {
        case .pixels250: [.pixels250, .pixels500, .pixels1200, .full]
        case .pixels500: [.pixels500, .pixels1200, .pixels250, .full]
        case .pixels1200: [.pixels1200, .pixels500, .pixels250, .full]
        case .full: [.full, .pixels1200, .pixels500, .pixels250]
        }
    }

    /// The URL of the size that is tried last for the cover at `url`; nil if that is no cover of this archive.
    package func lastSize(of url: String) -> String? {
        guard contains(url), let last = sizes.last else { return nil }
        return Self.picture(of: url).map { $0 + last.fileName }
    }

    /// The common part of the URLs of a front cover's sizes; nil if `url` has not the form of such a URL.
    package static func picture(of url: String) -> String? {
        guard let slash = url.utf8.lastIndex(of: UInt8(ascii: "/")),
            CoverSize.allCases.contains(where: { $0.fileName.utf8.elementsEqual(url.utf8[slash...].dropFirst()) }),
            let entity = url.split(separator: "/").dropLast(2).last,
            MusicBrainzID.Entity(rawValue: String(entity)) != nil
        else { return nil }
        return String(url[...slash])
    }
}

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
        let id = text.lowercased()
        // Foundation takes some other texts for UUIDs, too.
        return UUID(uuidString: id)?.uuidString.lowercased() == id ? id : nil
    }
}
