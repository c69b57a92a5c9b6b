import HTTPTypes

/// A path of the Cover Art Archive's API (musicbrainz.org/doc/Cover_Art_Archive/API), such as
/// `/release/{uuid}/front-500`. Each id has its own cover, except ids that end in 404.
///
/// Such a path redirects to the cover, or, with `ArchiveHosts`, as the archive does: to `/download/{uuid}/front-500` on
/// another host, which redirects to the cover on a third.
struct ArchivePath: Sendable, Equatable {
    private let id: Substring
    /// `front`, `front-250`, `front-500` or `front-1200`.
    private let image: Substring
    /// True on the second host.
    private let isDownload: Bool

    /// Returns nil if the path is not one of the archive's.
    init?(_ path: Substring) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, ["release", "release-group", "download"].contains(parts[1]) else { return nil }
        (id, image, isDownload) = (parts[2], parts[3], parts[1] == "download")
    }

    /// 307 to the cover or to the next host, 404 if there is none, or 400 if the id is not a UUID.
    ///
    /// - Parameter hosts: Nil keeps to the request's host.
    func response(at hosts: ArchiveHosts?) -> OriginResponse {
        guard isUUID else { return .text(400, "invalid MBID specified\n") }
        guard let size = Self.sizes[image], !id.hasSuffix("404") else {
            return .text(404, "No cover image found for release with identifier \(id)\n")
        }
        let number = Int(id.suffix(5), radix: 16) ?? 0
        let cover = "/covers/\(number).jpg?size=\(size)"
        let target =
            if let hosts {
                isDownload ? hosts.storage(number) + cover : "\(hosts.archive)/download/\(id)/\(image)"
            } else {
                cover
            }
        return OriginResponse(isDownload ? 302 : 307, [.location: target, .contentLength: "0"])
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
