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
            "Where covers are kept.",
            discussion: "Default: $SLEEVE_CACHE, else sleeve in $XDG_CACHE_HOME or ~/.cache.", valueName: "dir"))
    var cache: String?

    @Option(
        help: ArgumentHelp(
            "The albums of your library, as JSON.",
            discussion: "Default: $SLEEVE_LIBRARY, else sleeve/albums.json in $XDG_DATA_HOME or ~/.local/share.",
            valueName: "file"))
    var library: String?

    @Flag(help: "Results as JSON on stdout.")
    var json = false

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors are still told.")
    var quiet = false

    @Option(help: ArgumentHelp("How much to tell on stderr.", valueName: "level"))
    var logLevel = LogLevel.notice

    @Option(help: ArgumentHelp("How that is written: text, or json for one object a line.", valueName: "format"))
    var logFormat = LogFormat.text

    func validate() throws {
        if cache?.isEmpty == true { throw ValidationError("--cache needs the name of a directory") }
        if library?.isEmpty == true { throw ValidationError("--library needs the name of a file") }
    }

    func configuration() throws -> LibraryConfiguration {
        if logFormat == .json { Log.useJSON() }
        var configuration = LibraryConfiguration(
            cacheDirectory: try cache ?? Self.place("SLEEVE_CACHE", "XDG_CACHE_HOME", ".cache", "sleeve")
                ?? Self.homeless(),
            // Only a prefetch without a list reads it, and then says that it is missing.
            libraryFile: library
                ?? Self.place("SLEEVE_LIBRARY", "XDG_DATA_HOME", ".local/share", "sleeve/albums.json") ?? "")
        configuration.logger = Logger(label: "sleeve") { _ in ToldLogHandler() }
        configuration.logger.logLevel = quiet ? max(logLevel.level, .warning) : logLevel.level
        return configuration
    }

    /// What an option says, else the environment; nil when neither says anything.
    static func variable(_ name: String, or option: String? = nil) -> String? {
        option ?? getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func place(_ own: String, _ base: String, _ underHome: String, _ name: String) -> String? {
        if let place = variable(own) { return place }
        // The XDG specification has relative paths ignored.
        if let folder = variable(base), folder.hasPrefix("/") { return "\(folder)/\(name)" }
        return variable("HOME").map { "\($0)/\(underHome)/\(name)" }
    }

    static let homelessLibrary = "$HOME is not set; say where the library is with --library"

    private static func homeless() throws -> String { throw fail("$HOME is not set; say where with --cache") }
}

/// Options of the commands that may connect.
struct NetworkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Transfers in flight at the most, all hosts together.", valueName: "n"))
    var parallel = 128

    @Option(
        help: ArgumentHelp(
            "Transfers in flight at the most to one host over HTTP/1.1. Within that Sleeve finds out what the host does best with.",
            valueName: "n"))
    var perHost = 32

    @Flag(help: "Always as many in flight as --per-host and --parallel allow, however the host takes it.")
    var fixed = false

    @Option(help: ArgumentHelp("Requests a second to one host. Default: no limit.", valueName: "n"))
    var rate: Double?

    @Option(help: ArgumentHelp("Requests a second to all hosts together. Default: no limit.", valueName: "n"))
    var totalRate: Double?

    @Flag(help: "Ask every host for its robots.txt first, and fetch nothing that it forbids.")
    var respectRobots = false

    @Option(
        help: ArgumentHelp(
            "Seconds one request may take; each step of a redirect is one. A server that is silent for 30 is not waited for longer.",
            valueName: "seconds"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp(
            "Tries after a failure that may pass: 408, 425, 429, 500, 502, 503, 504, time-outs, names and connections. Default: 3.",
            valueName: "n"))
    var retries: Int?

    @Option(help: ArgumentHelp("The largest cover taken.", valueName: "size"))
    var maxSize = ByteSize(32 << 20)

    @Option(
        help: ArgumentHelp(
            "The most the cache may take of the disk; remembered. Default: 10G at first.", valueName: "size"))
    var capacity: ByteSize?

    @Option(help: ArgumentHelp("Trust these certificate authorities (PEM) instead of the system's.", valueName: "file"))
    var cacert: String?

    @Flag(help: "Follow redirects from https to http; else they are refused.")
    var allowDowngrade = false

    @Flag(
        help:
            "Connect to no loopback, private, link-local or metadata address, redirects included: for lists from elsewhere."
    )
    var denyPrivate = false

    @Flag(help: "Never connect: what is not in the cache fails.")
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

/// Whether what is remembered of servers that have no cover counts.
struct AbsenceOptions: ParsableArguments {
    @Flag(help: "Ask again for what servers have lately said is not there (404, 410).")
    var retryAbsent = false

    /// The failure's message, and what helps where nothing was asked.
    static func advice(_ failure: CoverFailure) -> String {
        failure.message + (failure.rememberedUntil == nil ? "" : " (--retry-absent asks again)")
    }
}

/// Where covers come from that albums name by MusicBrainz ids.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The size of covers from the Cover Art Archive, in pixels: 250, 500, 1200 or full. Default: 500.",
            valueName: "pixels"), transform: Self.coverSize)
    var size: CoverSize?

    @Option(
        help: ArgumentHelp(
            "Another server that answers like the Cover Art Archive. Default: https://coverartarchive.org.",
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

/// How what is told on stderr is written.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

/// The levels of swift-log a person may want.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error
    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}
