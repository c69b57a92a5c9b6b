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
            MusicState.writtenFiles(of: $0, in: path).mapValues(\.bytes)
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
}
