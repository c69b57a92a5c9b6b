import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

/// The parts that prefetch and refresh share: signals, the progress line, reported failures, the report, the metrics, the
/// summary and the exit code.
struct CoverRun {
    let failures = FailureReporter()
    private let options: LibraryOptions
    private let files: RunOptions
    private let report: ReportFile?
    private let metrics: MetricsFile?

    /// Creates the report. - Throws: An exit code, after an error message, if the report or the metrics cannot be written.
    init(
        _ command: String, _ options: LibraryOptions, _ files: RunOptions, cache: String, shard: Shard? = nil
    ) throws {
        self.options = options
        self.files = files
        report = try files.report.map { try ReportFile($0) }
        metrics = try files.metricsFile.map { path in
            let metrics = MetricsFile(path: path, cache: cache, command: command, shard: shard)
            try metrics.check()
            return metrics
        }
    }

    /// Opens the library, and meanwhile initializes libcurl. If that fails, the metrics record the exit code.
    func opening(isOffline: Bool = false, _ open: () async throws -> LibraryAPI) async throws -> LibraryAPI {
        do {
            async let network: Void = isOffline ? () : LibraryAPI.initializeNetwork()
            let library = try await open()
            await network
            return library
        } catch {
            _ = report?.close()
            let code = (error as? ExitCode) ?? ExitStatus.couldNotRun
            // The first error is the cause. That of the metrics is printed as well.
            try? metrics?.write(.init(summary: RunSummary(), failures: [:], exitCode: code.rawValue, cache: nil))
            throw error
        }
    }

    /// Ends a run that has nothing to do because there is no cache.
    /// - Parameter text: says so.
    /// - Throws: The exit code, if the report, the metrics or the result cannot be written.
    func endWithoutCache(_ text: String) throws {
        let (summary, problem) = (RunSummary(), report?.close())
        try metrics?.write(.init(summary: summary, failures: [:], exitCode: 0, cache: CacheStatistics()))
        try options.printResult(CoverRunResult(summary, evicted: 0, sizes: nil), text: text)
        if let problem { throw fail(problem) }
    }

    /// Runs to the end or to a signal, closes the library, and prints the summary.
    /// - Parameters:
    ///   - sizes: What is made of each cover ahead, in pixels of the longest side.
    ///   - isComplete: Whether every list could be read. It is called at the end.
    ///   - ended: Called before the library closes. Returns the text for a run of nothing.
    /// - Throws: The exit code, unless it is 0.
    func run(
        _ outcomes: CoverOutcomes<LibraryError>, of library: LibraryAPI, sizes: [Int] = [],
        isComplete: () -> Bool = { true },
        ended: (RunSummary) async -> String
    ) async throws {
        let former = library.indexNumber
        let work = Task { try await consume(outcomes, making: sizes, in: library) }
        Signals.handle { _ in work.cancel() }
        let line = Task {
            guard let interval = files.progress.interval(options) else { return }
            var last = (settled: 0, seconds: 0.0)
            await ProgressLine(every: interval).run {
                let counts = outcomes.progress
                if counts.settled > last.settled { last = (counts.settled, counts.seconds) }
                return counts.progress(total: outcomes.total, idle: counts.seconds - last.seconds)
            }
        }
        let result = await work.result
        line.cancel()
        await line.value

        failures.summarize(hasReport: report != nil)
        let summary = outcomes.progress
        let emptyText = await ended(summary)
        let evicted = await library.warnOfEvictedCovers()
        let lost = await lostCovers(summary, evicted: evicted, former: former, library)
        let statistics = metrics == nil ? nil : try? await library.statistics()
        await library.close()
        let reportProblem = report?.close()
        var problem = summary.stopReason
        if case .failure(let error) = result { problem = (error as? LibraryError)?.message ?? "\(error)" }
        problem = problem ?? reportProblem
        let code = exitCode(
            summary, hasProblem: problem != nil, isComplete: isComplete(), isKept: lost == 0)
        let metricsResult = Result {
            try metrics?.write(
                .init(
                    summary: summary, failures: failures.byKind, exitCode: code?.rawValue ?? 0, cache: statistics))
        }
        if case .success(let sizes) = result {
            let text = code == nil ? emptyText : ""
            try options.printResult(
                CoverRunResult(summary, evicted: evicted, sizes: sizes),
                text: summary.isEmpty
                    ? text : summary.text(isListKnown: outcomes.total != nil, sizes: sizes))
        }
        if let problem { Log.error(problem) }
        if let code { throw code }
        // The covers are stored.
        if case .failure = metricsResult { throw ExitStatus.someFailed }
    }

    /// Covers whose sizes are made or wait for it.
    private static let maximumAhead = 64

    /// Reports every outcome, and has sizes of the covers made. Their making slows the reading of the list, as does a stalled reader of the
    /// report; never that of covers on their way.
    /// - Returns: How many were made; nil if none are wanted.
    private func consume(
        _ outcomes: CoverOutcomes<LibraryError>, making sizes: [Int], in library: LibraryAPI
    ) async throws -> Int? {
        try await withThrowingTaskGroup(of: Int.self) { group in
            var (count, made) = (0, 0)
            for try await outcome in outcomes {
                report?.add(outcome)
                failures.record(outcome)
                await report?.ready()
                guard !sizes.isEmpty, let digest = outcome.digest else { continue }
                if count < Self.maximumAhead { count += 1 } else { made += try await group.next() ?? 0 }
                group.addTask {
                    do throws(CoverFailure) {
                        return try await library.makeSizes(sizes, of: digest)
                    } catch {
                        if !error.isGivenUp {
                            failures.warn("the sizes of \(digest) were not made: \(error.detail)")
                        }
                        return 0
                    }
                }
            }
            return sizes.isEmpty ? nil : try await group.reduce(made, +)
        }
    }

    /// Warns if the cache was removed during the run, and made again by what was stored then.
    /// - Returns: How many covers of the run are gone with it, at most: two may have had one URL.
    private func lostCovers(
        _ summary: RunSummary, evicted: Int, former: UInt64, _ library: LibraryAPI
    ) async -> Int {
        if library.indexNumber == former { return 0 }
        var kept = 0
        do { for try await _ in library.listings() { kept += 1 } } catch { return 0 }
        let lost = max(0, summary.downloaded + summary.revalidated + summary.fresh - evicted - kept)
        if lost > 0 {
            Log.warning(
                "the cache was removed during the run, and made again; gone with it: up to \(Decimals.count(lost, "cover")) of the run. Run again to get them"
            )
        }
        return lost
    }

    private func exitCode(
        _ summary: RunSummary, hasProblem: Bool, isComplete: Bool, isKept: Bool
    ) -> ExitCode? {
        if let signal = Signals.received { return ExitStatus.stopped(by: signal) }
        let succeeded = summary.downloaded + summary.revalidated + summary.fresh + summary.joined
        if hasProblem { return succeeded > 0 ? ExitStatus.someFailed : ExitStatus.couldNotRun }
        if !isComplete { return summary.requested > 0 ? ExitStatus.someFailed : ExitStatus.couldNotRun }
        let isDone = summary.failed - summary.gone + summary.skipped == 0
        return isDone && isKept ? nil : ExitStatus.someFailed
    }
}

extension LibraryAPI {
    /// Warns if the covers of a run did not all fit into the cache. - Returns: The number of those that were evicted.
    @discardableResult
    func warnOfEvictedCovers() async -> Int {
        guard let count = try? await evictedNewCovers(), count > 0 else { return 0 }
        Log.warning(
            "\(Decimals.count(count, "new cover")) evicted to make room for others; raise --capacity to keep more")
        return count
    }
}
