import CoverSources

/// The downloads from a person's own services, which are located without a request: one at first, and the others once the service has
/// answered. One that refuses the person is asked once.
struct OwnSourceGate: Sendable {
    struct Download: Sendable {
        var album: Int
        var urls: [String]
        var cover: SourceCandidate
    }

    enum Admission {
        case download
        /// `didAnswer` returns it.
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
        let source = download.cover.source
        switch states[source] {
        case nil:
            states[source] = .asked(waiting: [])
            return .download
        case .asked(let waiting):
            states[source] = .asked(waiting: waiting + [download])
            return .wait
        case .open: return .download
        case .closed(let refusal): return .refuse(refusal)
        }
    }

    /// A download has ended.
    /// - Parameters:
    ///   - isAnswer: Whether the service has answered it in this run.
    ///   - status: That of a failure.
    /// - Returns: Why the service is asked no more, if that is new, and the downloads that have waited.
    mutating func didAnswer(_ source: SourceName, isAnswer: Bool, status: Int?) -> (
        refusal: String?, waiting: [Download]
    ) {
        var waiting: [Download] = []
        switch states[source] {
        case nil, .closed: return (nil, [])
        case .asked(let others): waiting = others
        case .open: break
        }
        // One that has answered may refuse a single picture.
        if let status, status == 401 || status == 403 && !isOpen(source) {
            states[source] = .closed("HTTP \(status)")
            return ("HTTP \(status)", waiting)
        }
        // A cover that was cached says nothing of the service.
        states[source] = isAnswer || isOpen(source) ? .open : nil
        return (nil, waiting)
    }

    private func isOpen(_ source: SourceName) -> Bool { if case .open = states[source] { true } else { false } }
}
