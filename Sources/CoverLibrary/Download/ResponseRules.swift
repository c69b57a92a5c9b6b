import CurlHTTP
import HTTPTypes

/// What a response asks of its client.
enum ResponseRules {
    /// `Retry-After` (RFC 9110 §10.2.3), as a time from now. - Parameter now: seconds since 1970.
    static func retryAfter(_ fields: HTTPFields, now: Int64) -> Duration? {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = Int64(text) { return seconds < 0 ? nil : .seconds(min(seconds, 86_400 * 365)) }
        return HTTPDate.seconds(text, now: now).map { .seconds(max(0, $0 - now)) }
    }
}
