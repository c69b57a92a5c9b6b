import HTTPTypes

/// What `Cache-Control` says (RFC 9111 §5.2; RFC 5861; RFC 8246), as far as a private cache obeys it. `s-maxage` and
/// `proxy-revalidate` are for shared caches alone.
struct CacheDirectives: Sendable, Hashable {
    // MARK: Of responses

    /// §5.2.2.5.
    var noStore = false
    /// §5.2.2.4. With field names too: a cache may take that for the whole response.
    var noCache = false
    /// §5.2.2.2.
    var mustRevalidate = false
    /// §5.2.2.3.
    var mustUnderstand = false
    /// §5.2.2.7.
    var isPrivate = false
    /// §5.2.2.9.
    var isPublic = false
    /// RFC 8246 §2.
    var isImmutable = false
    /// §5.2.2.1, in seconds. One that is no number makes the response stale (§4.2.1).
    var maxAge: Int64?
    /// RFC 5861 §3, in seconds.
    var staleWhileRevalidate: Int64?
    /// RFC 5861 §4, in seconds.
    var staleIfError: Int64?

    // MARK: Of requests

    /// §5.2.1.2, in seconds; as long as can be when it names no time.
    var maxStale: Int64?
    /// §5.2.1.3, in seconds.
    var minFresh: Int64?
    /// §5.2.1.7.
    var onlyIfCached = false

    /// A delta-seconds (§1.2.2) beyond this is taken for this.
    static let longest: Int64 = 1 << 31

    init() {}

    init(_ fields: HTTPFields) {
        self.init()
        // A field sent several times is one list (RFC 9110 §5.3).
        for text in fields[values: .cacheControl] { read(text) }
    }

    init(_ text: String) {
        self.init()
        read(text)
    }

    private mutating func read(_ text: String) {
        // Bytes, not characters: a refresh reads some for every entry of the cache.
        var rest = Substring(text).utf8
        while let element = Self.element(&rest) {
            let name = element.name.lowercased()
            switch name {
            case "no-store": noStore = true
            case "no-cache": noCache = true
            case "must-revalidate": mustRevalidate = true
            case "must-understand": mustUnderstand = true
            case "private": isPrivate = true
            case "public": isPublic = true
            case "immutable": isImmutable = true
            case "only-if-cached": onlyIfCached = true
            // Of two that differ the first counts (§4.2.1).
            case "max-age": maxAge = maxAge ?? Self.seconds(element.value) ?? 0
            case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(element.value)
            case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(element.value)
            case "min-fresh": minFresh = minFresh ?? Self.seconds(element.value)
            case "max-stale": maxStale = maxStale ?? (element.value == nil ? .max : Self.seconds(element.value))
            default: break
            }
        }
    }

    /// delta-seconds: digits alone.
    static func seconds(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return min(Int64(text) ?? longest, longest)
    }

    private static func seconds(_ text: String?) -> Int64? { text.flatMap { seconds($0) } }

    /// Takes the next element of a list (RFC 9110 §5.6.1): a token, and perhaps `=` and a token or a quoted string.
    private static func element(_ rest: inout Substring.UTF8View) -> (name: String, value: String?)? {
        rest = rest.drop { $0 == comma || $0 == space || $0 == tab }
        if rest.isEmpty { return nil }
        let name = rest.prefix { $0 != equals && $0 != comma }
        rest = rest[name.endIndex...]
        guard rest.first == equals else { return (trimmed(name), nil) }
        rest.removeFirst()
        // A name with a space before the sign is none that anybody knows.
        guard rest.first == quote else {
            let plain = rest.prefix { $0 != comma }
            rest = rest[plain.endIndex...]
            return (String(Substring(name)), trimmed(plain))
        }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            value.append(byte == backslash ? rest.popFirst() ?? backslash : byte)
        }
        rest = rest.drop { $0 != comma }
        return (String(Substring(name)), String(decoding: value, as: UTF8.self))
    }

    private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))
    private static let (space, tab, backslash) = (UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\\"))

    private static func trimmed(_ bytes: Substring.UTF8View) -> String {
        var bytes = bytes
        while let last = bytes.last, last == space || last == tab { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
