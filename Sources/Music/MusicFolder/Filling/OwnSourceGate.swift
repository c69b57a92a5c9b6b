import CoverSources

/// The downloads from a person's own services, which are located without a request: one at a time, until a service has answered one. A service
/// that refuses the person is asked once.
struct OwnSourceGate: Sendable {
    struct Download: Sendable {
        var album: Int
        var urls: [String]
        var cover: SourceCandidate
    }

    enum Admission {
        case download
        /// `didEnd` returns it.
        case wait
        case refuse(String)
    }

    private enum State {
        case asked(waiting: [Download])
        case open
        case closed(String)
    }

    private var states: [SourceName: State] = [:]

    mutating func admit(_ download: Download) -> Admission {
        switch states[download.cover.source] {
        case nil: states[download.cover.source] = .asked(waiting: [])
        case .asked(let waiting):
            states[download.cover.source] = .asked(waiting: waiting + [download])
            return .wait
        case .open: break
        case .closed(let refusal): return .refuse(refusal)
        }
        return .download
    }

    /// A download has ended.
    /// - Parameters:
    ///   - isKnown: Whether its end may have been known without a request.
    ///   - status: That of a failure. A service that has answered may refuse a single picture, by 403.
    /// - Returns: Why the service is asked no more, if that is new, and the downloads that have waited.
    mutating func didEnd(
        _ source: SourceName, isKnown: Bool, status: Int?
    ) -> (refusal: String?, waiting: [Download]) {
        var (refused, waiting): (Set, [Download]) = ([401], [])
        if case .closed = states[source] { return (nil, []) }
        if case .asked(let others) = states[source] {
            (refused, waiting) = ([401, 403], others)
            states[source] = isKnown ? nil : .open
        }
        guard let status, refused.contains(status) else { return (nil, waiting) }
        states[source] = .closed("HTTP \(status)")
        return ("HTTP \(status)", waiting)
    }
}
