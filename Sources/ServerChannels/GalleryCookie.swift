/// The gallery's cookies. A browser sends them to every port of the host, and takes cookies of the same name from every port (RFC
/// 6265 section 8.5).
package enum GalleryCookie {
    /// Holds the gallery's token.
    package static let token = prefix + "token"
    /// Names a browser; its memento is stored under the value.
    package static let client = prefix + "client"

    private static let prefix = "sleeve-"

    /// Whether a cookie of this name is the gallery's.
    package static func owns(_ name: some StringProtocol) -> Bool { name.hasPrefix(prefix) }
}
