import ArgumentParser
import CoverLibrary
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Options of every command that opens the library.
struct LibraryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The cache directory.",
            discussion: "Default: $SLEEVE_CACHE, else sleeve in $XDG_CACHE_HOME or ~/.cache.", valueName: "dir"))
    var cache: String?

    @Option(
        help: ArgumentHelp(
            "The library file: your albums as JSON.",
            discussion: "Default: $SLEEVE_LIBRARY, else sleeve/albums.json in $XDG_DATA_HOME or ~/.local/share.",
            valueName: "file"))
    var library: String?

    @Flag(help: "Write results as JSON to stdout.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print no progress and no summary, only warnings and errors.")
    var quiet = false

    @Option(help: ArgumentHelp("The least severe messages to print on stderr.", valueName: "level"))
    var logLevel = LogLevel.notice

    @Option(
        help: ArgumentHelp("The format of these messages: text, or json (one object per line).", valueName: "format"))
    var logFormat = LogFormat.text

    func validate() throws {
        if cache?.isEmpty == true { throw ValidationError("--cache needs a directory") }
        if library?.isEmpty == true { throw ValidationError("--library needs a file") }
    }

    func configuration() throws -> LibraryConfiguration {
        if logFormat == .json { Log.useJSON() }
        var configuration = LibraryConfiguration(
            cacheDirectory: try cache ?? Self.place("SLEEVE_CACHE", "XDG_CACHE_HOME", ".cache", "sleeve")
                ?? Self.homeless(),
            // Commands that need the library file report a missing name themselves.
            libraryFile: library
                ?? Self.place("SLEEVE_LIBRARY", "XDG_DATA_HOME", ".local/share", "sleeve/albums.json") ?? "")
        configuration.logger = Logger(label: "sleeve") { _ in ToldLogHandler() }
        configuration.logger.logLevel = quiet ? max(logLevel.level, .warning) : logLevel.level
        return configuration
    }

    /// The value of an option, else of an environment variable; nil if neither is set.
    static func variable(_ name: String, or option: String? = nil) -> String? {
        option ?? getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func place(_ own: String, _ base: String, _ underHome: String, _ name: String) -> String? {
        if let place = variable(own) { return place }
        // The XDG specification requires ignoring relative paths.
        if let folder = variable(base), folder.hasPrefix("/") { return "\(folder)/\(name)" }
        return variable("HOME").map { "\($0)/\(underHome)/\(name)" }
    }

    static let homelessLibrary = "$HOME is not set; name the library file with --library"

    private static func homeless() throws -> String {
        throw fail("$HOME is not set; name the cache directory with --cache")
    }
}

