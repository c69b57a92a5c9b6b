/// What the sources have for an album.
package struct SourceFindings: Sendable {
    /// The covers that match, the certain ones first, then in the order of asking.
    package var candidates: [SourceCandidate] = []
    /// The answer of each source that was asked, in order.
    package var answers: [SourceAnswer] = []
    /// Whether a person has refused a cover that was found.
    package var areRefused = false

    package init() {}

    /// The best certain cover.
    package var certain: SourceCandidate? { candidates.first { $0.certainty == .certain } }

    /// The sources that are done with: pass them to `SourceQueue.find` to ask the others only.
    package var askedSources: Set<SourceName> { Set(answers.map(\.source)) }

    mutating func add(_ answer: SourceAnswer, _ found: [SourceCandidate]) {
        answers.append(answer)
        areRefused = areRefused || found.contains { $0.match == .refused }
        order(candidates + found)
    }

    /// Replaces the covers of a source.
    mutating func set(_ found: [SourceCandidate], of source: SourceName) {
        order(found + candidates.filter { $0.source != source })
    }

    private mutating func order(_ all: [SourceCandidate]) {
        candidates = all.filter { $0.certainty == .certain } + all.filter { $0.certainty == .doubtful }
    }
}
