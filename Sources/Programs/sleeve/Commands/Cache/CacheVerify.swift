import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct CacheVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", _superCommandName: "sleeve cache",
        abstract: "Check every cached cover for damage.",
        discussion: """
              sleeve cache verify
              sleeve cache verify --repair

            Compares every cover with its SHA-256, and checks the index. Exits with 3 if a cover is damaged, or the index is \
            wrong. Like every command, it first rebuilds an index that is missing or corrupt.

            --repair drops damaged covers, and the next prefetch downloads them again. It rebuilds the index from entries.jsonl \
            if the index is wrong, and deletes files that are no cover of it. It exits with 0, or with 3 if the disk cannot \
            read one, which is kept. If no cover has a file, it drops nothing: their folder may be elsewhere.
            """)

    @Flag(help: "Drop damaged covers, and rebuild a damaged index.")
    var repair = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            let isLive = !options.quiet && Log.isLive
            @Sendable func progress(checked: Int, all: Int) {
                if isLive, checked % 1_000 == 0 {
                    Log.live("\(Decimals.grouped(checked))/\(Decimals.grouped(all)) covers")
                }
            }
            let found = try await repair ? library.repair(progress: progress) : library.verify(progress: progress)
            if isLive { Log.live("") }
            MessageList("defect").print(found.defects.map(\.description))
            try options.printResult(Summary(found), text: text(found))
            if repair ? found.unreadable > 0 : !found.defects.isEmpty { throw ExitStatus.someFailed }
        }
    }

    private struct Summary: Encodable {
        let entries, covers, bytes, defects, dropped, unreadable: Int
        /// Entries of the new index; nil if the old one was kept.
        let rebuilt: Int?

        init(_ found: CacheVerification) {
            (entries, covers, bytes, rebuilt) = (found.entries, found.covers, found.bytes, found.rebuiltEntries)
            (defects, dropped, unreadable) = (found.defects.count, found.dropped, found.unreadable)
        }
    }

    private func text(_ found: CacheVerification) -> String {
        let outcome = found.defects.isEmpty ? "all as they were stored" : Decimals.count(found.defects.count, "defect")
        var text = "\(Decimals.count(found.entries, "entry", "entries")), \(Decimals.count(found.covers, "cover")), "
        text += "\(ByteSize(found.bytes)): \(outcome)\n"
        if let rebuilt = found.rebuiltEntries {
            text += "Rebuilt the index: \(Decimals.count(rebuilt, "entry", "entries")).\n"
        }
        if found.dropped > 0 {
            text +=
                "Dropped \(Decimals.count(found.dropped, "damaged cover")); the next prefetch downloads what is missing.\n"
        }
        if found.unreadable > 0 {
            text +=
                "The disk cannot read \(Decimals.count(found.unreadable, "cover")). It may be for a moment only, so they are kept; "
            text += "`sleeve cache remove URL` gives one up.\n"
        }
        if !repair, !found.defects.isEmpty {
            text += "Run `sleeve cache verify --repair`: it drops damaged covers and mends the index.\n"
        }
        return text
    }
}
