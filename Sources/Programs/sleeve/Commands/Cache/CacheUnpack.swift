import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct CacheUnpack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpack", _superCommandName: "sleeve cache",
        abstract: "Store the covers of a pack in the cache.",
        discussion: """
              sleeve cache unpack covers.tar
              sleeve cache unpack covers.tar --dry-run       verify the file, store nothing
              ssh server sleeve cache pack - | sleeve cache unpack -
              tar -C /mnt/backup/sleeve -c entries.jsonl covers | sleeve cache unpack -

            Every cover is compared with its SHA-256 before it is stored. A cached cover that was validated at the same time \
            or later stays as it is, unless it is damaged. What was pinned is pinned here, too. Damaged covers are reported with their URL; the rest is stored, and \
            the exit code is 3. An unpack can be interrupted; run it again to continue.
            """)

    @Argument(help: "A file that `sleeve cache pack` wrote, or a tar of a cache; - is stdin.", completion: .file())
    var file: String

    @Flag(help: "Verify the pack, and store nothing.")
    var dryRun = false

    @OptionGroup(title: "Cache and library") var room: CapacityOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if dryRun, room.capacity != nil {
            throw ValidationError("--dry-run stores nothing: --capacity has no effect with it")
        }
    }

    func run() async throws {
        var configuration = try options.configuration()
        room.apply(to: &configuration)
        let descriptor = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
        let name = file == "-" ? "stdin" : file
        guard descriptor >= 0 else { throw fail("cannot \(SystemError("read", path: file))") }
        defer { if file != "-" { close(descriptor) } }
        // Before the cache is opened: what is no pack leaves no new cache behind.
        let pack = try LibraryAPI.pack(in: descriptor, name: name)
        // A dry run leaves no cache where there was none.
        var temporary: TemporaryFolder?
        if dryRun, !LibraryAPI.hasCache(at: configuration.cacheDirectory) {
            let folder = try TemporaryFolder(in: FileManager.default.temporaryDirectory.path, name: "sleeve-unpack")
            configuration.cacheDirectory = URL(filePath: folder.file("cache"))
            temporary = folder
        }
        defer { temporary?.removeAll() }
        try await withLibrary(configuration) { library in
            let failures = MessageList()
            let start = ContinuousClock.now
            let latest = LatestProgress(UnpackSummary())
            let summary: UnpackSummary
            do {
                summary = try await withProgress(UnpackSummary(), every: progress.interval(options), Self.progress) {
                    [dryRun] progress in
                    try await library.unpack(
                        pack, dryRun: dryRun, onFailure: { failures.add($0) },
                        progress: {
                            latest.set($0)
                            progress($0)
                        })
                }
            } catch let error as LibraryError where latest.value.stored + latest.value.kept > 0 {
                failures.end()
                try report(latest.value, ContinuousClock.now - start)
                throw fail(error.message, ExitStatus.someFailed)
            }
            failures.end()
            try report(summary, ContinuousClock.now - start)
            await library.warnOfEvictedCovers()
            try stopIfSignalled()
            if summary.failed > 0 { throw ExitStatus.someFailed }
        }
    }

    private static func progress(_ summary: UnpackSummary) -> [String] {
        let failed = summary.failed > 0 ? " · \(Decimals.grouped(summary.failed)) failed" : ""
        return ["\(Decimals.count(summary.stored + summary.kept, "cover")) · \(ByteSize(summary.bytes))\(failed)"]
    }

    private struct Summary: Encodable {
        let stored, deduplicated, kept, failed, bytes: Int
        let seconds: Double
        let dryRun, cancelled: Bool
    }

    private func report(_ summary: UnpackSummary, _ time: Duration) throws {
        let seconds = time / .seconds(1)
        let verb = summary.isCancelled ? "Stopped: stored" : dryRun ? "Verified, would store" : "Stored"
        var text = "\(verb) \(Decimals.count(summary.stored, "cover")), \(ByteSize(summary.bytes))"
        if summary.kept > 0 { text += "; \(Decimals.grouped(summary.kept)) cached already" }
        if summary.failed > 0 { text += "; \(Decimals.grouped(summary.failed)) failed" }
        try options.printResult(
            Summary(
                stored: summary.stored, deduplicated: summary.deduplicated, kept: summary.kept, failed: summary.failed,
                bytes: summary.bytes, seconds: seconds, dryRun: dryRun, cancelled: summary.isCancelled),
            text: "\(text) (\(Decimals.text(seconds, 2)) s).\n")
    }
}
