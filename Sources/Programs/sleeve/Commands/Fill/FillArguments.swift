import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder

/// The options of the commands that write covers.
struct FillArguments: ParsableArguments {
    @OptionGroup(title: "What to write") var covers: Covers
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup(title: "Output") var output: Output
    @OptionGroup var editing: EditOptions

    struct Covers: ParsableArguments {
        @Option(help: ArgumentHelp("No covers with a side of fewer pixels.", valueName: "pixels"))
        var minPixels: Int?

        @Option(
            help: ArgumentHelp(
                "The longest side of the files, which become JPEG.", valueName: "pixels"))
        var size: Int?

        @Option(help: ArgumentHelp("cover, folder or front. (default: cover)", valueName: "name"))
        var name: FileStem?

        @Flag(help: "Also write the covers into tags without a picture.")
        var embed = false

        /// Names that media servers look for.
        enum FileStem: String, ExpressibleByArgument {
            case cover, folder, front
            static let standard = Self.cover
        }

        /// Takes what is not given from the options of another fill. An accepted cover may be small.
        mutating func fillIn(_ other: Covers) {
            (size, name, embed) = (size ?? other.size, name ?? other.name, embed || other.embed)
        }

        func validate() throws {
            for (name, value) in [("--min-pixels", minPixels), ("--size", size)] {
                if let value, value < 1 { throw ValidationError("\(name) must be at least 1") }
            }
            if let minPixels, let size, size < minPixels { throw ValidationError("--size is less than --min-pixels") }
        }
    }

    struct Output: ParsableArguments {
        @Option(
            help: ArgumentHelp("Write a JSON line for each folder of an album.", valueName: "file"),
            completion: .file())
        var report: String?

        @OptionGroup var progress: ProgressOptions

        func validate() throws { try RunOptions.check(report, "--report") }
    }

    var options: LibraryOptions { editing.options }
    var interval: Duration? { output.progress.interval(options) }

    /// Opens the library and what is remembered of music folders, and sends edits to the remote library.
    /// - Parameter isAlone: No other scan or fill may run; otherwise `body` takes the state's lock.
    /// - Throws: An exit code, after an error message.
    func withLibrary(
        asking sources: SourceOptions, isAlone: Bool = true, _ body: (LibraryAPI, MusicState) async throws -> Void
    ) async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        try sources.apply(to: &configuration)
        store.apply(to: &configuration)
        try configuration.setRemote(editing.remote)
        try configuration.check(output: output.report, "--report")
        try await withAlbums(configuration) { library in
            var outcome: (any Error)?
            do {
                let state = try MusicFolderOptions.openState(library.configuration, isAlone: isAlone)
                try await body(library, state)
            } catch {
                outcome = error
            }
            if !network.offline { try await editing.send(library) }
            if let outcome { throw outcome }
        }
    }

    /// The options that were given, for another process.
    var words: [String] {
        func word(_ name: String, _ value: String?) -> [String] { value.map { ["--\(name)=\($0)"] } ?? [] }
        return word("min-pixels", covers.minPixels.map(String.init)) + word("size", covers.size.map(String.init))
            + word("name", covers.name?.rawValue) + (covers.embed ? ["--embed"] : [])
            + network.words
    }
}
