import CommandSupport
import Platform

/// Runs the rounds of a torture, and checks the cache after each.
struct TortureRunner: Sendable {
    struct Plan: Sendable {
        var seed: UInt64
        /// How many run simultaneously.
        var processes: Int
        /// The torture ends when any of these limits is reached, at the end of a round.
        var rounds: Int?
        var kills: Int?
        var time: Duration?

        func isDone(_ report: TortureReport) -> Bool {
            if let rounds, report.rounds >= rounds { return true }
            if let kills, report.kills >= kills { return true }
            if let time, report.time >= time { return true }
            return false
        }
    }

    /// The path of the program.
    let sleeve: String
    let plan: Plan
    let folder: TemporaryFolder
    let children: ChildProcesses
    let tally: TortureTally

    private static let covers = 800
    /// How long a process may run after its last signal, and a check may take. The locks of the cache give up after 15 s.
    private static let timeLimit = Duration.seconds(60)

    /// The parts that all rounds share.
    private struct Setting {
        let catalog: TortureCatalog
        let inspection: CacheInspection
        let clock = Stopwatch()
        var durations = TypicalDurations()
    }

    /// Runs until a limit of the plan is reached, a violation is found, or the children are stopped.
    /// - Throws: `ChildError`, or an error of the system if no process can be started.
    func run() async throws {
        let origin = try await WorkThread.run {
            Result { try OriginProcess(program: sleeve, options: [], in: folder, children) }
        }.get()
        let result: Result<Void, any Error>
        do { result = .success(try await run(from: origin.url)) } catch { result = .failure(error) }
        await WorkThread.run { origin.stop() }
        tally.update { $0.isInterrupted = children.isStopped }
        try result.get()
    }

    private func run(from origin: String) async throws {
        let catalog = await WorkThread.run {
            var random = SplitMix64(seed: plan.seed)
            return TortureCatalog(origin: origin, count: Self.covers, random: &random)
        }
        var setting = Setting(
            catalog: catalog, inspection: CacheInspection(cache: folder.file("cache"), timeLimit: Self.timeLimit))
        do {
            try await setting.inspection.pack(catalog, to: folder.file(TortureJob.Files.pack))
        } catch {
            return tally.update { $0.violations.append(error) }
        }
        while !tally.report.hasViolations, !children.isStopped, !plan.isDone(tally.report) {
            let round = TortureRound(
                number: tally.report.rounds + 1, seed: plan.seed, processes: plan.processes,
                covers: catalog.urls.count, bytes: catalog.bytes)
            try folder.makeFolder(TortureJob.Files.directory)
            do {
                let violations = try await run(round, &setting)
                tally.update { $0.violations += violations }
            } catch let violation as TortureViolation {
                tally.update { $0.violations.append(violation) }
            }
            tally.update { report in
                report.rounds += 1
                report.time = setting.clock.time
            }
        }
    }

    /// Runs the processes of a round, then checks the cache.
    /// - Throws: `TortureViolation` if the cache cannot be opened; an error of the system if no process can be started.
    private func run(_ round: TortureRound, _ setting: inout Setting) async throws -> [TortureViolation] {
        let (catalog, inspection, clock) = (setting.catalog, setting.inspection, setting.clock)
        tally.update { $0.begin(round) }
        let left = try await inspection.prepare(capacity: round.capacity, bytes: round.startBytes)
        var required = RequiredCovers()
        required.replace(by: left, source: "the check before round \(round.number)", at: clock.time)

        let lanes = TortureLanes(
            sleeve: sleeve, folder: folder, children: children, catalog: catalog, durations: setting.durations,
            clock: clock, timeLimit: Self.timeLimit, firstNumber: tally.report.processes + 1
        ) { process in
            let coverBytes = inspection.coverBytes
            tally.update {
                $0.add(process, coverBytes: coverBytes, capacity: round.capacity, at: clock.time)
            }
        }
        let processes = try await lanes.run(round)
        for process in processes { setting.durations.record(process) }
        // Processes that a signal of the user's has ended have not failed.
        let judged = children.isStopped ? [] : processes
        // Where nothing is evicted, a reader must find what was there before.
        let kept = round.kind == .keep ? required : RequiredCovers()
        var violations = judged.flatMap { $0.violations(required: kept, catalog: catalog) }

        required.record(processes, in: round, endedAt: clock.time)
        let contents = try await inspection.check()
        tally.update { report in
            report.read += contents.read.count
            report.required += required.covers.count
        }
        violations += required.violations(listed: contents.listed)
        violations += contents.violations(catalog: catalog, limit: round.coverLimit)
        return violations
    }
}
