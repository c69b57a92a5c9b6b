import CoverLibrary

/// What a page can show of a cover.
enum CoverState: Sendable {
    /// It is cached in this version. Stale: it may have changed at its server since.
    case ready(String, isStale: Bool)
    case waiting
    case failed(CoverProblem)

    init(_ cached: LibraryAPI.CoverStatus) {
        self = .ready(CoverVersion.of(cached.digest), isStale: cached.isStale)
    }

    var json: String {
        jsonText {
            switch self {
            case .ready(let version, let isStale):
                $0.add("version", version)
                if isStale { $0.add("stale", true) }
            case .waiting: $0.add("waiting", true)
            case .failed(let problem): problem.add(to: &$0, as: "failure")
            }
        }
    }
}

/// A cover's version in URLs: the beginning of its digest.
enum CoverVersion {
    static func of(_ digest: String) -> String { String(digest.prefix(12)) }
}
