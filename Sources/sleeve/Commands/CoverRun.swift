import ArgumentParser
import CoverLibrary
import Synchronization

/// Files that a run writes in addition to stdout.
struct RunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write one JSON line per cover: url, outcome, digest, bytes, milliseconds, error.",
            discussion: "A file, a pipe or a device, but not -: stdout holds the summary.", valueName: "file"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write metrics of the run for Prometheus when it ends: times, outcomes, failures by class, the cache's size.",
            valueName: "file"))
    var metricsFile: String?

    func validate() throws {
        for (path, name) in [(report, "--report"), (metricsFile, "--metrics-file")] {
            if path?.isEmpty == true { throw ValidationError("\(name) needs a file") }
            if path == "-" { throw ValidationError("\(name) needs a file, not -: stdout holds the summary") }
        }
    }
}

/// What a prefetch and a refresh share: signals, the progress line, complaints, the report, the metrics, the summary and the
/// exit code.
struct CoverRun {
    let complaints = Complaints()
    private let options: LibraryOptions
    private let report: ReportFile?
    private let metrics: MetricsFile?
    private let progress: PrefetchProgress
    private let failures = Failures()

    private final class Failures: Sendable {
        let counts = Mutex<[CoverFailure.Kind: Int]>([:])
    }

    /// To be called before anything is done. - Throws: an exit code, when the report or the metrics cannot be written.
    init(_ command: String, _ options: LibraryOptions, _ files: RunOptions) throws {
        self.options = options
        let report = try files.report.map { try ReportFile($0) }
        self.report = report
        metrics = try files.metricsFile.map { path in
            try OutputFile.check(path)
            return MetricsFile(path: path, command: command)
        }
        progress = PrefetchProgress { [complaints, failures] outcome in
            report?.add(outcome)
            complaints.add(outcome)
            if let failure = outcome.failure { failures.counts.withLock { $0[failure.kind, default: 0] += 1 } }
        } ready: {
            await report?.ready()
        }
    }

    /// Opens the library; the metrics tell when that fails, too.
    func opening(_ open: () async throws -> LibraryAPI) async throws -> LibraryAPI {
        do {
            return try await open()
        } catch {
            _ = report?.close()
            let code = (error as? ExitCode) ?? ExitStatus.couldNotRun
            try metrics?.write(
                .init(
                    summary: progress.summary, failures: [:], exitCode: code.rawValue, cache: nil,
                    ended: secondsSince1970()))
            throw error
        }
    }

    /// Does the work, closes the library, and tells what came of it.
    /// - Parameter isWhole: asked at the end; false: not everything could be tried.
    /// - Throws: the exit code, unless everything is there.
    func run(
        _ library: LibraryAPI, isWhole: () -> Bool = { true },
        _ body: @escaping @Sendable (PrefetchProgress) async throws -> PrefetchSummary
    ) async throws {
        let work = Task { [progress] in try await body(progress) }
        Signals.handle { _ in work.cancel() }
        let line = Task { if !options.quiet { await ProgressLine(progress).run() } }
        let result = await work.result
        line.cancel()
        await line.value

        complaints.close(hasReport: report != nil)
        let statistics = metrics == nil ? nil : try? await library.statistics()
        await library.close()
        let reportProblem = report?.close()
        var problem: String?
        let summary: PrefetchSummary
        switch result {
        case .success(let done):
            summary = done
            problem = done.stopReason
        case .failure(let error):
            summary = progress.summary
            problem = (error as? LibraryError)?.message ?? "\(error)"
        }
        problem = problem ?? reportProblem
        let code = exitCode(summary, hasProblem: problem != nil, isWhole: isWhole())
        try metrics?.write(
            .init(
                summary: summary, failures: failures.counts.withLock { $0 }, exitCode: code?.rawValue ?? 0,
                cache: statistics, ended: secondsSince1970()))
        if case .success = result {
            if options.json {
                try tell(summary.json(peakMemory: peakMemory()))
            } else if !options.quiet {
                try tell(summary.text(isListRead: progress.total != nil))
            }
        }
        if let problem { Log.error(problem) }
        if let code { throw code }
    }

    private func exitCode(_ summary: PrefetchSummary, hasProblem: Bool, isWhole: Bool) -> ExitCode? {
        if let signal = Signals.received { return ExitStatus.stopped(by: signal) }
        if hasProblem { return ExitStatus.couldNotRun }
        if !isWhole { return ExitStatus.couldNotRun }
        return summary.failed + summary.skipped > 0 ? ExitStatus.someFailed : nil
    }
}
