import ArgumentParser
import CommandSupport
import OriginTLS

/// How `sleeve-lab origin` speaks HTTPS.
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
            "Streams that a client may have open in an HTTP/2 connection. Default: \(OriginTLS.defaultStreams).",
            valueName: "n"))
    var streams: Int?

    func validate() throws {
        guard tls || (certificate == nil && !http1Only && streams == nil) else {
            throw ValidationError("--certificate, --http1-only and --streams need --tls")
        }
        guard (1...Int(Int32.max)).contains(streams ?? 1) else { throw ValidationError("--streams must be at least 1") }
    }

    /// Makes the certificate, and writes it where `--certificate` says. - Returns: Nil without `--tls`.
    func start() throws -> OriginTLS? {
        guard tls else { return nil }
        let tls: OriginTLS
        do throws(OriginTLSError) {
            tls = try OriginTLS(offersHTTP2: !http1Only, maximumStreams: streams ?? OriginTLS.defaultStreams)
        } catch {
            throw fail("\(error)")
        }
        if let certificate { try OutputFile.write(Array(tls.certificate.utf8), to: certificate) }
        return tls
    }
}
