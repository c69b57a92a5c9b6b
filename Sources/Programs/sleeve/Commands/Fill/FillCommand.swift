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

            Without DIR, the last fill's folders and contact. A cover is written only if it is the album's for certain; doubtful ones \
            are listed by `fill review`. No file of yours is replaced, renamed or removed. Exits with 3 if an album has no cover \
            that was not named before, and with 75 while another scan or fill runs.
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

        @Flag(help: ArgumentHelp("Write nothing again that an undo took back, as with --quiet.", visibility: .hidden))
        var unwatched = false
    }

    func validate() throws {
        if choice.dryRun, arguments.output.report != nil {
            throw ValidationError("--dry-run prints what would be done, without --report.")
        }
    }

    mutating func run() async throws {
        if music.folders.isEmpty { try takeOptionsOfLastFill() }
        try await fill()
    }

    private mutating func takeOptionsOfLastFill() throws {
        guard let last = MusicState.lastFill(of: try arguments.options.configuration().libraryPath),
            let command = try? FillCommand.parse(last.options)
        else { return }
        music.named.follow = music.named.follow || command.music.named.follow
        if arguments.network.knownContact == nil { arguments.network.contact = command.arguments.network.contact }
    }

    private func fill() async throws {
        try await arguments.withLibrary(asking: sources) { library, state in
            if !arguments.network.offline {
                try sources.requireContact(library.configuration.userAgent)
            }
            var work = FillWork(arguments, asking: sources, library, state)
            work.options.upgrades = choice.upgrade
            work.options.isUnwatched = choice.unwatched || arguments.options.quiet
            let last = music.folders.isEmpty ? try state.lastFill()?.folders ?? [] : []
            if music.folders.isEmpty, last.isEmpty {
                throw fail("name the music folders to fill: there was no fill yet")
            }
            try await work.run(try music.scan(else: last), isDryRun: choice.dryRun, request: words)
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
