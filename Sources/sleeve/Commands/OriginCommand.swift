import ArgumentParser
import CoverLibrary
import OriginServer
import Platform

struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin", _superCommandName: "sleeve",
        abstract: "Serve generated covers on this machine, with latency and faults on demand.",
        discussion: """
            For demos, tests and benchmarks. Each number is a different cover of 8 to 250 KB, such as \
            http://127.0.0.1:8731/covers/1.jpg. The page at / lists the query parameters: delay, rate, status, fault, redirect \
            and more. Only programs on this machine can connect.

              sleeve origin &
              sleeve origin --urls 5000 | sleeve prefetch -
              sleeve origin --port 0 --delay 50 --fault 503 --fault-every 10

            --tls serves HTTPS, with HTTP/2 and HTTP/1.1 (ALPN) and a new certificate for localhost, 127.0.0.1 and ::1. Over \
            HTTP/2, faults that close or reset the connection reset the stream (RST_STREAM) instead, and chunked=1 only omits \
            the Content-Length.

              sleeve origin --tls --certificate origin.pem &
              sleeve origin --tls --urls 5000 | sleeve prefetch --cacert origin.pem -

            --link puts an emulated link before the origin, with --before before any other server. Each way takes half of the \
            round-trip time, and all connections share the bandwidth, which is that of each direction, without packet headers. \
            A connection costs a round trip, and starts with ten segments in flight and doubles them every round trip (RFC \
            5681, RFC 6928). After a loss it halves them and then adds one a round trip. Bytes pass untouched. When the origin \
            stops, it prints what the link has carried as one JSON object.

              sleeve origin --link 50ms/200mbit
              sleeve origin --link 150ms/50mbit --loss 1% --before 127.0.0.1:8080
            """)

    @Option(help: ArgumentHelp("The port to listen on; 0 chooses a free one.", valueName: "port"))
    var port = 8_731

    @OptionGroup(title: "HTTPS") var https: HTTPSOptions
    @OptionGroup(title: "Link") var link: LinkOptions

    @Option(help: ArgumentHelp("Delay of every response, in milliseconds.", valueName: "ms"))
    var delay = 0.0

    @Option(help: ArgumentHelp("Bytes per second of each response. Default: unlimited.", valueName: "size"))
    var bandwidth: ByteSize?

    @Option(help: ArgumentHelp("Bytes per second of all responses together. Default: unlimited.", valueName: "size"))
    var totalBandwidth: ByteSize?

    @Option(help: ArgumentHelp("Answer 429 if more than this many requests are in flight.", valueName: "n"))
    var mostInFlight: Int?

    @Option(
        help: ArgumentHelp(
            "Answer with this fault: an HTTP status, or \(OriginFault.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "fault"))
    var fault: String?

    @Option(help: ArgumentHelp("Apply the fault to every n-th request only.", valueName: "n"))
    var faultEvery: Int?

    @Option(help: ArgumentHelp("The Retry-After field of error responses: seconds or a date.", valueName: "value"))
    var retryAfter: String?

    @Flag(
        help: ArgumentHelp(
            "Redirect the Cover Art Archive's paths as the archive does.",
            discussion: """
                /release/UUID/front redirects to archive.hosts.localhost, and that to one of 40 storage hosts, all on this \
                origin's port. The certificate covers every name under hosts.localhost, which libcurl resolves to this machine.
                """))
    var archiveHosts = false

    @Option(help: ArgumentHelp("The Cache-Control field of covers.", valueName: "value"))
    var cacheControl: String?

    @Option(
        help: ArgumentHelp(
            "Create a library file of the starter albums, whose covers this origin serves.", valueName: "file")
    )
    var albums: String?

    @Option(help: ArgumentHelp("Print the URLs of this many covers and exit.", valueName: "n"))
    var urls: Int?

    @Option(help: ArgumentHelp("Write covers as files to this folder and exit.", valueName: "dir"))
    var writeTo: String?

    @Option(help: ArgumentHelp("The number of covers that --write-to writes.", valueName: "n"))
    var count = 5_000

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard delay >= 0, delay <= 3_600_000 else { throw ValidationError("--delay must be between 0 and 3600000 ms") }
        guard mostInFlight ?? 1 > 0 else { throw ValidationError("--most-in-flight must be at least 1") }
        guard faultEvery ?? 1 > 0 else { throw ValidationError("--fault-every must be at least 1") }
        guard link.before == nil || !configuresOrigin else {
            throw ValidationError(
                "--before puts the link before another server: only --link, --loss, --seed and --port apply")
        }
        guard urls ?? 0 >= 0, count >= 0 else { throw ValidationError("--urls and --count must not be negative") }
    }

    /// Whether an option is given that only an own origin obeys.
    private var configuresOrigin: Bool {
        https.tls || archiveHosts || delay > 0
            || [fault, retryAfter, cacheControl, albums].contains { $0 != nil }
            || [mostInFlight, faultEvery, bandwidth?.bytes, totalBandwidth?.bytes].contains { $0 != nil }
    }

    func run() async throws {
        if let urls { return printURLs(urls) }
        if let writeTo { return try writeCovers(writeTo) }
        if let server = link.before, let model = try link.model { return try await relay(model, before: server) }
        let origin: Origin
        do {
            origin = try await Origin.start(try originOptions())
            if let certificate = origin.certificate { try https.write(certificate) }
            if let albums { try AlbumFile.createStarters(albums, origin: origin.url) }
        } catch let error as LibraryError {
            throw fail(error.message)
        } catch let error as OriginError {
            throw fail("\(error)")
        }
        try await serve(at: origin.url, hint: "serving covers at \(origin.url)/covers/1.jpg; press Ctrl-C to stop") {
            await origin.stop()
            if let metrics = origin.linkMetrics { Terminal.standardOutput.write(metrics.json + "\n") }
        }
    }

    /// Runs a link before another server.
    private func relay(_ model: LinkModel, before server: ServerAddress) async throws {
        let relay: LinkRelay
        do {
            relay = try await LinkRelay.start(
                model, host: "127.0.0.1", port: port, before: server.host, port: server.port)
        } catch {
            throw fail("\(error)")
        }
        try await serve(
            at: "127.0.0.1:\(relay.port)", hint: "an emulated link leads to \(server); press Ctrl-C to stop"
        ) {
            await relay.stop()
            Terminal.standardOutput.write(relay.metrics.json + "\n")
        }
    }

    private func originOptions() throws -> OriginOptions {
        var options = OriginOptions()
        options.port = port
        options.archiveHosts = archiveHosts
        options.tls = https.options
        options.link = try link.model
        options.delay = .microseconds(Int(delay * 1_000))
        options.bytesPerSecond = bandwidth?.bytes
        options.totalBytesPerSecond = totalBandwidth.map { max(1, $0.bytes) }
        options.maximumInFlight = mostInFlight
        options.faultEvery = faultEvery
        options.retryAfter = retryAfter
        if let cacheControl { options.cacheControl = cacheControl }
        if let fault { try options.setFault(fault) }
        return options
    }

    private func printURLs(_ count: Int) {
        var text = ""
        for number in 0..<count {
            text += "\(https.tls ? "https" : "http")://127.0.0.1:\(port)/covers/\(number).jpg\n"
            if text.utf8.count > 64 << 10 {
                guard Terminal.standardOutput.write(text) else { return }
                text = ""
            }
        }
        Terminal.standardOutput.write(text)
    }

    private func writeCovers(_ folder: String) throws {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
            throw fail("cannot \(SystemError("create", path: folder))")
        }
        for number in 0..<count {
            let path = "\(folder)/\(number).jpg"
            let descriptor = try OutputFile.create(path)
            defer { close(descriptor) }
            guard Terminal(descriptor: descriptor).write(CoverImage.jpeg(number: number)) else {
                throw fail("cannot \(SystemError("write", path: path))")
            }
        }
    }
}
