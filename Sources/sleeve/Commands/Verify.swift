import ArgumentParser
import CoverLibrary

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every cached cover against its stored hash.",
        discussion: """
            Exits with 3 if a cover is damaged. --repair drops damaged covers, rebuilds the index from the segment files, and \
            exits with 0; the next prefetch downloads the dropped ones again.

              sleeve verify
              sleeve verify --repair
            """)

    private static let maximumListed = 100

    @Flag(help: "Drop damaged covers and rebuild the index.")
    var repair = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        try await withLibrary(try options.configuration(), createsCache: false) { library in
            let isLive = !options.quiet && Log.isLive
            let found = try await library.verify(repairing: repair) { checked, all in
                if isLive, checked % 1_000 == 0 {
                    Log.live("\(Decimals.grouped(checked))/\(Decimals.grouped(all)) covers")
                }
            }
            if isLive { Log.live("") }
            for defect in found.defects.prefix(Self.maximumListed) { Log.warning(defect) }
            let omitted = found.defects.count - Self.maximumListed
            if omitted > 0 { Log.warning("\(Decimals.grouped(omitted)) more defects are not listed") }
            if options.json { try printResult(json(found)) } else if !options.quiet { try printResult(text(found)) }
            if !found.defects.isEmpty, !repair { throw ExitStatus.someFailed }
        }
    }

    private func json(_ found: CacheVerification) -> String {
        var line = JSONObject()
        line.add("entries", found.entries)
        line.add("blobs", found.covers)
        line.add("bytes", found.bytes)
        line.add("defects", found.defects.count)
        line.add("rebuilt", found.rebuiltEntries)
        return line.text + "\n"
    }

    private func text(_ found: CacheVerification) -> String {
        let outcome = found.defects.isEmpty ? "all intact" : Decimals.count(found.defects.count, "defect")
        var text = "\(Decimals.count(found.entries, "entry", "entries")), \(Decimals.count(found.covers, "cover")), "
        text += "\(ByteSize(found.bytes)): \(outcome)\n"
        if let rebuilt = found.rebuiltEntries {
            text += "Rebuilt the index from the segment files: \(Decimals.count(rebuilt, "entry", "entries")).\n"
        } else if !found.defects.isEmpty {
            text += "Run `sleeve verify --repair` to drop the damaged covers.\n"
        }
        return text
    }
}
