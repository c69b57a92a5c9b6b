import ArgumentParser
import CoverLibrary

/// The laboratory: what measures Sleeve, and what `sleeve` need not contain.
@main
struct SleeveLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleeve-lab", abstract: "Tools for measuring Sleeve on this machine.",
        version: LibraryAPI.version, subcommands: [LinkCommand.self, SizesCommand.self])
}
