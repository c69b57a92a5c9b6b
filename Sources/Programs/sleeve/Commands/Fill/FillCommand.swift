import ArgumentParser
import CommandSupport
import CoverLibrary
import MusicFolder
import Platform

struct FillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fill", _superCommandName: "sleeve",
        abstract: "Put a cover file beside the music of each album that has none.",
        usage: "sleeve fill [<dir> ...] [<options>]",
        discussion: """
            Without DIR, the folders of the last fill. A cover is written only if it is the album's for certain; doubtful ones \
            are listed by `fill review`. No file of yours is replaced, renamed or removed. Exits with 3 if an album has no cover \
            that was not named before, and with 75 while another scan or fill runs.

              sleeve fill ~/Music --contact you@example.org
              sleeve fill ~/Music --dry-run
            """,
        subcommands: FillGroup.configuration.subcommands)

    @OptionGroup var music: MusicFolderOptions

    @Flag(help: "Print what would be done and why; write nothing.")
    var dryRun = false

    @Flag(help: "Replace covers that fills wrote by larger ones.")
    var upgrade = false

    @Flag(help: "Also write covers that may be another album's.")
    var acceptDoubtful = false

    @OptionGroup var arguments: FillArguments

    func validate() throws {
        if dryRun, arguments.output.report != nil {
            throw ValidationError("--dry-run prints what would be done, without --report.")
        }
    }

    func run() async throws {
        try await arguments.withLibrary { library, state in
            var work = FillWork(arguments, library, state)
            (work.options.acceptsDoubtful, work.options.upgrades) = (acceptDoubtful, upgrade)
            let last = music.folders.isEmpty ? try state.lastFill()?.folders ?? [] : []
            if music.folders.isEmpty, last.isEmpty {
                throw fail("name the music folders to fill: there was no fill yet")
            }
            try await work.run(try music.scan(else: last), isDryRun: dryRun, request: words)
        }
    }

    /// The options that were given, for the next fill of the gallery.
    private var words: [String] {
        let flags = [("follow", music.named.follow), ("upgrade", upgrade), ("accept-doubtful", acceptDoubtful)]
        return flags.filter(\.1).map { "--\($0.0)" } + arguments.words
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
