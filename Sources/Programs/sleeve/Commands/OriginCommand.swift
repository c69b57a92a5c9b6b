import AlbumLibrary
import ArgumentParser
import CommandSupport
import OriginServer
import Platform

struct OriginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "origin", _superCommandName: "sleeve",
        abstract: "Serve generated covers here, with delays and faults.",
        discussion: """
              sleeve origin &
              sleeve origin --urls 5000 | sleeve prefetch -
              sleeve origin --port 0 --delay 50 --fault 503 --fault-every 10

            For demos, tests and benchmarks. Each number is a different cover of 8 to 250 KB, such as \
            http://127.0.0.1:8731/covers/1.jpg. The page at / lists the query parameters: delay, rate, status, fault, redirect \
            and more. Only programs on this machine can connect.
            """)

    @Option(help: ArgumentHelp("The port to listen on; 0 chooses a free one.", valueName: "port"))
    var port = 8_731

    @OptionGroup(title: "Delays and faults") var faults: Faults

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

    struct Faults: ParsableArguments {
        @Option(help: ArgumentHelp("Delay of every response, in milliseconds.", valueName: "ms"))
        var delay = 0.0

        @Option(
            help: ArgumentHelp("Bytes per second of all responses together. (default: no limit)", valueName: "size"))
        var totalBandwidth: ByteSize?

        @Option(help: ArgumentHelp("Answer 429 if more than this many requests are in flight.", valueName: "n"))
        var maxInFlight: Int?

        @Option(
            help: ArgumentHelp(
                "Answer with this fault: an HTTP status, or \(OriginFault.names).",
                valueName: "fault"))
        var fault: String?

        @Option(help: ArgumentHelp("Apply the fault to every n-th request only.", valueName: "n"))
        var faultEvery: Int?

        func validate() throws {
            guard (0...3_600_000).contains(delay) else {
                throw ValidationError("--delay must be between 0 and 3600000 ms")
            }
            guard maxInFlight ?? 1 > 0 else { throw ValidationError("--max-in-flight must be at least 1") }
            guard faultEvery ?? 1 > 0 else { throw ValidationError("--fault-every must be at least 1") }
        }
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard urls ?? 0 >= 0, count >= 0 else { throw ValidationError("--urls and --count must not be negative") }
    }

    func run() async throws {
        if let urls { return printURLs(urls) }
        if let writeTo { return try writeCovers(writeTo) }
        let origin = try await Origin.start(try options)
        if let albums { try AlbumFile.createStarters(albums, origin: origin.url) }
        try await serve(at: origin.url, hint: "serving covers at \(origin.coverURL(1)); press Ctrl-C to stop") {
            await origin.stop()
        }
    }

    private var options: OriginOptions {
        get throws(OriginError) {
            var options = OriginOptions()
            options.port = port
            options.delay = .microseconds(Int(faults.delay * 1_000))
            options.totalBytesPerSecond = faults.totalBandwidth.map { max(1, $0.bytes) }
            options.maximumInFlight = faults.maxInFlight
            options.faultEvery = faults.faultEvery
            if let fault = faults.fault { try options.setFault(fault) }
            return options
        }
    }

    private func printURLs(_ count: Int) {
        var text = ""
        for number in 0..<count {
            text += "http://127.0.0.1:\(port)/covers/\(number).jpg\n"
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
        // A folder with the files of a person gets no covers.
        for number in 0..<count { try OutputFile.check(path(of: number, in: folder), ifOwn: isCover(number)) }
        for number in 0..<count {
            let path = path(of: number, in: folder)
            let descriptor = try OutputFile.create(path, ifOwn: isCover(number))
            defer { close(descriptor) }
            guard Terminal(descriptor: descriptor).write(CoverImage.jpeg(number: number)) else {
                throw fail("cannot \(SystemError("write", path: path))")
            }
        }
    }

    private func path(of number: Int, in folder: String) -> String { "\(folder)/\(number).jpg" }

    /// Whether a file begins as the cover does, which may be all that was written of it.
    private func isCover(_ number: Int) -> ([UInt8]) -> Bool { { CoverImage.jpeg(number: number).starts(with: $0) } }
}
