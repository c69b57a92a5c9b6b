import ArgumentParser
import OriginServer
import Platform

/// How `sleeve origin` speaks HTTPS.
struct HTTPSOptions: ParsableArguments {
    @Flag(help: "Serve HTTPS, with HTTP/2 and HTTP/1.1, instead of HTTP.")
    var tls = false

    @Option(
        help: ArgumentHelp(
            "Write the certificate (PEM) to this file, which --cacert of prefetch and of curl takes.", valueName: "file"
        ))
    var certificate: String?

    @Flag(help: "Offer HTTP/1.1 only.")
    var http1Only = false

    @Option(
        help: ArgumentHelp(
            "Streams that a client may have open in an HTTP/2 connection. Default: \(OriginTLS().maximumStreams).",
            valueName: "n"))
    var streams: Int?

    /// Nil without `--tls`.
    var options: OriginTLS? {
        guard tls else { return nil }
        var options = OriginTLS()
        options.offersHTTP2 = !http1Only
        if let streams { options.maximumStreams = streams }
        return options
    }

    func validate() throws {
        guard tls || (certificate == nil && !http1Only && streams == nil) else {
            throw ValidationError("--certificate, --http1-only and --streams need --tls")
        }
        guard (1...Int(Int32.max)).contains(streams ?? 1) else { throw ValidationError("--streams must be at least 1") }
    }

    /// Writes the certificate where `--certificate` says.
    func write(_ pem: String) throws {
        guard let certificate else { return }
        let descriptor = try OutputFile.create(certificate)
        defer { close(descriptor) }
        guard Terminal(descriptor: descriptor).write(pem) else {
            throw fail("cannot \(SystemError("write", path: certificate))")
        }
    }
}
