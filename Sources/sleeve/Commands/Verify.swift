import ArgumentParser
import CoverCache
import CoverLibrary

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check every cached cover against its stored hash.",
        discussion: """
            Exits with 3 if a cover is damaged. --repair drops damaged covers and rebuilds the index from the segment files; \
            the next prefetch downloads the dropped ones again.

              sleeve verify
              sleeve verify --repair
            """)

    private static let maximumListed = 100

    @Flag(help: "Drop damaged covers and rebuild the index.")
    var repair = false

    @OptionGroup var options: LibraryOptions

    func run() async throws {
        let library = try await openLibrary(try options.configuration(), makesCache: false)
        let isLive = !options.quiet && Log.isLive
        let repair = repair
        do {
            let report = try await library.maintain { writer in
                var report = try writer.verify { done, total in
                    if isLive, done % 1_000 == 0 {
                        Log.live("\(Decimals.grouped(done))/\(Decimals.grouped(total)) covers")
                    }
                }
                if repair { report.rebuilt = try writer.rebuild() }
                return report
            }
            if isLive { Log.live("") }
            try tell(report)
            await library.close()
            if !report.defects.isEmpty, !repair { throw ExitStatus.someFailed }
        } catch let error as LibraryError {
            throw fail(error.message)
        }
    }

    private func tell(_ report: VerifyReport) throws {
        for defect in report.defects.prefix(Self.maximumListed) {
            Log.warning("\(defect)")
        }
        if report.defects.count > Self.maximumListed {
            Log.warning("\(Decimals.grouped(report.defects.count - Self.maximumListed)) more defects are not listed")
        }
        if options.json {
            var line = JSONObject()
            line.add("entries", report.entries)
            line.add("blobs", report.blobs)
            line.add("bytes", report.bytes)
            line.add("defects", report.defects.count)
            line.add("rebuilt", report.rebuilt)
            try sleeve.tell(line.text + "\n")
        } else if !options.quiet {
            let defects = report.defects.count == 1 ? "1 defect" : "\(Decimals.grouped(report.defects.count)) defects"
            let outcome = report.defects.isEmpty ? "all intact" : defects
            var text = "\(Decimals.grouped(report.entries)) entries, \(Decimals.grouped(report.blobs)) covers, "
            text += "\(ByteSize(report.bytes)): \(outcome)\n"
            if let rebuilt = report.rebuilt {
                text += "Rebuilt the index from the segment files: \(Decimals.grouped(rebuilt)) entries.\n"
            }
            if !report.defects.isEmpty, report.rebuilt == nil {
                text += "Run `sleeve verify --repair` to drop the damaged covers.\n"
            }
            try sleeve.tell(text)
        }
    }
}
