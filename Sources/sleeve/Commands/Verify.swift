import ArgumentParser
import CoverCache
import CoverLibrary

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Hash every cover anew and compare it with what was stored.",
        discussion: """
            Exits with 3 when something is wrong. --repair drops what is damaged and rebuilds the index from the segments \
            alone; what was dropped is fetched again by the next prefetch.
            """)

    private static let mostTold = 100

    @Flag(help: "Drop bad records and rebuild the index.")
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
        for defect in report.defects.prefix(Self.mostTold) {
            Log.warning("\(defect)")
        }
        if report.defects.count > Self.mostTold {
            Log.warning("… and \(report.defects.count - Self.mostTold) more like these")
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
            let defects = report.defects.count == 1 ? "1 defect" : "\(report.defects.count) defects"
            let outcome = report.defects.isEmpty ? "all as they were stored" : defects
            var text = "\(Decimals.grouped(report.entries)) entries, \(Decimals.grouped(report.blobs)) blobs, "
            text += "\(ByteSize(report.bytes)): \(outcome)\n"
            if let rebuilt = report.rebuilt {
                text += "index rebuilt from the segments: \(Decimals.grouped(rebuilt)) entries\n"
            }
            if !report.defects.isEmpty, report.rebuilt == nil {
                text += "run `sleeve verify --repair` to drop what is damaged\n"
            }
            try sleeve.tell(text)
        }
    }
}
