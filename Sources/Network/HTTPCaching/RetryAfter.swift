package import HTTPTypes

/// `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
    /// In seconds. Longer delays, however far their dates or large their numbers are, count as this.
    private static let maximum: Int64 = 86_400 * 365

    /// The delay a response asks for, from now: 0 s to a year. Of several field lines the longest delay counts. Nil if the field
    /// is missing or invalid.
    ///
    /// A date in it is by the server's clock, which `Date` and `Age` tell: the clocks of the two machines may differ.
    /// - Parameter now: by this machine's clock, for a response without a `Date`. Seconds since 1970.
    package static func delay(_ fields: HTTPFields, now: Int64) -> Duration? {
        let age = fields.text(.age).flatMap { $0.withBytes { CacheDirectives.seconds($0) } } ?? 0
        let now = fields.text(.date).flatMap { HTTPDate.seconds($0, now: now) }.map { $0 + age } ?? now
        return fields[values: .retryAfter].flatMap { value in
            // libcurl's lines arrive joined by commas, which dates contain, too.
            [Substring(value)] + value.split(separator: ",")
        }
        .compactMap { seconds(String($0.drop { $0 == " " }), now) }.max().map { .seconds($0) }
    }

    private static func seconds(_ text: String, _ now: Int64) -> Int64? {
        if let seconds = text.withBytes({ CacheDirectives.seconds($0) }) { return min(seconds, maximum) }
        return HTTPDate.seconds(text, now: now).map { min(max(0, $0 - now), maximum) }
    }
}