/// Options of commands that send requests.
struct NetworkOptions: ParsableArguments {
    // Unconditional, so that a number below 0 is told its range.
    @Option(parsing: .unconditional, help: ArgumentHelp("Maximum simultaneous transfers, all hosts.", valueName: "n"))
    var parallel = 128

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Maximum simultaneous transfers to one host over HTTP/1.1. Sleeve adapts to the host within this limit.",
            valueName: "n"))
    var perHost = 32

    @Flag(help: "Disable adaptive concurrency: always use --per-host and --parallel.")
    var fixed = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum requests per second to one host. Default: unlimited.", valueName: "n"))
    var rate: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Maximum requests per second, all hosts. Default: unlimited.", valueName: "n"))
    var totalRate: Double?

    @Flag(help: "Request each host's robots.txt first and obey it.")
    var respectRobots = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Timeout of one request; each redirect is a request of its own. A server that sends nothing for 30 s times out earlier.",
            valueName: "seconds"))
    var timeout = 60.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Retries after a temporary failure: timeout, no connection, name not resolved, or status 408, 425, 429, 500, 502, 503, 504. Default: 3.",
            valueName: "n"))
    var retries: Int?

    @Option(help: ArgumentHelp("The largest cover to download.", valueName: "size"))
    var maxSize = ByteSize(32 << 20)

    @Option(
        help: ArgumentHelp(
            "Maximum size of the cache on disk; stored in the cache. Default: as stored, at first 10G.",
            valueName: "size"))
    var capacity: ByteSize?

    @Option(help: ArgumentHelp("Trust these certificate authorities (PEM) instead of the system's.", valueName: "file"))
    var cacert: String?

    @Flag(help: "Follow redirects from https to http, which are refused otherwise.")
    var allowDowngrade = false

    @Flag(
        help:
            "Refuse connections to loopback, private, link-local and cloud-metadata addresses, also by redirects: for lists you do not trust."
    )
    var denyPrivate = false

    @Flag(help: "Never connect; covers that are not cached fail.")
    var offline = false

    func validate() throws {
        guard (1...4_096).contains(parallel) else { throw ValidationError("--parallel must be between 1 and 4096") }
        guard (1...4_096).contains(perHost) else { throw ValidationError("--per-host must be between 1 and 4096") }
        for (rate, name) in [(rate, "--rate"), (totalRate, "--total-rate")] {
            guard rate.map({ (0.000_1...1e6).contains($0) }) ?? true else {
                throw ValidationError("\(name) must be between 0.0001 and 1000000")
            }
        }
        guard (0.001...86_400).contains(timeout) else {
            throw ValidationError("--timeout must be between 0.001 and 86400 seconds")
        }
        guard (0...100).contains(retries ?? 0) else { throw ValidationError("--retries must be between 0 and 100") }
        guard maxSize.bytes > 0 else { throw ValidationError("--max-size must be more than 0") }
        guard capacity.map({ $0.bytes > 0 }) ?? true else { throw ValidationError("--capacity must be more than 0") }
    }

    func apply(to configuration: inout LibraryConfiguration) throws {
        configuration.parallel = parallel
        configuration.perHost = min(perHost, parallel)
        configuration.adapts = !fixed
        configuration.rate = rate
        configuration.respectsRobots = respectRobots
        configuration.totalRate = totalRate
        configuration.timeout = .milliseconds(Int(timeout * 1_000))
        if let retries { configuration.retries = retries }
        configuration.maximumSize = maxSize.bytes
        configuration.capacity = capacity?.bytes
        configuration.isOffline = offline
        configuration.allowsDowngrades = allowDowngrade
        configuration.deniesPrivateAddresses = denyPrivate
        if let cacert {
            guard access(cacert, R_OK) == 0 else {
                throw fail("cannot read the certificate authorities in \(cacert): \(String(cString: strerror(errno)))")
            }
            configuration.certificateAuthorities = cacert
        }
    }
}

/// Whether remembered 404 and 410 responses count.
struct AbsenceOptions: ParsableArguments {
    @Flag(help: "Ask servers again that recently answered 404 or 410.")
    var retryAbsent = false

    /// The failure's message, with a hint if no request was sent.
    static func advice(_ failure: CoverFailure) -> String {
        failure.message + (failure.rememberedUntil == nil ? "" : " (--retry-absent asks again)")
    }
}

/// Options for albums that locate their cover by a MusicBrainz id.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Size of covers from the Cover Art Archive, in pixels: 250, 500, 1200 or full. Default: 500.",
            valueName: "pixels"), transform: Self.coverSize)
    var size: CoverSize?

    @Option(
        help: ArgumentHelp(
            "Use this server with the Cover Art Archive's API. Default: https://coverartarchive.org.",
            valueName: "url"))
    var coverArtArchive: String?

    func apply(to configuration: inout LibraryConfiguration) {
        if let size { configuration.coverSize = size }
        if let coverArtArchive { configuration.coverArtArchive = coverArtArchive }
    }

    private static func coverSize(_ text: String) throws -> CoverSize {
        guard let size = CoverSize(rawValue: text) else {
            throw ValidationError("--size must be one of \(CoverSize.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return size
    }
}

/// The format of messages on stderr.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

/// The log levels of swift-log that an option can set.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error
    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}
