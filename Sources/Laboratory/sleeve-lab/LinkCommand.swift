import ArgumentParser
import CommandSupport
import LinkEmulator

struct LinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Put an emulated link before a server: a delay, a bandwidth and losses.",
        discussion: """
            Prints the address of the link. Requests to it reach the server as those over a real link would; bytes pass untouched, so TLS \
            and HTTP/2 work. Ctrl-C ends the link, which then prints what it has carried as one JSON object.

              sleeve origin &
              sleeve-lab link 127.0.0.1:8731 --link 50ms/200mbit --port 9000 &
              sleeve origin --port 9000 --urls 5000 | sleeve prefetch -

            Each way takes half of the round-trip time, and all connections share the bandwidth, which is that of each direction, without \
            packet headers. A connection costs a round trip, and starts with ten segments in flight and doubles them every round trip (RFC \
            5681, RFC 6928). After a loss it halves them and then adds one a round trip.
            """)

    @Argument(
        help: ArgumentHelp("The server, such as 127.0.0.1:8080.", valueName: "host:port"),
        transform: { text in
            guard let address = ServerAddress(text) else {
                throw ValidationError("“\(text)” is no host and port, such as 127.0.0.1:8080")
            }
            return address
        })
    var server: ServerAddress

    @Option(
        help: ArgumentHelp("The round-trip time and the bandwidth, such as 50ms/200mbit.", valueName: "rtt/bandwidth"),
        transform: { text in
            do throws(LinkError) { return try LinkModel(text) } catch { throw ValidationError("--\(error)") }
        })
    var link: LinkModel

    @Option(help: ArgumentHelp("Lose this share of the segments, such as 1%.", valueName: "percent"))
    var loss: String?

    @Option(help: ArgumentHelp("Seed of the losses: the same seed loses the same segments.", valueName: "n"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("The port to listen on; 0 chooses a free one.", valueName: "port"))
    var port = 0

    private var model: LinkModel {
        get throws {
            var model = link
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
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        _ = try model
    }

    func run() async throws {
        let model = try model
        let relay: LinkRelay
        do throws(LinkError) {
            relay = try await LinkRelay.start(model, on: port, before: server.host, port: server.port)
        } catch {
            throw fail("\(error)")
        }
        try await serve(at: "127.0.0.1:\(relay.port)", hint: "a link leads to \(server); press Ctrl-C to stop") {
            await relay.stop()
            Terminal.standardOutput.write(relay.metrics.json + "\n")
        }
    }
}

/// A server's name or address and its port: `127.0.0.1:8080`, `[::1]:8080`.
struct ServerAddress: CustomStringConvertible {
    let host: String
    let port: Int

    /// Returns nil if the text has another form.
    init?(_ text: String) {
        guard case (let host, let port?)? = hostAndPort(text), port > 0, !host.isEmpty else { return nil }
        (self.host, self.port) = (host, port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
