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
        var rest = text[...]
        while let element = Self.element(&rest) {
            let name = element.name.lowercased()
            switch name {
            case "no-store": noStore = true
            case "no-cache": noCache = true
            case "must-revalidate": mustRevalidate = true
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
    private static func element(_ rest: inout Substring) -> (name: String, value: String?)? {
        rest = rest.drop { $0 == "," || $0 == " " || $0 == "\t" }
        if rest.isEmpty { return nil }
        let name = rest.prefix { $0 != "=" && $0 != "," }
        rest = rest[name.endIndex...]
        guard rest.first == "=" else { return (trimmed(name), nil) }
        rest.removeFirst()
        var value = ""
        if rest.first == "\"" {
            rest.removeFirst()
            while let character = rest.popFirst(), character != "\"" {
                value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
            }
            rest = rest.drop { $0 != "," }
        } else {
            let plain = rest.prefix { $0 != "," }
            rest = rest[plain.endIndex...]
            value = trimmed(plain)
        }
        // A name with a space before the sign is none that anybody knows.
        return (String(name), value)
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
