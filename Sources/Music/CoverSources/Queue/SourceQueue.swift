import Platform

/// Sends a GET to a source, with the key that it needs, and returns its response. A key goes to no other origin, not by a redirect either.
/// - Throws: an error whose description says in one line why there is no response.
package typealias SourceTransport = @Sendable (_ url: String, _ key: SourceKey?) async throws -> SourceResponse

/// Why a transport has no response.
package struct SourceTransportError: Error, Sendable, CustomStringConvertible {
    /// In one line, without the URL.
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Asks sources for covers, each with its own manners: one request at a time to a source, within its rate, later when it asks for that. What
/// one source does never holds up another.
///
/// `SourceLane` decides when a request may be sent, `CoverSource` what its answer means, `SourceCandidate` which album it is.
package actor SourceQueue {
    private let sources: [CoverSource]
    private let userAgent: String
    private let memory: SourceMemory?
    private let retriesMissing: Bool
    private let lanes: [SourceName: SourceLane]
    private let clock: SourceClock
    private let notices: SourceNotices
    private var searches = 0
    /// Searches that have not ended: each may come to any source.
    private var current = 0
    /// Why sources are not asked. It is told when another one is: an album whose cover is known needs none.
    private var refusals: [SourceName: String] = [:]
    /// A source with a longer line is asked last.
    private static let maximumWait = Duration.seconds(60)
    /// How many albums of an answer are asked for their details.
    private static let maximumDetails = 3

    /// - Parameters:
    ///   - sources: `CoverSource.table`, in the order of asking.
    ///   - userAgent: what `transport` sends as `User-Agent`.
    ///   - memory: where answers are kept; nil to keep none.
    ///   - rates: where requests are counted; nil to count those of this queue only.
    ///   - retriesMissing: Ask again for what was remembered.
    ///   - notice: receives what a person should know, once for each source.
    package init(
        sources: [CoverSource], userAgent: String, memory: SourceMemory? = nil, rates: SourceRates? = nil,
        retriesMissing: Bool = false, clock: SourceClock = .system,
        notice: @escaping @Sendable (String) -> Void = { _ in },
        transport: @escaping SourceTransport
    ) {
        (self.sources, self.userAgent, self.memory, self.retriesMissing) = (sources, userAgent, memory, retriesMissing)
        self.clock = clock
        let notices = SourceNotices(notice)
        self.notices = notices
        lanes = Dictionary(
            uniqueKeysWithValues: sources.map {
                ($0.name, SourceLane($0, rates: rates, clock: clock, notices: notices, transport: transport))
            })
    }

    /// Asks the sources in order, until one has a cover that is certain. May be called for many albums at a time.
    ///
    /// A source of 20 requests a minute would hold up thousands of albums that a later one has, too. So an album passes a source by whose line
    /// takes longer than a minute, and comes back if no other one is certain without knowing what that source has of its name.
    ///
    /// What the others have answered, now or in earlier runs, weighs when an answer is judged: they may know of several albums of one name.
    /// - Parameters:
    ///   - decisions: what a person has said about the album's pictures.
    ///   - skipped: sources that are not asked: after a picture could not be downloaded, those that were asked before.
    /// - Throws: `CancellationError`.
    package func find(
        _ query: AlbumQuery, _ decisions: Decisions = .init(), skipping skipped: Set<SourceName> = []
    ) async throws -> SourceFindings {
        var search = Search(query, await remembered(query), decisions)
        searches += 1
        current += 1
        defer { current -= 1 }
        var passed: [CoverSource] = []
        for source in sources where !skipped.contains(source.name) && search.findings.certain == nil {
            try Task.checkCancellation()
            if let refusal = source.refusal(userAgent: userAgent) { refusals[source.name] = refusal }
            switch step(source, search) {
            case .answered(let answer, let found):
                // Where the archive's ids lead to is known without the memory.
                search.findings.add(
                    answer.isRemembered ? answer : await noted(answer, [], query), search.decided(found))
            case .ask:
                if await lane(of: source)?.wait() ?? .zero > Self.maximumWait {
                    passed.append(source)
                    continue
                }
                try await ask(source, &search)
                guard let certain = search.findings.certain, !certain.isStrong(query) else { continue }
                // Another album of its name, which a source knows that was passed, would weigh.
                for source in passed { try await ask(source, &search) }
                search.judgeAgain()
                passed = []
            }
        }
        for source in passed {
            if let other = search.findings.certain?.source {
                // Not among the findings: it may still be asked, if the other one's picture cannot be downloaded.
                let detail = "albums were waiting in line for over a minute, and \(other.title) has the cover"
                _ = await noted(answer(source, .notAsked, detail: detail), [], query)
            } else {
                try await ask(source, &search)
            }
        }
        return search.findings
    }

    /// What `find` would ask for an album, by what is remembered of it. Nothing is requested or remembered.
    /// - Returns: The sources, and what `find` knows without them.
    package func plan(
        _ query: AlbumQuery, _ decisions: Decisions
    ) async -> (sources: [SourceName], known: SourceFindings) {
        var search = Search(query, (try? await memory?.record(of: query.key)) ?? SourceMemory.Record(), decisions)
        var names: [SourceName] = []
        for source in sources where search.findings.certain == nil {
            switch step(source, search) {
            case .ask: names.append(source.name)
            case .answered(let answer, let found):
                if !source.known(query).isEmpty { names.append(source.name) }
                if answer.kind != .notAsked { search.findings.add(answer, search.decided(found)) }
            }
        }
        return (names, search.findings)
    }

    /// The source that has the cover at a URL, and how the cover is judged for an album today, by what is remembered of the album that it is of.
    /// Nothing is requested.
    /// - Returns: Nil if nothing is remembered of the cover; no match if that is too little to be certain.
    package func cover(
        at url: String, for query: AlbumQuery, _ decisions: Decisions
    ) async -> (source: SourceName, match: Match?)? {
        let record = (try? await memory?.record(of: query.key)) ?? SourceMemory.Record()
        let known = sources.flatMap { $0.known(query) }
        let all = record.current + known.filter { one in !record.current.contains { $0.source == one.source } }
        guard let found = all.first(where: { $0.pictures.contains(url) }) else { return nil }
        let matching = SourceCandidate.matching(
            query, all.filter { $0.source == found.source }, known: all.filter { $0.source != found.source },
            decisions: decisions)
        let judged = record.decided(matching, decisions, for: query).first { $0.pictures.contains(url) }
        guard let judged else { return (found.source, Match.judge(query, found.album)) }
        return (found.source, judged.match.isByName && judged.needsDetails(for: query) ? nil : judged.match)
    }

    /// The source that needs most time for the albums that are searched, and the time.
    /// - Parameter more: Albums that will be searched after them, most likely with the same sources.
    package func slowest(more: Int) async -> (source: SourceName, time: Duration)? {
        var slowest: (source: SourceName, time: Duration)?
        for source in sources where searches > 0 {
            guard let time = await lanes[source.name]?.time(for: Double(more) / Double(searches)) else { continue }
            if slowest.map({ time > $0.time }) ?? true { slowest = (source.name, time) }
        }
        return slowest
    }

    private func answer(
        _ source: CoverSource, _ kind: SourceAnswer.Kind, url: String = "", detail: String
    ) -> SourceAnswer {
        SourceAnswer(
            source.name, kind, url: Redaction.redact(url), time: clock.timeOfDay(), detail: Redaction.redact(detail))
    }

    // MARK: One source

    /// The search for one album.
    private struct Search {
        let query: AlbumQuery
        let record: SourceMemory.Record
        let decisions: Decisions
        var findings = SourceFindings()

        init(_ query: AlbumQuery, _ record: SourceMemory.Record, _ decisions: Decisions) {
            (self.query, self.record, self.decisions) = (query, record, decisions)
        }

        func decided(_ found: [SourceCandidate]) -> [SourceCandidate] { record.decided(found, decisions, for: query) }

        /// Judges what a source has found, beside what the others have.
        func matching(_ source: SourceName, _ found: [SourceCandidate]) -> [SourceCandidate] {
            let known =
                record.current.filter { $0.source != source } + findings.candidates.filter { $0.source != source }
            return SourceCandidate.matching(query, found, known: known, decisions: decisions)
        }

        mutating func judgeAgain() {
            let judged = findings.answers.flatMap { answer in
                matching(answer.source, findings.candidates.filter { $0.source == answer.source })
            }
            findings.candidates = []
            findings.add(nil, decided(judged))
        }
    }

    private enum Step {
        /// - Parameter found: As it was judged, without what a person has decided.
        case answered(SourceAnswer, [SourceCandidate])
        case ask
    }

    /// The lane of a source's requests. What the archive's ids are of is asked of MusicBrainz.
    private func lane(of source: CoverSource) -> SourceLane? { lanes[source.location?.informant ?? source.name] }

    /// Whether a source is to be asked, or its answer, if that is known.
    private func step(_ source: CoverSource, _ search: Search) -> Step {
        let (query, record) = (search.query, search.record)
        func notAsked(_ why: String) -> Step { .answered(answer(source, .notAsked, detail: why), []) }
        func remembered(_ url: String) -> Step? {
            guard !retriesMissing,
                let (answer, found) = record.answer(of: source.name, to: Redaction.redact(url), at: clock.timeOfDay())
            else { return nil }
            // Judged again: the tags may have changed since.
            let matching = search.matching(source.name, found)
            if let best = matching.first, best.certainty == .certain, best.needsDetails(for: query) { return nil }
            return answer.kind == .notFound || !matching.isEmpty ? .answered(answer, matching) : nil
        }
        if let location = source.location {
            let known = location.candidates(query)
            guard let candidate = known.first else { return notAsked(location.lack) }
            if let details = candidate.details, mayAsk(location.informant) { return remembered(details) ?? .ask }
            return .answered(
                answer(source, .found, detail: location.found), search.matching(source.name, known))
        }
        guard let url = source.search(query) else { return notAsked("the album has no title") }
        // What a source has answered counts, even if it may not be asked now.
        if let known = remembered(url) { return known }
        return source.refusal(userAgent: userAgent).map(notAsked) ?? .ask
    }

    private func mayAsk(_ name: SourceName) -> Bool {
        sources.contains { $0.name == name && $0.refusal(userAgent: userAgent) == nil }
    }

    private func ask(_ source: CoverSource, _ search: inout Search) async throws {
        guard let lane = lane(of: source), await lane.enter() else { throw CancellationError() }
        let result: (SourceAnswer, [SourceCandidate])
        do {
            result = try await answer(of: source, in: lane, search)
        } catch {
            await lane.leave()
            throw error
        }
        await lane.leave()
        let (answer, judged) = result
        let doubted = search.record.doubting(judged, search.decisions, for: search.query)
        let noted = await noted(answer, doubted, search.query)
        search.findings.add(noted, search.decided(judged))
    }

    private func answer(
        of source: CoverSource, in lane: SourceLane, _ search: Search
    ) async throws -> (SourceAnswer, [SourceCandidate]) {
        for (name, refusal) in refusals { notices.tell("\(name)", refusal) }
        let known = source.known(search.query).first
        let urls = known?.details.map { [$0] } ?? source.searches(search.query)
        func answer(_ kind: SourceAnswer.Kind, _ detail: String) -> SourceAnswer {
            self.answer(source, kind, url: urls.first ?? "", detail: detail)
        }
        if let abandonment = await lane.abandonment {
            return (answer(.failed, "given up for this run: \(abandonment)"), [])
        }
        var (all, judged) = ([SourceCandidate](), [SourceCandidate]())
        for url in urls where judged.isEmpty {
            let reading = try await lane.response(to: url, more: current) { response in
                known.map { source.readDetails(response, $0) } ?? source.read(response)
            }
            if let failure = reading.failure { return (answer(failure.kind, failure.detail), []) }
            let found = reading.albums.isEmpty ? [known].compactMap(\.self) : reading.albums
            all += found.filter { !all.contains($0) }
            judged = search.matching(source.name, all)
        }
        for number in 0..<Self.maximumDetails {
            guard let index = all.indexOfDetails(judged, isFirst: number == 0, for: search.query),
                let url = all[index].details
            else { break }
            let candidate = all[index]
            let reading = try await lane.response(to: url, more: current) { source.readDetails($0, candidate) }
            if let failure = reading.failure { return (answer(failure.kind, failure.detail), []) }
            all[index] = reading.albums.first ?? candidate
            all[index].details = nil
            judged = search.matching(source.name, all)
        }
        if let first = judged.first, first.certainty == .certain, first.needsDetails(for: search.query) {
            judged[0] = first.doubted("not asked for more")
        }
        let decided = search.decided(judged)
        func count(_ certainty: Match.Certainty) -> Int { decided.count { $0.certainty == certainty } }
        let (certain, doubtful, refused) = (count(.certain), count(.doubtful), count(.none))
        let isFound = certain + doubtful > 0
        if all.isEmpty { return (answer(.notFound, "no album"), []) }
        let counts = [(certain, "certain"), (doubtful, "doubtful"), (refused, "refused by you")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let albums = all.count == 1 ? "1 album" : "\(all.count) albums"
        let detail = counts.isEmpty ? "none of \(albums) matches" : "\(counts.joined(separator: ", ")) of \(albums)"
        return (answer(isFound ? .found : .notFound, detail), judged)
    }

    // MARK: Memory

    /// What is done with the memory; nil if there is none, or if it fails, which is told.
    @discardableResult
    private func withMemory<Result: Sendable>(_ act: (SourceMemory) async throws -> Result) async -> Result? {
        guard let memory else { return nil }
        do {
            return try await act(memory)
        } catch {
            notices.tell("memory", "\(error)")
            return nil
        }
    }

    private func remembered(_ query: AlbumQuery) async -> SourceMemory.Record {
        await withMemory { try await $0.record(of: query.key) } ?? SourceMemory.Record()
    }

    /// Remembers an answer. - Returns: The answer.
    private func noted(
        _ answer: SourceAnswer, _ found: [SourceCandidate], _ query: AlbumQuery
    ) async -> SourceAnswer {
        await withMemory { try await $0.note(answer, found, of: query.key) }
        return answer
    }

    /// Remembers that a cover could not be downloaded. Of a source that only locates covers this is the answer.
    /// - Parameter isAbsent: Whether its server says that there is none.
    package func didFail(_ candidate: SourceCandidate, _ detail: String, isAbsent: Bool, for query: AlbumQuery) async {
        if isAbsent { await judge(candidate.rejected("the server has no picture of it"), for: query) }
        guard let source = sources.first(where: { $0.name == candidate.source }), source.location != nil,
            await remembered(query).lastAnswers.first(where: { $0.source == source.name })?.url == ""
        else { return }
        _ = await noted(answer(source, isAbsent ? .notFound : .failed, detail: detail), [], query)
    }

    /// Remembers what has shown of a cover after it was found, for the list of doubtful covers.
    /// - Parameter candidate: As it is judged now.
    package func judge(_ candidate: SourceCandidate, for query: AlbumQuery) async {
        await withMemory { try await $0.judge(candidate, of: query.key) }
    }
}
