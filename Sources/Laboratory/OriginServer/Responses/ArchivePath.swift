import HTTPTypes

/// A path of the Cover Art Archive's API (musicbrainz.org/doc/Cover_Art_Archive/API), such as
/// `/release/{uuid}/front-500`, which redirects to a cover. Each id has its own cover, except ids that end in 404.
struct ArchivePath: Sendable, Equatable {
    private let id: Substring
    /// `front`, `front-250`, `front-500` or `front-1200`.
    private let image: Substring

    /// Returns nil if the path is not one of the archive's.
    init?(_ path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, ["release", "release-group"].contains(parts[1]) else { return nil }
        (id, image) = (parts[2], parts[3])
    }

    /// 307 to the cover, 404 if there is none, or 400 if the id is not a UUID.
    var response: OriginResponse {
        guard isUUID else { return .text(400, "invalid MBID specified\n") }
        guard let size = Self.sizes[image], !id.hasSuffix("404") else {
            return .text(404, "No cover image found for release with identifier \(id)\n")
        }
        let number = Int(id.suffix(5), radix: 16) ?? 0
        return OriginResponse(307, [.location: "/covers/\(number).jpg?size=\(size)"])
    }

    /// The covers' lengths in bytes.
    private static let sizes: [Substring: Int] = [
        "front": 200_000, "front-250": 10_000, "front-500": 30_000, "front-1200": 90_000,
    ]

    /// The archive accepts lower case only.
    private var isUUID: Bool {
        id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
            && id.allSatisfy { $0 == "-" || ("0"..."9").contains($0) || ("a"..."f").contains($0) }
    }
}
