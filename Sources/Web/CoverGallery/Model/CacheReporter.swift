import AlbumLibrary
import CoverLibrary

/// Reports the cache's totals to pages.
actor CacheReporter {
    private let library: LibraryAPI
    private let sessions: PageSessions
    private var nextReport = ContinuousClock.now

    init(_ library: LibraryAPI, _ sessions: PageSessions) {
        self.library = library
        self.sessions = sessions
    }

    /// Called periodically.
    func report() async {
        let start = ContinuousClock.now
        guard start >= nextReport, await !sessions.isEmpty, let totals = try? await library.statistics() else {
            return
        }
        // Counting a large cache takes time: at most 5 % of a thread's.
        nextReport = .now + start.duration(to: .now) * 20
        let text = jsonText {
            $0.add("entries", totals.entries)
            $0.add("bytes", totals.chargedBytes)
            $0.add("capacity", totals.capacity)
        }
        await sessions.broadcast("cache", text)
    }
}
