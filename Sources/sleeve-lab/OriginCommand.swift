import ArgumentParser
import CommandSupport
import LinkEmulator
import OriginServer

struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin",
        abstract: "Serve generated covers as `sleeve origin` does, also over HTTPS and behind an emulated link.",
        discussion: """
            --tls serves HTTPS, with HTTP/2 and HTTP/1.1 (ALPN) and a new certificate for localhost, 127.0.0.1 and ::1. Over \
            HTTP/2, faults that close or reset the connection reset the stream (RST_STREAM) instead, and chunked=1 only omits \
            the Content-Length.

              sleeve-lab origin --tls --certificate origin.pem &
              sleeve-lab origin --tls --urls 5000 | sleeve prefetch --cacert origin.pem -

            --link puts an emulated link before the origin, with --before before any other server. Each way takes half of the \
            round-trip time, and all connections share the bandwidth, which is that of each direction, without packet headers. \
            A connection costs a round trip, and starts with ten segments in flight and doubles them every round trip (RFC \
            5681, RFC 6928). After a loss it halves them and then adds one a round trip. Bytes pass untouched. When the origin \
            stops, it prints what the link has carried as one JSON object.

              sleeve-lab origin --link 50ms/200mbit
              sleeve-lab origin --link 150ms/50mbit --loss 1% --before 127.0.0.1:8080
            """)

    @OptionGroup(title: "HTTPS") var https: HTTPSOptions
    @OptionGroup(title: "Link") var link: LinkOptions
    @OptionGroup var origin: OriginArguments

    func validate() throws {
        guard link.before == nil || !(https.tls || origin.configuresOrigin) else {
            throw ValidationError(
                "--before puts the link before another server: only --link, --loss, --seed and --port apply")
        }
    }

    func run() async throws {
        if try origin.writeCovers(scheme: https.tls ? "https" : "http") { return }
        let model = try link.model
        if let server = link.before, let model { return try await run(model, before: server) }
        var options = try origin.options()
        options.transport = try https.start()
        guard let model else { return try await origin.run(options) }
        // The link has the origin's port.
        options.port = 0
        try await origin.run(options) { origin in
            let relay = try await start(model, before: ServerAddress(host: "127.0.0.1", port: origin.port))
            return ("\(https.tls ? "https" : "http")://127.0.0.1:\(relay.port)", { await stop(relay) })
        }
    }

    /// Runs a link before another server.
    private func run(_ model: LinkModel, before server: ServerAddress) async throws {
        let relay = try await start(model, before: server)
        try await serve(
            at: "127.0.0.1:\(relay.port)", hint: "an emulated link leads to \(server); press Ctrl-C to stop"
        ) {
            await stop(relay)
        }
    }

    private func start(_ model: LinkModel, before server: ServerAddress) async throws -> LinkRelay {
        do throws(LinkError) {
            return try await LinkRelay.start(model, on: origin.port, before: server.host, port: server.port)
        } catch {
            throw fail("\(error)")
        }
    }

    private func stop(_ relay: LinkRelay) async {
        await relay.stop()
        Terminal.standardOutput.write(relay.metrics.json + "\n")
    }
}
