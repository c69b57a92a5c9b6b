import CoverLibrary
import Platform

/// A picture that a user gave as a file. The library names it by an address that no server can have (RFC 6761 section 6.4).
enum OwnPicture {
    private static let base = "https://covers.invalid/"

    /// Made of the SHA-256 digest of the bytes, so that one address never names two pictures.
    static func address(of picture: Data) -> String { base + Digest(of: picture).description }

    static func isAddress(_ url: String) -> Bool { url.hasPrefix(base) }
}
