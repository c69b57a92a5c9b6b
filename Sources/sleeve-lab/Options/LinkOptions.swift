import ArgumentParser
import LinkEmulator

/// The emulated link of `sleeve-lab origin`.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Put a link of this round-trip time and bandwidth before the origin, such as 50ms/200mbit.",
            valueName: "rtt/bandwidth"),
        transform: { text in
            do throws(LinkError) { return try LinkModel(text) } catch { throw ValidationError("--\(error)") }
        })
    var link: LinkModel?

    @Option(help: ArgumentHelp("Lose this share of the link's segments, such as 1%.", valueName: "percent"))
    var loss: String?

    @Option(help: ArgumentHelp("Seed of the losses: the same seed loses the same segments.", valueName: "n"))
    var seed: UInt64?

    @Option(
        help: ArgumentHelp("Put the link before this server instead of an origin.", valueName: "host:port"),
        transform: { text in
            guard let address = ServerAddress(text) else {
                throw ValidationError("--before needs a host and a port, such as 127.0.0.1:8080")
            }
            return address
        })
    var before: ServerAddress?

    /// The link with its losses; nil without `--link`.
    var model: LinkModel? {
        get throws {
            guard var model = link else { return nil }
            do throws(LinkError) {
                if let loss { try model.setLoss(loss) }
            } catch {
                throw ValidationError("--\(error)")
            }
            if let seed { model.seed = seed }
            return model
        }
    }

    func validate() throws {
        guard link != nil || (loss == nil && seed == nil && before == nil) else {
            throw ValidationError("--loss, --seed and --before need --link")
        }
        _ = try model
    }
}

/// A server's name or address and its port: `127.0.0.1:8080`, `[::1]:8080`.
struct ServerAddress: Equatable, CustomStringConvertible {
    let host: String
    let port: Int

    init(host: String, port: Int) { (self.host, self.port) = (host, port) }

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
