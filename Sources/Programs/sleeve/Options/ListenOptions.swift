import ArgumentParser

/// Where a server listens.
struct ListenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The port to listen on; 0 chooses a free one. (default: 8730)", valueName: "port"))
    var port: Int?

    @Option(
        help: ArgumentHelp(
            "The address to listen on, or address:port; 0.0.0.0 lets other machines connect. (default: 127.0.0.1)",
            valueName: "address"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "A host name by which clients know this server. Repeat the option for more.", valueName: "name"))
    var serverName: [String] = []

    func validate() throws {
        guard (0...65_535).contains(port ?? 0) else { throw ValidationError("--port must be between 0 and 65535") }
        if let listen, Self.split(listen) == nil { throw ValidationError("--listen needs an address or address:port") }
    }

    /// Sets the host and the port of a server's options where the options name them. `--port` overrides `--listen`.
    func apply(host: inout String, port: inout Int) {
        if let listen, let (address, own) = Self.split(listen) {
            host = address
            if let own { port = own }
        }
        if let own = self.port { port = own }
    }

    /// The address and the port of `0.0.0.0`, `0.0.0.0:80`, `::1`, `[::1]:80` or `nas.local:80`; nil if it is malformed.
    static func split(_ text: String) -> (host: String, port: Int?)? {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<end])
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (host, nil) }
            guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()) else { return nil }
            return (host, Int(port))
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return text.isEmpty ? nil : (text, nil)
        case 2: return UInt16(parts[1]).flatMap { parts[0].isEmpty ? nil : (String(parts[0]), Int($0)) }
        default: return (text, nil)
        }
    }
}
