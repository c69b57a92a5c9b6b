import AlbumLibrary
import ArgumentParser
package import OriginServer
import Platform

/// The options of `sleeve origin`, which `sleeve-lab origin` has, too.
package struct OriginArguments: ParsableArguments {
    package init() {}

    @Option(help: ArgumentHelp("The port to listen on; 0 chooses a free one.", valueName: "port"))
    package var port = 8_731

    @Option(help: ArgumentHelp("Delay of every response, in milliseconds.", valueName: "ms"))
    var delay = 0.0

    @Option(help: ArgumentHelp("Bytes per second of each response. Default: unlimited.", valueName: "size"))
    var bandwidth: ByteSize?

    @Option(help: ArgumentHelp("Bytes per second of all responses together. Default: unlimited.", valueName: "size"))
    var totalBandwidth: ByteSize?

    @Option(help: ArgumentHelp("Answer 429 if more than this many requests are in flight.", valueName: "n"))
    var maxInFlight: Int?

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
                origin's port. libcurl resolves every name under hosts.localhost to this machine, and a certificate of this origin covers them.
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

    package func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
        guard delay >= 0, delay <= 3_600_000 else { throw ValidationError("--delay must be between 0 and 3600000 ms") }
        guard maxInFlight ?? 1 > 0 else { throw ValidationError("--max-in-flight must be at least 1") }
        guard faultEvery ?? 1 > 0 else { throw ValidationError("--fault-every must be at least 1") }
        guard urls ?? 0 >= 0, count >= 0 else { throw ValidationError("--urls and --count must not be negative") }
    }

    /// Whether an option is given that changes how an origin answers.
    package var configuresOrigin: Bool {
        archiveHosts || delay > 0
            || [fault, retryAfter, cacheControl, albums].contains { $0 != nil }
            || [maxInFlight, faultEvery, bandwidth?.bytes, totalBandwidth?.bytes].contains { $0 != nil }
    }

    /// Prints the URLs or writes the covers that an option asks for. - Returns: Whether one does.
    package func writeCovers(scheme: String) throws -> Bool {
        if let urls { printURLs(urls, scheme) }
        if let writeTo, urls == nil { try writeCovers(writeTo) }
        return urls != nil || writeTo != nil
    }

    package func options() throws -> OriginOptions {
        var options = OriginOptions()
        options.port = port
        options.archiveHosts = archiveHosts
        options.delay = .microseconds(Int(delay * 1_000))
        options.bytesPerSecond = bandwidth?.bytes
        options.totalBytesPerSecond = totalBandwidth.map { max(1, $0.bytes) }
        options.maximumInFlight = maxInFlight
        options.faultEvery = faultEvery
        options.retryAfter = retryAfter
        if let cacheControl { options.cacheControl = cacheControl }
        do throws(OriginError) {
            if let fault { try options.setFault(fault) }
        } catch {
            throw fail("\(error)")
        }
        return options
    }

    /// Runs an origin until a signal.
    /// - Parameters:
    ///   - options: `options()`, perhaps with a transport.
    ///   - wrap: Puts something before the origin. Returns its URL, and what ends it.
    package func run(
        _ options: OriginOptions,
        wrap: (Origin) async throws -> (url: String, stop: () async -> Void) = { ($0.url, {}) }
    ) async throws {
        do {
            let origin = try await Origin.start(options)
            let (url, stop) = try await wrap(origin)
            if let albums { try AlbumFile.createStarters(albums, origin: url) }
            try await serve(at: url, hint: "serving covers at \(url)/covers/1.jpg; press Ctrl-C to stop") {
                await stop()
                await origin.stop()
            }
        } catch let error as LibraryError {
            throw fail(error.message)
        } catch let error as OriginError {
            throw fail("\(error)")
        }
    }

    private func printURLs(_ count: Int, _ scheme: String) {
        var text = ""
        for number in 0..<count {
            text += "\(scheme)://127.0.0.1:\(port)/covers/\(number).jpg\n"
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
