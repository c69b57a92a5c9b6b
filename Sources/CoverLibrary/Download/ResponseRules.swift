import CurlHTTP
import HTTPTypes

/// What a response says besides its body, read as RFC 9110 and 9111 want it.
enum ResponseRules {
    /// `Retry-After` (RFC 9110 §10.2.3), as a time from now. - Parameter now: seconds since 1970.
    static func retryAfter(_ fields: HTTPFields, now: Int64) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? nil : .seconds(min(seconds, 86_400 * 365)) }
        return HTTPDate.seconds(text).map { .seconds(max(0, $0 - now)) }
    }

    /// Until when the response is fresh (RFC 9111 §4.2.1): `max-age` less `Age`, else `Expires`; nil when it says nothing.
    /// - Parameter now: milliseconds since 1970.
    static func freshUntil(_ fields: HTTPFields, now: Int64) -> Int64? {
        for directive in (fields[.cacheControl] ?? "").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }).lowercased() == "max-age",
                let seconds = Int64(parts[1].filter { $0 != "\"" && $0 != " " })
            else { continue }
            let age = fields[.age].flatMap { Int64($0) } ?? 0
            return now + (bounded(seconds) - bounded(age)) * 1_000
        }
        // An invalid date means already expired (§5.3).
        return fields[.expires].map { (HTTPDate.seconds($0) ?? 0) * 1_000 }
    }

    /// Seconds between none and ten years: servers send any number.
    private static func bounded(_ seconds: Int64) -> Int64 { min(max(seconds, 0), 86_400 * 3_650) }

    /// The fields an entry keeps, as lines of `name: value`, the values to the byte.
    static func kept(_ fields: HTTPFields) -> String {
        var lines = ""
        for field in fields where field.name != .contentType && field.name != .retryAfter {
            lines += "\(field.name.canonicalName): \(field.value)\n"
        }
        return lines
    }
}
