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

/// A shell pattern: `*` stands for any text, `?` for any byte. Matching takes at most the product of both lengths.
struct Glob: Sendable {
    private let pattern: [UInt8]

    init(_ pattern: String) { self.pattern = Array(pattern.utf8) }

    func matches(_ text: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // Where the last star stands, and where the text that it matches ends.
        var star: (wanted: Int, end: Int)?
        while true {
            if wanted == pattern.count, position == text.count { return true }
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                wanted += 1
                star = (wanted, position)
            } else if wanted < pattern.count, position < text.count,
                pattern[wanted] == text[position] || pattern[wanted] == UInt8(ascii: "?")
            {
                position += 1
                wanted += 1
            } else if let last = star, last.end < text.count {
                star = (last.wanted, last.end + 1)
                (wanted, position) = (last.wanted, last.end + 1)
            } else {
                return false
            }
        }
    }
}
