import ArgumentParser
import CommandSupport
import CoverLibrary

struct CachePin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", _superCommandName: "sleeve cache",
        abstract: "Keep covers for ever: pinned ones are never evicted.",
        discussion: """
              sleeve cache pin https://example.org/cover.jpg
              sleeve cache pin --album "Low Tide" --album 7
              sleeve cache pin favourites.json
              sleeve cache pin --host covers.example.org

            A pin belongs to the URL: it stays when the cover is refreshed or downloaded again. Of an album, all its URLs \
            that are cached are pinned. A URL that is not cached is reported, and the exit code is 3; the others are pinned. \
            `sleeve cache list` marks pinned covers, and `sleeve cache stats` counts them.

            Pinned covers count towards the capacity. If they fill it, no other cover can be stored.
            """)

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await changePins(covers, options, ("Pinned", "pinned before")) { library, selection, failures in
            try await library.pin(selection) { failures.add($0) }
        }
    }
}

struct CacheUnpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin", _superCommandName: "sleeve cache",
        abstract: "Let pinned covers be evicted again.",
        discussion: """
              sleeve cache unpin https://example.org/cover.jpg
              sleeve cache unpin --matching '*/thumbnails/*'
              sleeve cache unpin --all

            The covers stay cached until they are the least recently used ones. A URL that is neither pinned nor cached is \
            reported, and the exit code is 3.
            """)

    @OptionGroup(title: "Which covers") var covers: SelectionOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await changePins(covers, options, ("Unpinned", "not pinned")) { library, selection, failures in
            try await library.unpin(selection) { failures.add($0) }
        }
    }
}

private struct PinResult: Encodable { let covers, changed, failed, pinned, pinnedBytes: Int }

/// Runs `pin` or `unpin`.
/// - Parameter words: the verb, and the name of covers that were not changed.
private func changePins(
    _ covers: SelectionOptions, _ options: LibraryOptions, _ words: (verb: String, unchanged: String),
    _ change: (LibraryAPI, CoverSelection, MessageList) async throws -> PinSummary
) async throws {
    var configuration = try options.configuration()
    try covers.apply(to: &configuration)
    try await withLibrary(configuration, createsCache: false) { library in
        let failures = MessageList()
        let selection = try await covers.selection(in: library, failures)
        let summary = try await change(library, selection, failures)
        failures.end()
        let totals = try await library.cacheTotals()
        let same = summary.covers - summary.changed
        let unchanged = same > 0 ? "; \(Decimals.grouped(same)) \(words.unchanged)" : ""
        var text = "\(words.verb) \(Decimals.count(summary.changed, "URL"))\(unchanged). "
        text += "\(Decimals.count(totals.pinned, "cover")) of \(ByteSize(totals.pinnedBytes)) pinned, "
        text += "capacity \(ByteSize(totals.capacity)).\n"
        try options.printResult(
            PinResult(
                covers: summary.covers, changed: summary.changed, failed: failures.count, pinned: totals.pinned,
                pinnedBytes: totals.pinnedBytes), text: text)
        if failures.count > 0 { throw ExitStatus.someFailed }
    }
}
