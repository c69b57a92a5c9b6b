/// What the sources have for one album: of each the walk over its requests, as far as answers are known.
struct SourceSearch: Sendable {
    private let comparison: AlbumComparison
    private let decisions: Decisions
    private(set) var walks: [SourceWalk]
    private(set) var findings = SourceFindings()

    /// Takes all walks with the answers that are kept.
    /// - Parameters:
    ///   - asked: The sources that may be asked; nil for all.
    ///   - trusted: Those whose ids need not be asked for.
    init(
        _ sources: [CoverSource], _ query: AlbumQuery, _ decisions: Decisions, asking asked: [SourceName]? = nil,
        trusting trusted: [SourceName] = [],
        _ client: SourceWalk.Client
    ) async rethrows {
        let comparison = AlbumComparison(query)
        (self.comparison, self.decisions) = (comparison, decisions)
        walks = sources.map { source in
            let mayAsk = source.location.map { asked?.contains($0.informant) ?? true } ?? true
            let isTrusted = trusted.contains(source.name)
            return SourceWalk(source, comparison, decisions, asksInformant: mayAsk, trustsIDs: isTrusted)
        }
        for index in walks.indices { try await walks[index].run(client) }
        for index in walks.indices { judge(index) }
    }

    /// A walk that has not begun.
    func walk(over source: CoverSource) -> SourceWalk {
        var walk = SourceWalk(source, comparison, decisions)
        walk.judge(beside: walks)
        return walk
    }

    /// Judges the answers of a source by what is known of others by now.
    mutating func judge(_ index: Int) { walks[index].judge(beside: walks) }

    /// Covers with what a person has decided in place of what was judged, the best first.
    func decided(_ covers: [SourceCandidate]) -> [SourceCandidate] {
        covers.decided(by: decisions, for: comparison.query, among: walks.filter { $0.time != nil }.flatMap(\.covers))
    }

    /// Adds what is known of a source.
    mutating func add(_ answer: SourceAnswer, of index: Int) {
        findings.add(answer, answer.kind == .notAsked ? [] : decided(walks[index].covers))
    }

    /// Adds what a source has answered. What it has answered before weighs still if it could not answer now.
    mutating func add(_ walk: SourceWalk, at index: Int, _ now: Int64) {
        if walk.failure == nil { walks[index] = walk }
        let covers = decided(walk.covers)
        findings.add(walk.answer(covers, at: now), covers)
    }

    /// Leaves out a cover, whose picture is not there.
    mutating func leaveOut(_ cover: SourceCandidate) {
        findings.candidates.removeAll { $0.identity == cover.identity }
    }

    /// Judges the answers of a source again, after another one was asked. If that could not answer, the covers of the source wait for the next
    /// search.
    mutating func judgeAgain(_ index: Int, beside other: Int) {
        judge(index)
        let name = walks[other].source.name
        let isAnswered = findings.answers.last { $0.source == name }?.lifetime != nil
        findings.set(isAnswered ? decided(walks[index].covers) : [], of: walks[index].source.name)
    }
}
