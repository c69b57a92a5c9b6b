import ArgumentParser
import CoverLibrary

/// What a prefetch and a refresh share: signals, the progress line, complaints, the report, the summary and the exit code.
struct CoverRun {
    let complaints = Complaints()
    private let options: LibraryOptions
    private let report: ReportFile?
    private let progress: PrefetchProgress

    /// - Parameter report: where each cover's outcome is written; nil: nowhere.
    /// - Throws: an exit code, when it cannot be written.
    init(_ options: LibraryOptions, report path: String?) throws {
        self.options = options
        let report = try path.map { try ReportFile($0) }
        self.report = report
        progress = PrefetchProgress { [complaints] outcome in
            report?.add(outcome)
            complaints.add(outcome)
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
        await library.close()
        try report?.close()
        let summary: PrefetchSummary
        do {
            summary = try result.get()
        } catch {
            throw fail((error as? LibraryError)?.message ?? "\(error)")
        }
        if options.json {
            try tell(summary.json(peakMemory: peakMemory()))
        } else if !options.quiet {
            try tell(summary.text)
        }
        if let reason = summary.stopReason { throw fail(reason) }
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        if !isWhole() { throw ExitStatus.couldNotRun }
        if summary.failed + summary.skipped > 0 { throw ExitStatus.someFailed }
    }
}
