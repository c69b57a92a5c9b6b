extension String {
    /// The text with its middle left out if it has more than `limit` bytes of UTF-8: for messages, in which a server's text has no length.
    package func shortened(to limit: Int) -> String {
        if utf8.count <= limit { return self }
        let end = limit / 3
        return String(decoding: utf8.prefix(limit - end), as: UTF8.self) + "…"
            + String(decoding: utf8.suffix(end), as: UTF8.self)
    }
}
