import ArgumentParser
import CoverLibrary
import Synchronization

/// The parts that prefetch and refresh share: signals, the progress line, reported failures, the report, the metrics, the
/// summary and the exit code.
struct CoverRun {
    let failures = FailureReporter()
    private let options: LibraryOptions
    private let report: ReportFile?
    private let metrics: MetricsFile?
    private let progress: PrefetchProgress
    private let failureCounts = FailureCounts()

    private final class FailureCounts: Sendable {
        let byKind = Mutex<[CoverFailure.Kind: Int]>([:])
    }

    /// Creates the report. - Throws: An exit code, after an error message, if the report or the metrics cannot be written.
    init(_ command: String, _ options: LibraryOptions, _ files: RunOptions) throws {
        self.options = options
        let report = try files.report.map { try ReportFile($0) }
        self.report = report
        metrics = try files.metricsFile.map { path in
            try OutputFile.check(path)
            return MetricsFile(path: path, command: command)
        }
        progress = PrefetchProgress { [failures, failureCounts] outcome in
            report?.add(outcome)
            failures.record(outcome)
            if let failure = outcome.failure { failureCounts.byKind.withLock { $0[failure.kind, default: 0] += 1 } }
        } ready: {
            await report?.waitForReader()
        }
    }

    /// Opens the library. If that fails, the metrics record the exit code.
    func opening(_ open: () async throws -> LibraryAPI) async throws -> LibraryAPI {
        do {
            return try await open()
        } catch {
            _ = report?.close()
            let code = (error as? ExitCode) ?? ExitStatus.couldNotRun
            try metrics?.write(.init(summary: progress.summary, failures: [:], exitCode: code.rawValue, cache: nil))
            throw error
        }
    }

    /// Runs `body`, closes the library, and prints the summary.
    /// - Parameter isComplete: Whether every list could be read. It is called at the end.
    /// - Throws: The exit code, unless it is 0.
    func run(
        _ library: LibraryAPI, isComplete: () -> Bool = { true },
        _ body: @escaping @Sendable (PrefetchProgress) async throws -> PrefetchSummary
    ) async throws {
        let work = Task { [progress] in try await body(progress) }
        Signals.handle { _ in work.cancel() }
        let line = Task { if !options.quiet { await ProgressLine(progress).run() } }
        let result = await work.result
        line.cancel()
        await line.value

        failures.summarize(hasReport: report != nil)
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
        let code = exitCode(summary, hasProblem: problem != nil, isComplete: isComplete())
        try metrics?.write(
            .init(
                summary: summary, failures: failureCounts.byKind.withLock { $0 }, exitCode: code?.rawValue ?? 0,
                cache: statistics))
        if case .success = result {
            if options.json {
                try printResult(summary.json(peakMemory: ResidentMemory.peak))
            } else if !options.quiet {
                try printResult(summary.text(isListRead: progress.total != nil))
            }
        }
        if let problem { Log.error(problem) }
        if let code { throw code }
    }

    private func exitCode(_ summary: PrefetchSummary, hasProblem: Bool, isComplete: Bool) -> ExitCode? {
        if let signal = Signals.received { return ExitStatus.stopped(by: signal) }
        if hasProblem || !isComplete { return ExitStatus.couldNotRun }
        return summary.failed + summary.skipped > 0 ? ExitStatus.someFailed : nil
    }
}
