package import HTTPTypes

/// The directives of `Cache-Control` that a private cache obeys (RFC 9111 section 5.2, RFC 5861, RFC 8246). `s-maxage` and
/// `proxy-revalidate` hold for shared caches only.
package struct CacheDirectives: Sendable, Hashable {
    /// Section 5.2.2.5.
    package var noStore = false
    /// Section 5.2.2.4. A list of field names is ignored: a cache may apply the directive to the whole response.
    package var noCache = false
    /// Section 5.2.2.2.
    package var mustRevalidate = false
    /// Section 5.2.2.3.
    package var mustUnderstand = false
    /// Section 5.2.2.7.
    package var isPrivate = false
    /// Section 5.2.2.9.
    package var isPublic = false
    /// RFC 8246 section 2.
    package var isImmutable = false
    /// Section 5.2.2.1, in seconds. An invalid number makes the response stale (section 4.2.1).
    package var maxAge: Int64?
    /// RFC 5861 section 3, in seconds.
    package var staleWhileRevalidate: Int64?
    /// RFC 5861 section 4, in seconds.
    package var staleIfError: Int64?

    /// Larger numbers of seconds count as this one (section 1.2.2).
    private static let maximumSeconds: Int64 = 1 << 31

    package init() {}

    /// A field that is sent several times is one list (RFC 9110 section 5.3).
    package init(_ fields: HTTPFields) {
        for field in fields where field.name == .cacheControl { field.value.withBytes { read($0) } }
    }

    package init(_ text: String) { text.withBytes { read($0) } }

    /// How long after its freshness the response may be used, in seconds (RFC 5861 sections 3 and 4); nil for no limit.
    var staleLimit: Int64? { staleIfError.map { max($0, staleWhileRevalidate ?? 0) } }

    /// Those that restrict a cache, as a value of `Cache-Control`. Empty without any.
    package var restrictions: String {
        var names: [String] = []
        if noStore { names.append("no-store") }
        if noCache { names.append("no-cache") }
        if mustRevalidate { names.append("must-revalidate") }
        if isPrivate { names.append("private") }
        if let staleLimit { names.append("stale-if-error=\(staleLimit)") }
        return names.joined(separator: ", ")
    }

    private mutating func read(_ text: Bytes) {
        var rest = text
        while let (name, value) = Self.element(&rest) {
            if name.equalsIgnoringCase("no-store") {
                noStore = true
            } else if name.equalsIgnoringCase("no-cache") {
                noCache = true
            } else if name.equalsIgnoringCase("must-revalidate") {
                mustRevalidate = true
            } else if name.equalsIgnoringCase("must-understand") {
                mustUnderstand = true
            } else if name.equalsIgnoringCase("private") {
                isPrivate = true
            } else if name.equalsIgnoringCase("public") {
                isPublic = true
            } else if name.equalsIgnoringCase("immutable") {
                isImmutable = true
            } else if name.equalsIgnoringCase("max-age") {
                // The first of several values counts (section 4.2.1).
                maxAge = maxAge ?? value?.seconds ?? 0
            } else if name.equalsIgnoringCase("stale-while-revalidate") {
                staleWhileRevalidate = staleWhileRevalidate ?? value?.seconds
            } else if name.equalsIgnoringCase("stale-if-error") {
                staleIfError = staleIfError ?? value?.seconds
            }
        }
    }

    /// delta-seconds (section 1.2.2). Nil unless all bytes are digits.
    static func seconds(_ text: Bytes) -> Int64? { Value(bytes: text, isQuoted: false).seconds }

    private struct Value {
        var bytes: Bytes
        /// In a quoted string a backslash escapes the next byte (RFC 9110 section 5.6.4).
        var isQuoted: Bool

        var seconds: Int64? {
            if bytes.isEmpty { return nil }
            var (value, index) = (Int64(0), 0)
            while index < bytes.count {
                if isQuoted, bytes[index] == CacheDirectives.backslash, index + 1 < bytes.count { index += 1 }
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { return nil }
                value = min(value * 10 + Int64(bytes[index] - UInt8(ascii: "0")), CacheDirectives.maximumSeconds)
                index += 1
            }
            return value
        }
    }

    /// Removes the next element of a list (RFC 9110 section 5.6.1): a token, optionally with `=` and a token or a quoted string.
    private static func element(_ rest: inout Bytes) -> (name: Bytes, value: Value?)? {
        guard let start = rest.firstIndex(where: { $0 != comma && !Bytes.isBlank($0) }) else { return nil }
        rest = rest[from: start]
        let end = rest.firstIndex { $0 == equals || $0 == comma } ?? rest.count
        let name = rest[to: end]
        rest = rest[from: end]
        guard rest.first == equals else { return (name.trimmedAtEnd, nil) }
        rest = rest[from: 1]
        // White space before the equals sign stays part of the name: no directive has such a name.
        guard rest.first == quote else {
            return (name, Value(bytes: rest.removePrefix(before: comma).trimmedAtEnd, isQuoted: false))
        }
        rest = rest[from: 1]
        var length = 0
        while length < rest.count, rest[length] != quote { length += rest[length] == backslash ? 2 : 1 }
        let value = rest[to: min(length, rest.count)]
        rest = rest[from: value.count]
        _ = rest.removePrefix(before: comma)
        return (name, Value(bytes: value, isQuoted: true))
    }

    private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))
    private static let backslash = UInt8(ascii: "\\")
}
