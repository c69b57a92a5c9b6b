/// A server's name or address and its port: `127.0.0.1:8080`, `[::1]:8080`.
struct ServerAddress: CustomStringConvertible {
    let host: String
    let port: Int

    /// Returns nil if the text has another form.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        (self.host, self.port) = (String(host), port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
