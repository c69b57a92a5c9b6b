import CoverLibrary
import HTTPTypes
import WebServer

/// A size that the cache keeps, as clients of a server name it: `covers/DIGEST?w=300`.
struct KeptSize: Sendable, Hashable {
    /// In pixels; one of `LibraryAPI.keptSizes`.
    let longestSide: Int

    /// - Parameter text: the value of `w`. Nil if it is none of the kept sizes.
    private init?(_ text: some StringProtocol) {
        guard let side = Int(text), LibraryAPI.keptSizes.contains(side) else { return nil }
        longestSide = side
    }

    /// What a client is told that names another size.
    private static let expected =
        "w must be one of \(LibraryAPI.keptSizes.map(String.init).joined(separator: ", "))"

    /// The entity tag (RFC 9110 section 8.8.3) of a response with `cover`, which is the cover with `digest` in this size, or as it is.
    func tag(of cover: Cover, digest: String) -> String {
        // A size is not the bytes that the digest names.
        cover.digest == digest ? "\"\(digest)\"" : "\"\(digest)-\(longestSide)\""
    }

    /// The size that a request wants; nil for the cover as it is.
    /// - Throws: `HTTPError` if it is none that is kept.
    static func wanted(by request: Request) throws -> KeptSize? {
        guard let text = request.parameter("w") else { return nil }
        guard let size = KeptSize(text) else { throw HTTPError(.badRequest, message: expected) }
        return size
    }
}
