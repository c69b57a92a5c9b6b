import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct FillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill", _superCommandName: "sleeve",
        abstract: "Put a cover beside the music of each album; review, refuse, undo.",
        usage: "sleeve fill [<dir> ...] [<options>]",
        discussion: """
              sleeve fill ~/Music --contact you@example.org
              sleeve fill ~/Music --dry-run
              sleeve fill review

            Without DIR, all scanned folders, with the last fill's options but --upgrade. A cover is written only if it is the album's for certain; doubtful ones \
            are listed by `fill review`. No file of yours is replaced, renamed or removed. Exits with 3 if an album without a cover \
            was named for the first time, and with 75 while another scan or fill runs.
            """,
        subcommands: FillGroup.configuration.subcommands)

    @OptionGroup var music: MusicFolderOptions
    @OptionGroup(title: "What to write") var choice: Choice
    @OptionGroup(title: "Where to look") var sources: SourceOptions
    @OptionGroup var arguments: FillArguments

    /// What is done with the covers that are found.
    struct Choice: ParsableArguments {
        @Flag(help: "Print what would be done and why; write no cover.")
        var dryRun = false

        @Flag(help: "Replace covers that fills wrote by larger ones.")
        var upgrade = false

        @Flag(help: "You removed the covers that are gone, however many: they are not written again.")
        var removed = false

        @Flag(help: ArgumentHelp("Write nothing again that an undo took back, as with --quiet.", visibility: .hidden))
        var unwatched = false
    }

    func validate() throws {
        if choice.dryRun, arguments.output.report != nil {
            throw ValidationError("--dry-run prints what would be done, without --report.")
        }
        if choice.dryRun, choice.removed { throw ValidationError("--removed is remembered, which --dry-run is not.") }
    }

    mutating func run() async throws {
        if music.folders.isEmpty { try takeOptionsOfLastFill() }
        try await fill()
    }

    private mutating func takeOptionsOfLastFill() throws {
        let last = try? MusicState.existing(of: try arguments.options.configuration().libraryPath)?.lastFill()
        let known = (last ?? []).filter { !["--upgrade", "--offline"].contains($0) }
        // Of an option that is given twice the last one counts.
        let given = arguments.words + (music.named.follow ? ["--follow"] : [])
        guard let command = try? FillCommand.parse(known + given) else {
            return Log.warning(
                "the options of the last fill do not go with these, and are left out: \(known.joined(separator: " "))")
        }
        (music.named.follow, arguments.covers) = (command.music.named.follow, command.arguments.covers)
        let contact = arguments.network.knownContact
        arguments.network = command.arguments.network
        arguments.network.contact = contact ?? arguments.network.contact
        if sources.source.isEmpty { sources.source = command.sources.source }
        if sources.sourceBase.isEmpty { sources.sourceBase = command.sources.sourceBase }
    }

    private func fill() async throws {
        try await arguments.withLibrary(asking: sources) { library, state in
            if !arguments.network.offline {
                try sources.requireContact(library.configuration.userAgent)
            }
            var work = FillWork(arguments, asking: sources, library, state)
            work.options.upgrades = choice.upgrade
            work.options.isUnwatched = choice.unwatched || arguments.options.quiet
            let folders = try music.named.remembered(state, to: "to fill")
            var found = try music.scan(else: folders)
            found.scan.options.countsAllRemoved = choice.removed
            try await work.run(found, isDryRun: choice.dryRun, request: words)
        }
    }

    /// The options that were given, for the next fill of the gallery.
    private var words: [String] {
        let flags = [("follow", music.named.follow), ("upgrade", choice.upgrade)]
        return flags.filter(\.1).map { "--\($0.0)" } + arguments.words + sources.words
    }
}

/// The tree of the subcommands of `fill`. In the tree of all commands, `fill` is a command with arguments, and the parser takes the names of
/// its subcommands for folders.
struct FillTree: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleeve", version: LibraryAPI.version, subcommands: [FillGroup.self])
}

struct FillGroup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill",
        subcommands: [FillReview.self, FillAccept.self, FillRefuse.self, FillAllow.self, FillUndo.self])
}

/// The options of the commands that write covers.
struct FillArguments: ParsableArguments {
    @OptionGroup(title: "What to write") var covers: Covers
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup(title: "Output") var output: Output
    @OptionGroup var editing: EditOptions

    struct Covers: ParsableArguments {
        @Option(help: ArgumentHelp("No covers of fewer pixels, unless you accepted them.", valueName: "pixels"))
        var minPixels: Int?

        @Option(
            help: ArgumentHelp(
                "The longest side of the files, which become JPEG.", valueName: "pixels"))
        var size: Int?

        @Option(help: ArgumentHelp("The file: cover, folder or front. (default: cover)", valueName: "name"))
        var name: FileStem?

        @Flag(help: "Also write the covers into tags without a picture.")
        var embed = false

        /// Names that media servers look for.
        enum FileStem: String, ExpressibleByArgument {
            case cover, folder, front
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
