import CoverLibrary
import Foundation
import ServiceLifecycle

/// Downloads covers that are missing, and refreshes those that are stale, now and then.
struct CoverKeeper: Service {
    let library: LibraryAPI
    let urls: [URL]
    let interval: Duration

    func run() async throws {
        // Cancelled by the shutdown: what has arrived is stored.
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                _ = try await library.prefetch(urls).summary()
                _ = try await library.refresh().summary()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
    }
}
