import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct TortureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Kill processes that use a cache, and check that nothing they acknowledged is lost.",
        discussion: """
            Creates a cache in a new directory, starts an origin on this machine, and runs prefetch, refresh, \
            verify, verify --repair, evict, remove, pin, unpin, pack, unpack, list and get as simultaneous processes on that cache. \
            Most are killed (SIGKILL) at a random moment, some are stopped (SIGSTOP) and continued (SIGCONT) while the others \
            run. Your own cache is never opened.

            What the processes report as stored is kept outside of the cache. After each round the cache is opened, and every \
            cover in it is read and hashed. Violations are:
              lost            an acknowledged cover is missing, and nothing evicted it
              wrong bytes     a cover, or a digest, is not what the origin serves
              not readable    a listed cover has no bytes
              damaged         the cache cannot be opened, or verify finds a defect
              over capacity   the covers exceed the capacity by more than a sixteenth
              waits           a process is still running after 60 s
              failed          a process that was not killed ended with an error

            Nothing is evicted in half of the rounds, `sleeve evict` and `remove` run in a quarter, and in a quarter the capacity is too \
            small for all covers.

            The first violation ends the torture. It is printed with its round and that round's processes, and the directory is \
            kept. --seed repeats the same processes; the moments of the signals depend on the machine as well.

            A killed process does not test what a power failure does: the kernel keeps what was written.

              sleeve-lab torture                              one minute, on the cache's disk
              sleeve-lab torture /mnt/music/torture --kills 1000
              sleeve-lab torture --seed 42 --rounds 20 --json

            Exit codes: 0 nothing lost, 1 could not run, 3 a violation, 64 wrong usage, 128+N stopped by signal N: what was \
            found until then is checked and reported.
            """)

    @Argument(
        help: ArgumentHelp(
            "A directory that does not exist or is empty. It decides which disk is tested. Default: a new one beside your cache directory.",
            valueName: "directory"))
    var directory: String?

    @Option(help: ArgumentHelp("End after this many rounds.", valueName: "n"))
    var rounds: Int?

    @Option(help: ArgumentHelp("End when this many processes were killed.", valueName: "n"))
    var kills: Int?

    @Option(
        help: ArgumentHelp("End after this time, e.g. 10m. Default: 1m, unless --rounds or --kills.", valueName: "time")
    )
    var time: TimeSpan?

    @Option(help: ArgumentHelp("Simultaneous processes.", valueName: "n"))
    var processes = 3

    @Option(help: ArgumentHelp("Repeat the torture with this seed. Default: random.", valueName: "n"))
    var seed: UInt64?

    @Flag(help: "Keep the directory, even if nothing is lost.")
    var keep = false

    @Flag(help: "Write the report as JSON to stdout.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print no progress, only warnings and errors.")
    var quiet = false

    /// The disk space that a torture needs, in bytes: covers, the index with its log, reports.
    private static let neededBytes = 100 << 20

    func validate() throws {
        guard rounds ?? 1 > 0 else { throw ValidationError("--rounds must be at least 1") }
        guard kills ?? 1 > 0 else { throw ValidationError("--kills must be at least 1") }
        guard time?.duration ?? .seconds(1) > .zero else { throw ValidationError("--time must be more than 0") }
        guard (1...16).contains(processes) else { throw ValidationError("--processes must be between 1 and 16") }
        guard directory?.isEmpty != true else { throw ValidationError("the directory needs a name") }
    }

    func run() async throws {
        let sleeve = try Program.sibling("sleeve")
        let folder = try makeFolder()
        let fileSystem = FileSystem(at: folder.path)
        if let free = fileSystem.freeBytes, free < Self.neededBytes {
            folder.removeAll()
            throw fail("\(folder.path) has \(ByteSize(free)) left; a torture needs \(ByteSize(Self.neededBytes))")
        }
        let plan = TortureRunner.Plan(
            seed: seed ?? UInt64.random(in: 0..<1_000_000_000), processes: processes, rounds: rounds, kills: kills,
            time: time?.duration ?? (rounds == nil && kills == nil ? .seconds(60) : nil))
        if !quiet { Log.info(announcement(plan, folder, fileSystem)) }
        if directory == nil, let cache = Environment.cacheDirectory, access(cache, F_OK) == 0 {
            let own = FileSystem(at: cache).description
            if own != fileSystem.description {
                Log.warning("your cache \(cache) is on another file system (\(own)); name a directory to test that one")
            }
        }
        // The origin is on this machine, whatever the user's proxy is.
        guard setenv("no_proxy", "127.0.0.1", 1) == 0 else { throw fail("cannot \(SystemError("setenv"))") }
        let children = ChildProcesses(stopSignal: SIGKILL, haveOwnGroups: true)
        Signals.handle { _ in children.stop() }
        let tally = TortureTally(
            TortureReport(seed: plan.seed, directory: folder.path, fileSystem: fileSystem.description))
        let runner = TortureRunner(
            sleeve: sleeve, plan: plan, folder: folder, children: children, tally: tally)
        try await run(runner)
        try end(tally.report, plan, folder)
    }

    /// Runs the torture, and shows its progress.
    private func run(_ runner: TortureRunner) async throws {
        let tally = runner.tally
        let line = Task { if !quiet { await ProgressLine(every: .seconds(60)).run { tally.report.progress } } }
        let result: Result<Void, any Error>
        do { result = .success(try await runner.run()) } catch { result = .failure(error) }
        line.cancel()
        await line.value
        do {
            try result.get()
        } catch ChildError.stopped {
            tally.update { $0.isInterrupted = true }
        } catch {
            if !keep { runner.folder.removeAll() }
            if case ChildError.failed(let message) = error { throw fail(message) }
            throw fail("the torture cannot go on: \(error)")
        }
    }

    /// Prints the report and removes the directory. - Throws: The exit code, unless it is 0.
    private func end(_ report: TortureReport, _ plan: TortureRunner.Plan, _ folder: TemporaryFolder) throws {
        if !keep, !report.hasViolations { folder.removeAll() }
        if json {
            try printResult(try report.json)
        } else if !quiet || report.hasViolations {
            try printResult(report.text(command: command(plan)))
        }
        if report.hasViolations { throw ExitStatus.someFailed }
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
    }

    /// The command that runs the same processes again.
    private func command(_ plan: TortureRunner.Plan) -> String {
        "sleeve-lab torture --seed \(plan.seed) --processes \(plan.processes)"
            + (plan.rounds.map { " --rounds \($0)" } ?? "") + (plan.kills.map { " --kills \($0)" } ?? "")
            + (time.map { " --time \(Int($0.duration / .seconds(1)))s" } ?? "")
    }

    private func announcement(
        _ plan: TortureRunner.Plan, _ folder: TemporaryFolder, _ fileSystem: FileSystem
    ) -> String {
        var limits = plan.rounds.map { [Decimals.count($0, "round")] } ?? []
        if let kills = plan.kills { limits.append(Decimals.count(kills, "kill")) }
        if let time = plan.time { limits.append("\(Int(time / .seconds(1))) s") }
        return "torturing a new cache in \(folder.path) (\(fileSystem)) with "
            + "\(Decimals.count(processes, "process", "processes")) simultaneously until \(limits.joined(separator: " or ")); needs at most \(ByteSize(Self.neededBytes)) of disk space, "
            + "which is freed at the end; seed \(plan.seed); press Ctrl-C to stop"
    }

    // MARK: The directory

    /// - Throws: An exit code, after an error message.
    private func makeFolder() throws -> TemporaryFolder {
        let cache = Environment.cacheDirectory
        if let directory, let cache, Self.isInside(directory, cache) {
            throw fail("\(directory) is in your cache directory \(cache); name another one")
        }
        guard let parent = directory ?? cache.map({ AtomicFile.directory(of: Self.resolved($0)) }) else {
            throw fail("$HOME is not set; name a directory")
        }
        do throws(SystemError) {
            if directory != nil { return try TemporaryFolder(at: parent) }
            return try TemporaryFolder(in: parent, name: "sleeve-torture")
        } catch {
            if error.number == ENOTEMPTY {
                throw fail("\(parent) is not empty; name a directory that does not exist or is empty")
            }
            throw fail("cannot \(error)" + (directory == nil ? "; name a directory" : ""))
        }
    }

    /// Whether a path is a directory or in it.
    private static func isInside(_ path: String, _ directory: String) -> Bool {
        let (path, directory) = (resolved(path), resolved(directory))
        return path == directory || path.hasPrefix(directory + "/")
    }

    /// The absolute path without symbolic links. Its last component need not exist.
    private static func resolved(_ path: String) -> String {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        if access(path, F_OK) == 0 { return AtomicFile.resolvingLinks(path) }
        let parent = AtomicFile.resolvingLinks(AtomicFile.directory(of: path))
        return parent + "/" + (path.split(separator: "/").last ?? "")
    }
}
