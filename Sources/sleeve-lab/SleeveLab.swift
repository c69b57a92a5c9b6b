import ArgumentParser
import CoverLibrary

/// The laboratory: what tests and measures Sleeve, and what `sleeve` needs not contain.
@main
struct SleeveLab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleeve-lab",
        abstract: "Tools for testing and measuring Sleeve on this machine.",
        discussion: "`torture`, and `sleeve bench` without a list, need both programs in one folder.",
        version: LibraryAPI.version,
        subcommands: [
            OriginCommand.self, ProviderCommand.self, TortureCommand.self, LookupCommand.self, SizesCommand.self,
        ])
}
