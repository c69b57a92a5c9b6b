import AlbumLibrary
import CoverLibrary
import Platform

/// The state of a cover on a page.
enum CoverState: Sendable {
    /// It is cached. Stale: it may have changed at its server since.
    case ready(CoverStatus)
    case waiting
    case failed(CoverProblem)

    init(_ cached: CoverStatus) {
        self = .ready(cached)
    }

    var json: String {
        jsonText {
            switch self {
            case .ready(let cached):
                $0.add("digest", cached.digest)
                if cached.isStale { $0.add("stale", true) }
                // What a page paints before it has the cover.
                if let color = cached.color { $0.add("color", color) }
            case .waiting: $0.add("waiting", true)
            case .failed(let problem): problem.add(to: &$0, as: "failure")
            }
        }
    }
}
