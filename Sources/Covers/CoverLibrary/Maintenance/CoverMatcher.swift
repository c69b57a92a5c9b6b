import CoverCache
import CoverFetch
import CurlHTTP

/// A `CoverFilter`, prepared for a million entries.
struct CoverMatcher: Sendable {
    private let glob: Glob?
    /// Host and port in UTF-8, or the host only.
    private let host: [UInt8]?
    private let hasPort: Bool
    private let isPinned: Bool

    /// - Throws: `LibraryError` if the host is not valid.
    init(_ filter: CoverFilter) throws(LibraryError) {
        glob = filter.pattern.map(Glob.init)
        isPinned = filter.isPinned
        guard let name = filter.host else {
            (host, hasPort) = (nil, false)
            return
        }
        // Normalised as the keys are: lower case, an international name in its ASCII form.
        guard let url = try? HTTPURL("http://\(name)/"), url.target == "/" else {
            throw .invalidConfiguration("“\(name)” is not a host; write it as covers.example.org or 127.0.0.1:8731")
        }
        host = Array(url.authority.utf8)
        hasPort = Self.port(of: url.authority.utf8) != nil
    }

    func matches(_ entry: CachedEntry) -> Bool {
        guard entry.isPinned || !isPinned else { return false }
        let key = entry.metadata.key
        if let host, !Self.authority(of: key, withPort: hasPort).elementsEqual(host) { return false }
        return glob?.matches(Array(key.utf8)) ?? true
    }

    private static func authority(of key: String, withPort: Bool) -> Substring.UTF8View {
        let slash = UInt8(ascii: "/")
        let rest = key.utf8.drop { $0 != slash }.dropFirst(2)
        let authority = rest.prefix { $0 != slash && $0 != UInt8(ascii: "?") }
        return withPort ? authority : authority[..<(port(of: authority) ?? authority.endIndex)]
    }

    /// The index of the colon before the port; nil if there is none. An IPv6 address has colons in brackets.
    private static func port<Text: BidirectionalCollection<UInt8>>(of authority: Text) -> Text.Index? {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        else { return nil }
        return colon
    }
}
