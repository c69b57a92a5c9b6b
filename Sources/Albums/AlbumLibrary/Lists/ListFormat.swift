/// The format of a list of covers. All formats stream: they do not need the whole list in memory.
package enum ListFormat: String, CaseIterable, Sendable {
    /// One JSON array (RFC 8259) of albums or URLs.
    case json
    /// JSON lines: an album or a URL on each line.
    case jsonl
    /// Comma, tab or semicolon separated values (RFC 4180) with a header.
    case csv
    /// A URL on each line; blank lines and lines that begin with `#` are ignored.
    case urls
}

/// The limits that bound a reader's memory.
enum ListLimit {
    /// The maximum length of a line, CSV row or JSON element, in bytes. Longer ones are skipped and never held in memory.
    static let element = Album.maximumLength

    /// The length of one read, in bytes.
    static let chunk = 64 << 10
}
