import CoverLibrary

/// What a page can show of a cover.
enum CoverState: Sendable, Equatable {
    /// It is in the cache, under this version, and perhaps older than its server likes.
    case ready(String, isStale: Bool)
    case waiting
    /// It cannot be had, and why.
    case failed(CoverProblem)

    var json: String {
        var object = JSONObject()
        switch self {
        case .ready(let version, let isStale):
            object.add("version", version)
            if isStale { object.add("stale", true) }
        case .waiting: object.add("waiting", true)
        case .failed(let problem): problem.add(to: &object, as: "failure")
        }
        return object.text
    }
}
