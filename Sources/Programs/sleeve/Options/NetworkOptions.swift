import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

/// Options of commands that send requests.
///
/// Those without a value have the default of `LibraryConfiguration`: each type of a default costs the parser a search.
struct NetworkOptions: ParsableArguments {
    // Unconditional parsing lets `validate` report the range for negative numbers.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum simultaneous transfers, all hosts. Default: 128.", valueName: "n"))
    var parallel: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum simultaneous transfers to one host over HTTP/1.1. Sleeve adapts to the host within this limit. Default: 64.",
            valueName: "n"))
    var perHost: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum requests per second to one host. Default: unlimited.", valueName: "n"))
    var rate: Double?

    @Option(
        help: ArgumentHelp(
            "The User-Agent field of requests. Name a contact that servers can reach: 'Sleeve (+https://example.org/me)'.",
            valueName: "text"))
    var userAgent: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Timeout of one request; each redirect counts as one. A server that sends nothing for 30 s times out earlier. Default: 60.",
            valueName: "seconds"))
    var timeout: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Retries after a temporary failure: timeout, no connection, name not resolved, or status 408, 425, 429, 500, 502, 503, 504. Default: 3.",
            valueName: "n"))
    var retries: Int?

    @Option(help: ArgumentHelp("The largest cover to download. Default: 32M.", valueName: "size"))
    var maxSize: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Maximum size of the cache on disk; stored in the cache. Default: as stored, at first 10G.",
            valueName: "size"))
    var capacity: ByteSize?

    @Option(
        help: ArgumentHelp("Trust these certificate authorities (PEM) instead of the system's.", valueName: "file"),
        completion: .file())
    var cacert: String?

    @Flag(help: "Follow redirects from https to http, which are refused otherwise.")
    var allowDowngrade = false

    @Flag(
        help:
            "Refuse connections to loopback, private, link-local and cloud-metadata addresses, also by redirects: for lists you do not trust."
    )
    var denyPrivate = false

    @Flag(
        help: "Never connect, nor ask a tier; covers that are not cached fail. Refused by refresh, which must connect.")
    var offline = false

    /// The options that were given, for another process.
    var words: [String] {
        func word(_ name: String, _ value: (some CustomStringConvertible)?) -> String? {
            value.map { "--\(name)=\($0)" }
        }
        func word(_ name: String, _ isSet: Bool) -> String? { isSet ? "--\(name)" : nil }
        return [
            word("parallel", parallel), word("per-host", perHost), word("rate", rate), word("user-agent", userAgent),
            word("timeout", timeout), word("retries", retries), word("max-size", maxSize?.bytes),
            word("capacity", capacity?.bytes), word("cacert", cacert), word("allow-downgrade", allowDowngrade),
            word("deny-private", denyPrivate), word("offline", offline),
        ].compactMap(\.self)
    }

    func validate() throws {
        func require(_ isValid: Bool, _ message: String) throws {
            if !isValid { throw ValidationError(message) }
        }
        try require((1...4_096).contains(parallel ?? 1), "--parallel must be between 1 and 4096")
        try require((1...4_096).contains(perHost ?? 1), "--per-host must be between 1 and 4096")
        try require((0.000_1...1e6).contains(rate ?? 1), "--rate must be between 0.0001 and 1000000")
        try require((0.001...86_400).contains(timeout ?? 1), "--timeout must be between 0.001 and 86400 seconds")
        try require((0...100).contains(retries ?? 0), "--retries must be between 0 and 100")
        try require(maxSize.map { $0.bytes > 0 } ?? true, "--max-size must be more than 0")
        if let capacity { try capacity.requireRoom("--capacity") }
        try require(
            userAgent.map(LibraryConfiguration.isUserAgent) ?? true, "--user-agent must be printable ASCII characters")
    }

    /// Applies the options, and prepares the process for transfers.
    /// - Throws: An exit code, after an error message, if the certificate authorities cannot be read.
    func apply(to configuration: inout LibraryConfiguration) throws {
        if let parallel { configuration.parallel = parallel }
        configuration.perHost = min(perHost ?? configuration.perHost, configuration.parallel)
        configuration.rate = rate
        if let userAgent { configuration.userAgent = userAgent }
        if let timeout { configuration.timeout = .milliseconds(Int(timeout * 1_000)) }
        if let retries { configuration.retries = retries }
        if let maxSize { configuration.maximumSize = maxSize.bytes }
        configuration.capacity = capacity?.bytes
        configuration.isOffline = offline
        configuration.allowsDowngrades = allowDowngrade
        configuration.deniesPrivateAddresses = denyPrivate
        if let cacert {
            guard access(cacert, R_OK) == 0 else {
                throw fail("cannot read the certificate authorities in \(cacert): \(SystemError("access").reason)")
            }
            configuration.certificateAuthorities = URL(filePath: cacert)
        }
        ProcessSetup.prepareForTransfers()
    }
}
