import ArgumentParser
import CommandSupport
import CoverLibrary
import Logging
import MusicFolder
import Platform

/// Options of every command that opens the library.
struct LibraryOptions: ParsableArguments {
    @OptionGroup(title: "Cache and library") var places: Places
    @OptionGroup(title: "Output") var output: Output

    struct Places: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "The cache directory. (default: $SLEEVE_CACHE, else ~/.cache/sleeve)", valueName: "dir"),
            completion: .directory)
        var cache: String?

        @Option(
            help: ArgumentHelp(
                "Your albums, a JSON file. (default: $SLEEVE_LIBRARY, else ~/.local/share/sleeve/albums.json)",
                valueName: "file"),
            completion: .file(extensions: ["json"]))
        var library: String?

        func validate() throws {
            if cache?.isEmpty == true { throw ValidationError("--cache needs a directory") }
            if library?.isEmpty == true { throw ValidationError("--library needs a file") }
        }
    }

    struct Output: ParsableArguments {
        @Flag(
            name: [.long, .customLong("jsonl")], help: "Write results as JSON, each object on one line.")
        var json = false

        @Flag(name: .shortAndLong, help: "Print only warnings and errors.")
        var quiet = false

        @Option(
            help: ArgumentHelp(
                "Print messages of this level and above on stderr. (default: notice)", valueName: "level",
                visibility: .hidden))
        var logLevel: LogLevel?

        @Option(
            help: ArgumentHelp(
                "The format of these messages; json is one object on each line. (default: text)",
                valueName: "format", visibility: .hidden))
        var logFormat: LogFormat?

        /// Sets the level and the format of messages.
        func apply() {
            if logFormat == .json { Log.useJSON() }
            if let logLevel { Log.drop(below: logLevel.level) }
        }
    }

    var json: Bool { output.json }
    var quiet: Bool { output.quiet }

    /// Prints a command's result: as JSON with `--json`, else as text unless `--quiet`.
    /// - Throws: An exit code, after an error message.
    func printResult(_ result: some Encodable, text: @autoclosure () -> String) throws {
        if json { try printJSON(result) } else if !quiet { try CommandSupport.printResult(text()) }
    }

    /// - Throws: An exit code, after an error message, if the cache directory is unknown.
    func configuration() throws -> LibraryConfiguration {
        output.apply()
        guard let cache = places.cache ?? Environment.cacheDirectory else {
            throw fail("$HOME is not set; name the cache directory with --cache")
        }
        // Commands that need the library file report a missing name themselves.
        let library = places.library ?? Environment.libraryFile
        var configuration = LibraryConfiguration(
            cacheDirectory: URL(filePath: cache), libraryFile: library.map { URL(filePath: $0) })
        configuration.logger = Logger(label: "sleeve") { _ in StderrLogHandler() }
        let level = (output.logLevel ?? .notice).level
        configuration.logger.logLevel = quiet ? max(level, .warning) : level
        configuration.writtenCovers = { [path = configuration.libraryPath] in
            let files = $0.isEmpty ? nil : try? MusicState.existing(of: path)?.writtenFiles(of: $0)
            return files?.mapValues(\.bytes) ?? [:]
        }
        return configuration
    }
}

extension LibraryConfiguration {
    /// The path of the cache directory, as given.
    var cachePath: String { cacheDirectory.relativePath }

    /// The path of the library file, as given; empty if there is none.
    var libraryPath: String { libraryFile?.relativePath ?? "" }

    /// Checks a file that a person names for writing: none that the command reads, and none of Sleeve's own.
    /// - Parameters:
    ///   - name: The option or the argument.
    ///   - inputs: The files that are read; - for stdin.
    /// - Throws: An exit code, after an error message.
    func check(output: String?, _ name: String, reading inputs: [String] = []) throws {
        guard let output, output != "-" else { return }
        for input in inputs + [libraryPath] where input != "-" && OutputFile.isSame(output, input) {
            throw fail("\(name) would overwrite \(input); choose another file")
        }
        if let cache = CacheDirectory.containing(output) {
            throw fail("\(name): \(output) is in \(cache), which is a cache of Sleeve's; choose another file")
        }
        let history = libraryPath.isEmpty ? [] : [AlbumStore.stateDirectory(of: libraryPath)]
        for place in [cachePath] + history where OutputFile.isInside(output, place) {
            throw fail("\(name): \(output) is in \(place), where Sleeve's own files are; choose another file")
        }
    }

    /// - Throws: An exit code, after an error message, if no option or variable names the library file.
    func requireLibraryFile() throws {
        if libraryFile == nil { throw fail("$HOME is not set; name the library file with --library") }
    }

    /// - Throws: An exit code, after an error message, if there is no library file. Reading its albums would create it.
    func requireExistingLibraryFile() throws {
        if FileManager.default.fileExists(atPath: libraryPath) { return }
        throw fail(
            "no library file at \(libraryPath): name it with --library or $SLEEVE_LIBRARY; `sleeve serve` and `sleeve album add` create one"
        )
    }

