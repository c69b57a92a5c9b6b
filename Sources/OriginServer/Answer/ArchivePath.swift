import HTTPTypes

/// A path of the Cover Art Archive's (musicbrainz.org/doc/Cover_Art_Archive/API): `/release/{uuid}/front-500`. Every id has a
/// cover of its own, but for those that end in 404.
struct ArchivePath: Sendable, Equatable {
    private let id: Substring
    /// `front`, `front-250`, `front-500` or `front-1200`.
    private let image: Substring

    /// Nil: the path is none of the archive's.
    init?(_ path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[1] == "release" || parts[1] == "release-group" else { return nil }
        (id, image) = (parts[2], parts[3])
    }

    /// 307 to where the cover is; 404: it has none; 400: its id is no UUID.
    var answer: Answer {
        guard isUUID else { return .text(400, "invalid MBID specified\n") }
        guard let size = Self.sizes[image], !id.hasSuffix("404") else {
            return .text(404, "No cover image found for release with identifier \(id)\n")
        }
        let number = Int(id.suffix(5), radix: 16) ?? 0
        return Answer(307, [.location: "/covers/\(number).jpg?size=\(size)", .contentLength: "0"])
    }

    /// About so many bytes.
    private static let sizes: [Substring: Int] = [
        "front": 200_000, "front-250": 10_000, "front-500": 30_000, "front-1200": 90_000,
    ]

    /// The archive takes lower case alone.
    private var isUUID: Bool {
        id.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count) == [8, 4, 4, 4, 12]
            && id.allSatisfy { $0 == "-" || ("0"..."9").contains($0) || ("a"..."f").contains($0) }
    }
}
