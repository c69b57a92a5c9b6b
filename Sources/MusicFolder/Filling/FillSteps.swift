import CoverSources

/// Decides what is tried next for one album: its own URLs, then the sources in their order, each until it has a certain cover that can be
/// downloaded; at the end, if that is wanted, the doubtful ones.
struct FillSteps: Sendable {
    enum Step: Sendable, Hashable {
        /// Download the first of these that is there.
        case download([String], SourceCandidate?)
        /// Ask the sources other than these.
        case search(skipping: Set<SourceName>)
        case end(End)
    }

    enum End: Sendable, Hashable {
        /// No source has a cover that matches.
        case missing
        /// The covers that match are doubtful.
        case doubtful([SourceCandidate])
        /// A cover was found, or may be there, and could not be downloaded.
        /// - Parameter isKnown: The source is given up, of which the queue has given notice.
        case failed(String, isKnown: Bool = false)
    }

    private let sources: Set<SourceName>
    private let acceptsDoubtful: Bool
    private var own: [String]
    private var candidates: [SourceCandidate] = []
    private var doubtful: [SourceCandidate] = []
    private var asked: Set<SourceName> = []
    /// Why something could not be asked or downloaded, apart from its absence.
    private var failure: (reason: String, isKnown: Bool)?

    /// - Parameters:
    ///   - own: The album's own cover URLs.
    ///   - sources: All that may be asked.
    init(own: [String], sources: Set<SourceName>, acceptsDoubtful: Bool) {
        (self.own, self.sources, self.acceptsDoubtful) = (own, sources, acceptsDoubtful)
    }

    mutating func next() -> Step {
        if !own.isEmpty {
            defer { own = [] }
            return .download(own, nil)
        }
        if !candidates.isEmpty { return download(candidates.removeFirst()) }
        if !asked.isSuperset(of: sources) { return .search(skipping: asked) }
        if acceptsDoubtful, !doubtful.isEmpty { return download(doubtful.removeFirst()) }
        if !doubtful.isEmpty { return .end(.doubtful(doubtful)) }
        return .end(failure.map { .failed($0.reason, isKnown: $0.isKnown) } ?? .missing)
    }

    private func download(_ candidate: SourceCandidate) -> Step { .download(candidate.pictures, candidate) }

    /// What a search has found. Sources after one that has a certain cover were not asked.
    mutating func add(_ findings: SourceFindings) {
        candidates += findings.candidates.filter { $0.certainty == .certain }
        doubtful += findings.candidates.filter { $0.certainty == .doubtful }
        asked.formUnion(findings.askedSources)
        // A search that asks nothing must not be repeated for ever.
        if findings.answers.isEmpty { asked = sources }
        if let answer = findings.answers.last(where: { $0.kind == .failed || $0.kind == .throttled }) {
            failure = ("\(answer.source.title): \(answer.detail)", answer.isGivenUp)
        }
    }

    /// A cover that was certain may be another album's.
    mutating func doubt(_ candidate: SourceCandidate) { doubtful.append(candidate) }

    /// A download has failed.
    /// - Parameter isAbsent: The server says that there is no such cover.
    mutating func didFail(_ reason: String, isAbsent: Bool) { if !isAbsent { failure = (reason, false) } }
}
