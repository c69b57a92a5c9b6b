import Platform

/// A request to a source.
struct SourceRequest: Sendable {
    let url: String
    /// What identifies it in the memory: the service's name stands for its address, which may hold a password, and may be a mirror's.
    let key: String
    let read: @Sendable (SourceResponse) -> SourceReading
}

/// The requests to a source for one album, one after the other, and what their answers say of it by today's facts: a fill takes the walk with the
/// network, all others take it with the kept answers alone.
struct SourceWalk: Sendable {
    /// Returns the answer to a request, and when it was given, in milliseconds since 1970; nil if there is none.
    typealias Client = @Sendable (SourceRequest) async throws -> (reading: SourceReading, time: Int64)?

    let source: CoverSource
    private let comparison: AlbumComparison
    private let decisions: Decisions
    /// What other sources have answered: they may know of several albums of one name.
    private var known: [SourceCandidate] = []
    private var namesakes = SourceCandidate.Namesakes()
    /// The album as it is located without a request.
    private let located: SourceCandidate?
    /// What is requested, in this order, until one answers with an album that may be it.
    private let paths: [String]
    private let trustsIDs: Bool
    /// The albums of the answers.
    private(set) var albums: [SourceCandidate] = []
    /// Those that match, and those that a person has decided about, the best first.
    private(set) var covers: [SourceCandidate] = []
    /// When the oldest of the answers was given; nil if there is none.
    private(set) var time: Int64?
    private var (lacksAnswer, needsMore) = (false, false)
    private(set) var failure: (kind: SourceAnswer.Kind, detail: String)?
    /// How many albums of an answer are asked for their details.
    private static let maximumDetails = 3

    /// - Parameters:
    ///   - asksInformant: Whether the source may be asked that knows what is located.
    ///   - trustsIDs: Whether what is located counts if it may not.
    init(
        _ source: CoverSource, _ comparison: AlbumComparison, _ decisions: Decisions, asksInformant: Bool = true,
        trustsIDs: Bool = false
    ) {
        (self.source, self.comparison, self.decisions) = (source, comparison, decisions)
        let query = comparison.query
        located = source.known(query).first
        let details = asksInformant ? located?.details : nil
        paths = source.location == nil ? source.searches(query) : [details].compactMap(\.self)
        self.trustsIDs = trustsIDs && paths.isEmpty
    }

    /// Why nothing can be requested or located; nil if something can.
    var lack: String? {
        paths.isEmpty && located == nil ? source.location?.lack ?? "the album has no title" : nil
    }

    /// Whether nothing is to be requested, as far as answers go.
    var isComplete: Bool { !lacksAnswer && !needsMore }

    mutating func run(_ client: Client) async rethrows {
        for path in paths where covers.isEmpty {
            let reading = try await answer(to: path, located == nil ? source.read : source.readDetails, client)
            if failure != nil { return }
            guard let reading else {
                lacksAnswer = true
                continue
            }
            let found = located.map { located in reading.albums.prefix(1).map { located.described(by: $0) } }
            albums += (found ?? reading.albums).filter { !albums.contains($0) }
            judge()
        }
        // An id of which nothing was asked proves nothing.
        if time == nil, let located {
            albums = [located]
            if trustsIDs { judge() }
        }
        for number in 0..<Self.maximumDetails where time != nil {
            guard let index = albums.indexOfDetails(covers, isFirst: number == 0, for: comparison),
                let path = albums[index].details
            else { break }
            guard let reading = try await answer(to: path, source.readDetails, client) else {
                // Another album of the same name has asked for no more than the names.
                lacksAnswer = true
                break
            }
            if failure != nil { return }
            if let details = reading.albums.first { albums[index] = albums[index].adding(details) }
            albums[index].details = nil
            judge()
        }
        endJudging()
    }

    private mutating func answer(
        to path: String, _ read: @escaping @Sendable (SourceResponse) -> SourceReading, _ client: Client
    ) async rethrows -> SourceReading? {
        let (name, base) = source.informant
        let request = SourceRequest(url: base + path, key: "\(name)\(path)", read: read)
        guard let (reading, time) = try await client(request) else { return nil }
        failure = reading.failure
        if failure != nil { (albums, covers) = ([], []) }
        self.time = min(self.time ?? time, time)
        return reading
    }

    private mutating func judge() {
        needsMore = false
        namesakes = .init(albums + known, comparison)
        covers = SourceCandidate.matching(comparison, albums, namesakes, decisions)
    }

    /// A certain cover of which the source could say more is not certain yet.
    private mutating func endJudging() {
        guard let first = covers.first, first.certainty == .certain, time != nil, first.needsDetails(for: comparison)
        else { return }
        needsMore = true
        covers[0] = first.doubted("not asked for more")
    }

    /// Judges the answers beside those of other sources.
    mutating func judge(beside others: some Sequence<SourceWalk>) {
        let now = others.filter { $0.source.name != source.name && $0.time != nil }.flatMap(\.covers)
        if now == known { return }
        known = now
        if .init(albums + known, comparison) == namesakes { return }
        judge()
        endJudging()
    }

    /// What the source answered.
    /// - Parameters:
    ///   - decided: The covers with what a person has decided.
    ///   - now: milliseconds since 1970.
    func answer(_ decided: [SourceCandidate], at now: Int64) -> SourceAnswer {
        func answer(_ kind: SourceAnswer.Kind, _ detail: String) -> SourceAnswer {
            SourceAnswer(
                source.name, kind, url: paths.first.map { Redaction.redact(source.informant.base + $0) } ?? "",
                time: time ?? now,
                detail: Redaction.redact(detail))
        }
        if let failure { return answer(failure.kind, failure.detail) }
        if let lack { return answer(.notAsked, lack) }
        if let location = source.location, time == nil {
            return trustsIDs ? answer(.found, location.found) : answer(.notAsked, location.doubt)
        }
        if albums.isEmpty { return answer(.notFound, "no album") }
        func count(_ certainty: Match.Certainty) -> Int { decided.count { $0.certainty == certainty } }
        let (certain, doubtful) = (count(.certain), count(.doubtful))
        let counts = [(certain, "certain"), (doubtful, "doubtful"), (count(.none), "refused by you")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let all = albums.count == 1 ? "1 album" : "\(albums.count) albums"
        let detail = counts.isEmpty ? "none of \(all) matches" : "\(counts.joined(separator: ", ")) of \(all)"
        return answer(certain + doubtful > 0 ? .found : .notFound, detail)
    }
}

extension SourceCandidate {
    /// What is located by its ids: all else is what the source says of them.
    fileprivate func described(by details: SourceCandidate) -> SourceCandidate {
        var candidate = self
        candidate.album = AlbumQuery(
            artist: "", title: "", releaseID: album.releaseID, releaseGroupID: album.releaseGroupID)
        return candidate.adding(details)
    }
}

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
