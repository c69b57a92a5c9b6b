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
            let found = try await withProgress((0, 0), every: options.quiet ? nil : .zero, Self.progress) {
                [repair] progress in
                try await repair
                    ? library.repair { progress(($0, $1)) } : library.verify { progress(($0, $1)) }
            }
            MessageList("defect").print(found.defects.map(\.description))
            if found.isCancelled, let signal = Signals.received {
                Log.warning("stopped; not everything was checked")
                throw ExitStatus.stopped(by: signal)
            }
            try options.printResult(Summary(found), text: text(found))
            if repair ? found.unreadable > 0 : !found.defects.isEmpty { throw ExitStatus.someFailed }
        }
    }

    private static func progress(_ covers: (checked: Int, all: Int)) -> [String] {
        ["\(Decimals.grouped(covers.checked))/\(Decimals.grouped(covers.all)) covers"]
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
