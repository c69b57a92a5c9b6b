import CoverLibrary

/// The state of a cover on a page.
enum CoverState: Sendable {
    /// It is cached. Stale: it may have changed at its server since.
    case ready(digest: String, isStale: Bool)
    case waiting
    case failed(CoverProblem)

    init(_ cached: LibraryAPI.CoverStatus) {
        self = .ready(digest: cached.digest, isStale: cached.isStale)
    }

    var json: String {
        jsonText {
            switch self {
            case .ready(let digest, let isStale):
                $0.add("digest", digest)
                if isStale { $0.add("stale", true) }
            case .waiting: $0.add("waiting", true)
            case .failed(let problem): problem.add(to: &$0, as: "failure")
            }
        }
    }
}
