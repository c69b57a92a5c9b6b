import AlbumLibrary
import CoverLibrary
import Platform

/// Sends queued edits to the remote library, with exponential backoff after failures, and reports the queue to pages.
actor RemoteSync {
    private static let maximumBackoff = 60.0
    private let library: LibraryAPI
    private let url: String
    private let sessions: PageSessions
    /// In seconds.
    private var backoff = 1.0
    private var retryAt = ContinuousClock.now
    private var problem: String?

    init(_ library: LibraryAPI, url: String, _ sessions: PageSessions) {
        self.library = library
        self.url = url
        self.sessions = sessions
    }

    /// Called periodically.
    func send() async {
        if retryAt <= .now {
            do {
                let outbox = try await library.albums.sendEdits()
                if outbox.problem != nil {
                    retryAt = .now + .seconds(backoff * .random(in: 0.5...1))
                    backoff = min(backoff * 2, Self.maximumBackoff)
                } else {
                    backoff = 1
                }
                problem = outbox.refused.first ?? outbox.problem
            } catch {
                problem = "\(error)"
            }
        }
        guard let waiting = try? await library.albums.waitingEdits() else { return }
        await sessions.broadcast("remote", Self.state(url: url, waiting: waiting, problem: problem))
    }

    /// - Parameter waiting: How many edits are queued.
    static func state(url: String, waiting: Int, problem: String?) -> String {
        jsonText {
            $0.add("url", Redaction.redact(url))
            $0.add("waiting", waiting)
            $0.add("problem", problem.map { Redaction.redact($0) })
        }
    }
}
