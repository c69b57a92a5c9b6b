import CoverLibrary
import Synchronization

/// The prefetch of the whole library that a page can start; one at a time.
actor PrefetchRun {
    private let library: LibraryAPI
    private let report: @Sendable (String) async -> Void
    private var task: Task<Void, Never>?
    /// The state of the current or last run, as JSON; nil before the first.
    private(set) var state: String?

    /// - Parameter report: Called with the state, four times a second during a run and at its end.
    init(_ library: LibraryAPI, report: @escaping @Sendable (String) async -> Void) {
        self.library = library
        self.report = report
    }

    /// The last failures of a run.
    private final class Failures: Sendable {
        private static let maximumCount = 20
        private let latest = Mutex<[(url: String, problem: CoverProblem)]>([])

        func add(_ outcome: CoverOutcome) {
            // Albums without a usable URL are counted as skipped.
            guard let failure = outcome.failure, outcome.kind != .skipped else { return }
            add(outcome.url, CoverProblem(failure))
        }

        func add(_ url: String, _ problem: CoverProblem) {
            latest.withLock { latest in
                if latest.count >= Self.maximumCount { latest.removeFirst() }
                latest.append((url, problem))
            }
        }

        /// - Parameter titles: Albums' titles by URL.
        func json(_ titles: [String: String]) -> String {
            let rows = latest.withLock { $0 }.map { url, problem in
                jsonText {
                    $0.add("title", titles[url])
                    $0.add("url", url)
                    problem.add(to: &$0, as: "reason")
                }
            }
            return "[" + rows.joined(separator: ",") + "]"
        }
    }

    /// - Returns: False if a prefetch is running already.
    func start() -> Bool {
        if task != nil { return false }
        task = Task {
            await run()
            task = nil
        }
        return true
    }

    /// Cancels the run and waits for its end. Covers that had arrived are kept.
    func stop() async {
        task?.cancel()
        await task?.value
    }

    private func run() async {
        let failures = Failures()
        let progress = PrefetchProgress { failures.add($0) }
        var titles: [String: String] = [:]
        var total = 0
        var ticker: Task<Void, Never>?
        var summary: PrefetchSummary?
        do {
            let albums = try await library.albums
            total = albums.count
            titles = Dictionary(albums.map { (library.coverPlaces(of: $0).first ?? "", $0.title) }) { first, _ in first
            }
            await publish(progress.summary, total, failures.json(titles), isRunning: true)
            ticker = Task { [titles] in
                while (try? await Task.sleep(for: .milliseconds(250))) != nil {
                    await publish(progress.summary, progress.total, failures.json(titles), isRunning: true)
                }
            }
            // A person asked for all covers, so those that were absent before are requested again.
            let result = try await library.prefetch(albums, retryingAbsent: true, progress: progress)
            total = result.requested + result.remaining
            summary = result
        } catch {
            failures.add("", CoverProblem(reason: "\(error)"))
            total = 0
        }
        ticker?.cancel()
        await ticker?.value
        await publish(summary ?? progress.summary, total, failures.json(titles), isRunning: false)
    }

    private func publish(_ summary: PrefetchSummary, _ total: Int?, _ failures: String, isRunning: Bool) async {
        let text = jsonText {
            $0.add("running", isRunning)
            $0.add("total", total)
            for (name, value) in [
                ("settled", summary.settled), ("downloaded", summary.downloaded), ("fresh", summary.fresh),
                ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed),
                ("bytes", summary.bytes),
            ] {
                $0.add(name, value)
            }
            $0.add("seconds", summary.seconds)
            $0.add("coversPerSecond", summary.coversPerSecond)
            $0.add("bytesPerSecond", summary.bytesPerSecond)
            $0.add("failures", raw: failures)
        }
        state = text
        await report(text)
    }
}
