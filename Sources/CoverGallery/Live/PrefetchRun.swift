import CoverLibrary
import Synchronization

/// The prefetch of the whole library that a page can start; one at a time.
actor PrefetchRun {
    private static let mostFailures = 20
    private let library: LibraryAPI
    private let tell: @Sendable (String) async -> Void
    private var work: Task<Void, Never>?
    /// The titles of the albums under way, by their covers' URLs.
    private var titles: [String: String] = [:]
    /// The state of the run under way, or of the last one; nil before the first.
    private(set) var state: String?

    /// - Parameter tell: gets the state, as JSON, four times a second while a run is under way, and at its end.
    init(_ library: LibraryAPI, tell: @escaping @Sendable (String) async -> Void) {
        self.library = library
        self.tell = tell
    }

    private final class Failures: Sendable {
        let latest = Mutex<[(url: String, problem: CoverProblem)]>([])

        func add(_ outcome: CoverOutcome) {
            // An album that has no cover has failed nobody.
            guard let failure = outcome.failure, outcome.kind != .skipped else { return }
            add(outcome.url, CoverProblem(failure))
        }

        func add(_ url: String, _ problem: CoverProblem) {
            latest.withLock { latest in
                if latest.count >= PrefetchRun.mostFailures { latest.removeFirst() }
                latest.append((url, problem))
            }
        }
    }

    /// False: one is running.
    func start() -> Bool {
        if work != nil { return false }
        work = Task {
            await run()
            work = nil
        }
        return true
    }

    /// Returns when it has stopped; what had arrived is kept.
    func stop() async {
        work?.cancel()
        await work?.value
    }

    private func run() async {
        let failures = Failures()
        let progress = PrefetchProgress { failures.add($0) }
        let ticker = Task {
            while (try? await Task.sleep(for: .milliseconds(250))) != nil {
                await report(progress.summary, progress.total, failures, isRunning: true)
            }
        }
        do {
            let albums = try await library.albums.all()
            titles = Dictionary(albums.map { (library.coverPlaces(of: $0).first ?? "", $0.title) }) { first, _ in first
            }
            await report(progress.summary, albums.count, failures, isRunning: true)
            // Somebody has asked for it just now: what was not there before may be.
            let summary = try await library.prefetch(albums, retryingAbsent: true, progress: progress)
            ticker.cancel()
            await ticker.value
            await report(summary, summary.requested + summary.remaining, failures, isRunning: false)
        } catch {
            ticker.cancel()
            failures.add("", CoverProblem(reason: "\(error)"))
            await report(progress.summary, 0, failures, isRunning: false)
        }
    }

    private func report(_ summary: PrefetchSummary, _ total: Int?, _ failures: Failures, isRunning: Bool) async {
        var object = JSONObject()
        object.add("running", isRunning)
        object.add("total", total)
        for (name, value) in [
            ("settled", summary.settled), ("downloaded", summary.downloaded), ("fresh", summary.fresh),
            ("joined", summary.joined), ("skipped", summary.skipped), ("failed", summary.failed),
            ("bytes", summary.bytes),
        ] {
            object.add(name, value)
        }
        object.add("seconds", summary.seconds)
        object.add("coversPerSecond", summary.coversPerSecond)
        object.add("bytesPerSecond", summary.bytesPerSecond)
        let rows = failures.latest.withLock { $0 }.map { failure in
            var row = JSONObject()
            row.add("title", titles[failure.url])
            row.add("url", failure.url)
            failure.problem.add(to: &row, as: "reason")
            return row.text
        }
        object.add("failures", raw: "[" + rows.joined(separator: ",") + "]")
        state = object.text
        await tell(object.text)
    }
}
