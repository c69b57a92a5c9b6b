/// The formats a list of covers may have. Each streams: none needs the whole list in memory.
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON array (RFC 8259) of albums or URLs.
    case json
    /// JSON lines: an album or a URL a line.
    case jsonl
    /// Comma, tab or semicolon separated values (RFC 4180) with a header.
    case csv
    /// A URL a line; blank lines and lines that begin with `#` are comments.
    case urls
}

/// What bounds the memory of a reader.
enum ListLimit {
    /// Bytes a line, a CSV row or a JSON element may have. Anything longer is skipped without being held.
    static let element = 1 << 20

    /// Bytes asked from the file at a time.
    static let chunk = 64 << 10
}
