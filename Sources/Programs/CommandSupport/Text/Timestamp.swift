import Platform

/// Formats times as RFC 3339 text in UTC.
package enum Timestamp {
    /// - Parameter milliseconds: A time in milliseconds since 1970.
    package static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).ISO8601Format()
    }
}
