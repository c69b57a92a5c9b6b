package import HTTPTypes

/// What `Cache-Control` says (RFC 9111 §5.2; RFC 5861; RFC 8246), as far as a private cache obeys it. `s-maxage` and
/// `proxy-revalidate` are for shared caches alone.
package struct CacheDirectives: Sendable, Hashable {
    // MARK: Of responses

    /// §5.2.2.5.
    package var noStore = false
    /// §5.2.2.4. With field names too: a cache may take that for the whole response.
    package var noCache = false
    /// §5.2.2.2.
    package var mustRevalidate = false
    /// §5.2.2.3.
    package var mustUnderstand = false
    /// §5.2.2.7.
    package var isPrivate = false
    /// §5.2.2.9.
    package var isPublic = false
    /// RFC 8246 §2.
    package var isImmutable = false
    /// §5.2.2.1, in seconds. One that is no number makes the response stale (§4.2.1).
    package var maxAge: Int64?
    /// RFC 5861 §3, in seconds.
    package var staleWhileRevalidate: Int64?
    /// RFC 5861 §4, in seconds.
    package var staleIfError: Int64?

    // MARK: Of requests

    /// §5.2.1.2, in seconds; as long as can be when it names no time.
    package var maxStale: Int64?
    /// §5.2.1.3, in seconds.
    package var minFresh: Int64?
    /// §5.2.1.7.
    package var onlyIfCached = false

    /// A delta-seconds (§1.2.2) beyond this is taken for this.
    package static let longest: Int64 = 1 << 31

    package init() {}

    package init(_ fields: HTTPFields) {
        self.init()
        // A field sent several times is one list (RFC 9110 §5.3).
        for field in fields where field.name == .cacheControl { field.value.withBytes { read($0) } }
    }

    package init(_ text: String) {
        self.init()
        text.withBytes { read($0) }
    }

    /// Takes one line of the field.
    package mutating func read(_ text: Bytes) {
        var rest = text
        while let (name, value) = Self.element(&rest) {
            if name.isInAnyCase("no-store") {
                noStore = true
            } else if name.isInAnyCase("no-cache") {
                noCache = true
            } else if name.isInAnyCase("must-revalidate") {
                mustRevalidate = true
            } else if name.isInAnyCase("must-understand") {
                mustUnderstand = true
            } else if name.isInAnyCase("private") {
                isPrivate = true
            } else if name.isInAnyCase("public") {
                isPublic = true
            } else if name.isInAnyCase("immutable") {
                isImmutable = true
            } else if name.isInAnyCase("only-if-cached") {
                onlyIfCached = true
            } else if name.isInAnyCase("max-age") {
                // Of two that differ the first counts (§4.2.1).
                maxAge = maxAge ?? value?.seconds ?? 0
            } else if name.isInAnyCase("stale-while-revalidate") {
                staleWhileRevalidate = staleWhileRevalidate ?? value?.seconds
            } else if name.isInAnyCase("stale-if-error") {
                staleIfError = staleIfError ?? value?.seconds
            } else if name.isInAnyCase("min-fresh") {
                minFresh = minFresh ?? value?.seconds
            } else if name.isInAnyCase("max-stale") {
                maxStale = maxStale ?? (value == nil ? .max : value?.seconds)
            }
        }
    }

    /// delta-seconds: digits alone.
    package static func seconds(_ text: Bytes) -> Int64? { Value(bytes: text, isQuoted: false).seconds }

    private struct Value {
        var bytes: Bytes
        /// A backslash is not itself, but has the next byte be (RFC 9110 §5.6.4).
        var isQuoted: Bool

        /// Nil unless it is digits alone.
        var seconds: Int64? {
            if bytes.isEmpty { return nil }
            var (value, place) = (Int64(0), 0)
            while place < bytes.count {
                if isQuoted, bytes[place] == CacheDirectives.backslash, place + 1 < bytes.count { place += 1 }
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) else { return nil }
                value = min(value * 10 + Int64(bytes[place] - UInt8(ascii: "0")), CacheDirectives.longest)
                place += 1
            }
            return value
        }
    }

    /// Takes the next element of a list (RFC 9110 §5.6.1): a token, and perhaps `=` and a token or a quoted string.
    private static func element(_ rest: inout Bytes) -> (name: Bytes, value: Value?)? {
        guard let start = rest.firstIndex(where: { $0 != comma && !Bytes.isBlank($0) }) else { return nil }
        rest = rest[from: start]
        let end = rest.firstIndex { $0 == equals || $0 == comma } ?? rest.count
        let name = rest[to: end]
        rest = rest[from: end]
        guard rest.first == equals else { return (name.trimmedAtEnd, nil) }
        rest = rest[from: 1]
        // A name with a space before the sign is none that anybody knows.
        guard rest.first == quote else {
            return (name, Value(bytes: rest.take(before: comma).trimmedAtEnd, isQuoted: false))
        }
        rest = rest[from: 1]
        var length = 0
        while length < rest.count, rest[length] != quote { length += rest[length] == backslash ? 2 : 1 }
        let value = rest[to: min(length, rest.count)]
        rest = rest[from: value.count]
        _ = rest.take(before: comma)
        return (name, Value(bytes: value, isQuoted: true))
    }

    private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))
    private static let backslash = UInt8(ascii: "\\")
}
