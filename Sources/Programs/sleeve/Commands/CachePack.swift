import ArgumentParser
import CommandSupport
import CoverLibrary
import CoverPack
import Platform
import Synchronization

struct CachePack: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack", _superCommandName: "sleeve cache",
        abstract: "Write covers into one file, for another machine.",
        discussion: """
              sleeve cache pack covers.tar
              sleeve cache pack pinned.tar --pinned
              sleeve cache pack - | ssh player sleeve cache unpack -

            A pack is a tar file: entries.jsonl, with the covers' URLs, validators and times, and the covers, each named by its \
            SHA-256. The file appears when it is complete; a killed run leaves a file .sleeve-….part, which the next one removes. It holds \
            whole URLs, which may grant access.

            Without an option, all covers are packed, and an empty cache makes an empty pack. Exits with 3 if a cover is damaged; the others \
            are packed.
            """)

    @Argument(help: "A new file, or a pack to replace; - is stdout.", completion: .file())
    var file: String

    @Flag(help: "Pinned covers only.")
    var pinned = false

    @OptionGroup(title: "Which covers") var filter: FilterOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if file.isEmpty { throw ValidationError("Name the file to write, or - for stdout.") }
        guard file == "-" else { return }
        if Terminal.standardOutput.isInteractive {
            throw ValidationError("Cannot write a pack to a terminal; name a file or use a pipe.")
        }
        if options.json { throw ValidationError("--json writes to stdout; name a file for the pack.") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        try configuration.check(output: file, "the pack")
        // A pack's first file: a list of URLs, or a song, is named by mistake.
        if file != "-" { try OutputFile.check(file) { $0.starts(with: Array("entries.jsonl\0".utf8)) } }
        try await withLibrary(configuration, createsCache: false) { library in
            var filter = self.filter.filter
            filter.isPinned = pinned
            let output = try self.output()
            defer { if case .descriptor(let descriptor, _) = output, file != "-" { close(descriptor) } }
            let failures = MessageList()
            let start = ContinuousClock.now
            let summary = try await withProgress(PackSummary(), every: progress.interval(options), Self.progress) {
                [filter] progress in
                try await library.pack(
                    .matching(filter), to: output, onFailure: { failures.add($0) }, progress: progress)
            }
            failures.end()
            if let signal = Signals.received {
                Log.warning("stopped; no pack was written")
                throw ExitStatus.stopped(by: signal)
            }
            if summary.covers == 0, filter != CoverFilter() {
                Log.warning("no cached cover is selected\(file == "-" ? "" : "; \(file) was not written")")
                throw ExitStatus.someFailed
            }
            try report(summary, ContinuousClock.now - start)
            if summary.failed > 0 { throw ExitStatus.someFailed }
        }
    }

    /// A file is replaced atomically; a pipe or a device is opened and written.
    private func output() throws -> PackOutput {
        if file == "-" { return .descriptor(STDOUT_FILENO, name: "stdout") }
        return OutputFile.isSpecial(file) ? .descriptor(try OutputFile.create(file), name: file) : .file(file)
    }

    private static func progress(_ summary: PackSummary) -> [String] {
        ["\(Decimals.count(summary.covers, "cover")) · \(ByteSize(summary.bytes))"]
    }

    private struct Summary: Encodable {
        let covers, bytes, packBytes, failed: Int
        let seconds: Double
    }

    private func report(_ summary: PackSummary, _ time: Duration) throws {
        let seconds = time / .seconds(1)
        if options.json {
            try printJSON(
                Summary(
                    covers: summary.covers, bytes: summary.bytes, packBytes: summary.packBytes,
                    failed: summary.failed, seconds: seconds))
        } else if !options.quiet {
            let size = "\(Decimals.count(summary.covers, "cover")), \(ByteSize(summary.packBytes))"
            let text = "Packed \(size), in \(Decimals.text(seconds, 2)) s.\n"
            // stdout may hold the pack.
            if file == "-" { Log.info(String(text.dropLast())) } else { try printResult(text) }
        }
    }
}

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
            let latest = Mutex(UnpackSummary())
            let summary: UnpackSummary
            do {
                summary = try await withProgress(UnpackSummary(), every: progress.interval(options), Self.progress) {
                    [dryRun] progress in
                    try await library.unpack(
                        pack, dryRun: dryRun, onFailure: { failures.add($0) },
                        progress: { summary in
                            latest.withLock { $0 = summary }
                            progress(summary)
                        })
                }
            } catch let error as LibraryError where latest.withLock({ $0.stored + $0.kept }) > 0 {
                failures.end()
                try report(latest.withLock { $0 }, ContinuousClock.now - start)
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
