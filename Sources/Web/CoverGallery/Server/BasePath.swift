/// The path below which a gallery answers: `/`, or such as `/sleeve/` behind a proxy that has other applications, too.
///
/// The page's own addresses are relative, so only redirects, cookies and `Link` fields name it.
package struct BasePath: Sendable, Hashable {
    /// Begins and ends with `/`.
    package let text: String

    package static let root = BasePath(segments: [])

    /// Slashes at the beginning and the end of `text` are optional.
    /// - Returns: nil if a segment is empty, `.` or `..`, or has other characters than the unreserved ones of RFC 3986 section
    ///   2.3, or if the path is longer than 200 bytes.
    package init?(_ text: String) {
        var inner = text[...]
        if inner.hasPrefix("/") { inner.removeFirst() }
        if inner.hasSuffix("/") { inner.removeLast() }
        let segments = inner.isEmpty ? [] : inner.split(separator: "/", omittingEmptySubsequences: false)
        let isValid = segments.allSatisfy { segment in
            !segment.isEmpty && segment != "." && segment != ".." && segment.allSatisfy(\.isUnreserved)
        }
        guard isValid, text.utf8.count <= 200 else { return nil }
        self.init(segments: segments)
    }

    private init(segments: [Substring]) { text = segments.reduce("/") { "\($0)\($1)/" } }

    /// Without the slash at the end: `/sleeve`, or `/`.
    private var withoutSlash: String { text == "/" ? text : String(text.dropLast()) }

    /// The attributes of the gallery's cookies; they last a year. The path has no slash at the end, so that browsers send them
    /// with a request for `/sleeve`, too (RFC 6265 section 5.1.4).
    var cookieAttributes: String { "Path=\(withoutSlash); HttpOnly; SameSite=Strict; Max-Age=31536000" }
}

extension Character {
    fileprivate var isUnreserved: Bool { isASCII && (isLetter || isNumber || "-._~".contains(self)) }
}