    /// The same with the certificate authorities that variables name for curl, unless an option has named some. A file that cannot be read
    /// matters only to what needs it.
    fileprivate var withAuthoritiesOfEnvironment: LibraryConfiguration {
        if certificateAuthorities != nil { return self }
        var configuration = self
        configuration.requiresAuthorities = false
        if let bundle = Environment.value("CURL_CA_BUNDLE") {
            configuration.certificateAuthorities = URL(filePath: bundle)
            return configuration
        }
        configuration.certificateAuthorities = Environment.value("SSL_CERT_FILE").map { URL(filePath: $0) }
        // OpenSSL takes several.
        let folders = Environment.value("SSL_CERT_DIR")?.split(separator: ":").map { URL(filePath: String($0)).path }
        configuration.certificateDirectory = folders.map { URL(filePath: $0.joined(separator: ":")) }
        return configuration
    }
}

/// Opens the library.
/// - Parameter createsCache: Create a missing cache. Otherwise a missing cache is an error: most likely the path is wrong.
/// - Throws: An exit code, after an error message.
func openLibrary(_ configuration: LibraryConfiguration, createsCache: Bool = true) async throws -> LibraryAPI {
    if !createsCache, !LibraryAPI.hasCache(at: configuration.cacheDirectory) {
        throw fail(
            "no cache at \(configuration.cachePath): name it with --cache or $SLEEVE_CACHE; `sleeve prefetch` creates one"
        )
    }
    if !createsCache { try requirePermission(configuration.cachePath) }
    return try await LibraryAPI(configuration: configuration.withAuthoritiesOfEnvironment)
}

/// Checks that an existing cache may be used by this user. Opening it would create what is missing.
/// - Throws: An exit code, after an error message.
private func requirePermission(_ cache: String) throws {
    for path in [cache, cache + "/index.sqlite3", cache + "/covers"] {
        guard access(path, R_OK | W_OK) != 0, errno == EACCES || errno == EPERM else { continue }
        let reason = SystemError("access").reason
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let owner = attributes?[.ownerAccountName] as? String
        let advice =
            attributes?[.ownerAccountID] as? UInt == UInt(geteuid())
            ? "it is yours: `chmod -R u+rwX \(cache)` gives the permission"
            : owner.map { "it belongs to \($0): run the command as \($0)" } ?? "run the command as its owner"
        throw fail("cannot read \(path): \(reason); reading a cache needs write permission, too; \(advice)")
    }
}

/// Opens the library for `body` and closes it.
/// - Throws: An exit code, after an error message.
func withLibrary(
    _ configuration: LibraryConfiguration, createsCache: Bool = true,
    _ body: (LibraryAPI) async throws -> Void
) async throws {
    let library = try await openLibrary(configuration, createsCache: createsCache)
    try await library.closingOnError { try await body(library) }
    await library.close()
}

/// Opens the library for `body`, which needs the library file, and closes it.
/// - Throws: An exit code, after an error message.
func withAlbums(_ configuration: LibraryConfiguration, _ body: (LibraryAPI) async throws -> Void) async throws {
    try configuration.requireLibraryFile()
    try await withLibrary(configuration, body)
}

extension LibraryAPI {
    /// The albums of the library file, for commands that do not create it.
    /// - Throws: An exit code, after an error message, if there is no such file; `LibraryError` if it cannot be read.
    func existingAlbums() async throws -> [Album] {
        try configuration.requireLibraryFile()
        try configuration.requireExistingLibraryFile()
        return try await albums.all()
    }
}

/// The log levels of swift-log that an option can set.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error
    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .warning }
}

/// The format of messages on stderr.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text, json
}

/// Writes the library's log messages to stderr in the form of the command's own messages.
struct StderrLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { Log.write(event.level, "\(event.message)") }
}

/// Which URLs are one cover: for commands that read lists, or look covers up by the URLs of the library.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Query parameters that do not tell covers apart, separated by commas, such as those of a signature: they are sent, not kept.",
            valueName: "names", visibility: .hidden))
    var keyIgnores: String?

    private var names: [String] {
        keyIgnores?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    func validate() throws {
        guard names.allSatisfy({ !$0.isEmpty && !$0.contains(where: "=&?#".contains) }) else {
            throw ValidationError("--key-ignores needs names of query parameters, such as expires,signature")
        }
    }

    func apply(to configuration: inout LibraryConfiguration) { configuration.ignoredParameters = Set(names) }
}

/// How large the cache may become.
struct CapacityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The most that the cache may take on disk, which it remembers. (default: as remembered, at first 10G)",
            valueName: "size"))
    var capacity: ByteSize?

    func validate() throws { try capacity?.requireRoom("--capacity") }

    func apply(to configuration: inout LibraryConfiguration) { configuration.capacity = capacity?.bytes }
}
