import ArgumentParser
import CommandSupport
import CoverLibrary

struct CacheRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", _superCommandName: "sleeve cache",
        abstract: "Remove covers that you name.",
        discussion: """
              sleeve cache remove https://example.org/cover.jpg
              sleeve cache remove --host covers.example.org --dry-run
              sleeve cache remove --matching '*/thumbnails/*'
              sleeve cache list --json | jq -r 'select(.stale).url' | sleeve cache remove -

            A later command downloads them again; `sleeve fill refuse` keeps a wrong cover away. The bytes of a cover stay while other URLs share it. \
            Pinned covers stay unless --force is given. A named URL that is not cached or is pinned is \
            reported, and the exit code is 3.
            """)

    @Flag(help: "Remove pinned covers as well, and their pins.")
    var force = false

    @Flag(help: "Print what would be removed, and remove nothing.")
    var dryRun = false

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        try covers.apply(to: &configuration)
        try await withLibrary(configuration, createsCache: false) { library in
            let failures = MessageList()
            let selection = try await covers.selection(in: library, failures)
            let summary = try await library.remove(selection, includingPinned: force, dryRun: dryRun) {
                failures.add($0)
            }
            failures.end()
            let verb = dryRun ? ("Would remove", "free") : ("Removed", "freed")
            let count = Decimals.count(summary.entries, "URL")
            try options.printResult(
                Summary(
                    removed: summary.entries, bytes: summary.bytes, pinned: summary.pinned, failed: failures.count,
                    dryRun: dryRun),
                text: "\(verb.0) \(count), \(verb.1) \(ByteSize(summary.bytes)).\n")
            if summary.pinned > 0, !options.quiet || covers.isNamed {
                let covers = Decimals.count(summary.pinned, "pinned cover")
                Log.warning("\(covers) kept; --force removes pinned covers as well")
            }
            if failures.count > 0 || (covers.isNamed && summary.pinned > 0) { throw ExitStatus.someFailed }
        }
    }

    private struct Summary: Encodable {
        let removed, bytes, pinned, failed: Int
        let dryRun: Bool
    }
}
