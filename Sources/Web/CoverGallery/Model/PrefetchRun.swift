import AlbumLibrary
import CoverLibrary

/// The prefetch of the whole library that a page can start; one at a time.
actor PrefetchRun {
    /// Failures that pages show: the last ones of a run.
    private static let maximumFailures = 20

    private let library: LibraryAPI
    private let sessions: PageSessions
    private var task: Task<Void, Never>?
    /// Of the current or last run, as JSON.
    private var failures: [String] = []

    init(_ library: LibraryAPI, _ sessions: PageSessions) {
        self.library = library
        self.sessions = sessions
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
        failures = []
        var (total, summary) = (0, RunSummary())
        do {
            // An album whose cover is a person's file needs no other.
            let albums = try await library.albums.all().filter { album in
                album.coverFile == nil || (try? library.keys(of: CoverRequest(album: album))) != nil
            }
            total = albums.count
            // The user asked for all covers, so those with a cached 404 or 410 are requested again.
            let outcomes = library.prefetch(albums, cachePolicy: .ignoreAbsence)
            defer { summary = outcomes.progress }
            async let _: Void = publish(total: albums.count) { outcomes.progress }
            for try await outcome in outcomes {
                // Albums without a usable URL are counted as skipped.
                guard let failure = outcome.failure, outcome.kind != .skipped else { continue }
                add(CoverProblem(failure), url: outcome.url, album: outcome.line.map { albums[$0 - 1] })
            }
            if let cause = outcomes.progress.stopReason {
                add(CoverProblem(reason: "The other covers could not be saved.", cause: cause), url: "", album: nil)
            }
        } catch {
            add(CoverProblem(reason: "\(error)"), url: "", album: nil)
        }
        await publish(summary, total: total, isRunning: false)
    }

    private func add(_ problem: CoverProblem, url: String, album: Album?) {
        if failures.count >= Self.maximumFailures { failures.removeFirst() }
        failures.append(
            jsonText {
                $0.add("album", album?.id)
                $0.add("title", album?.title)
                $0.add("url", OwnPictures.isAddress(url) ? "" : url)
                problem.add(to: &$0, as: "reason")
            })
    }

    /// Publishes a run's state four times a second until the task is cancelled.
    private func publish(total: Int, _ progress: @Sendable () -> RunSummary) async {
        repeat {
            await publish(progress(), total: total, isRunning: true)
        } while (try? await Task.sleep(for: .milliseconds(250))) != nil
    }

    private func publish(_ summary: RunSummary, total: Int, isRunning: Bool) async {
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
            $0.add("seconds", summary.duration / .seconds(1))
            $0.add("coversPerSecond", summary.coversPerSecond)
            $0.add("bytesPerSecond", summary.bytesPerSecond)
            $0.add("failures", raw: "[" + failures.joined(separator: ",") + "]")
        }
        await sessions.broadcast("prefetch", text)
    }
}
