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
/// `SourceLane` decides when a request may be sent, `SourceWalk` which is next, `CoverSource` what its answer means, `SourceCandidate` which album
/// it is.
package actor SourceQueue {
    private let sources: [CoverSource]
    private let others: [CoverSource]
    private let userAgent: String
    private let memory: SourceMemory?
    private let retriesMissing: Bool
    private let lanes: [SourceName: SourceLane]
    private let clock: SourceClock
    private let notices: SourceNotices
    /// When the queue was made: answers since then are those of this run.
    private let start: Int64
    private var searches = 0
    /// Searches that have not ended: each may come to any source.
    private var current = 0
    /// Of each source, the searches that have come to it or past it, and those of them that ask it.
    private var counts: [(passed: Int, asking: Int)]
    /// Why sources are not asked. It is told when another one is: an album whose cover is known needs none.
    private var refusals: [SourceName: String] = [:]

    /// - Parameters:
    ///   - sources: `CoverSource.table`, in the order of asking.
    ///   - others: sources that are not asked, but for what an id is of. What is kept of their answers weighs, too.
    ///   - userAgent: what `transport` sends as `User-Agent`.
    ///   - memory: where answers are kept; nil to keep none.
    ///   - rates: where requests are counted; nil to count those of this queue only.
    ///   - retriesMissing: Ask again for what is kept of earlier runs.
    ///   - notice: receives what a person should know, once for each source.
    package init(
        sources: [CoverSource], others: [CoverSource] = [], userAgent: String, memory: SourceMemory? = nil,
        rates: SourceRates? = nil,
        retriesMissing: Bool = false, clock: SourceClock = .system,
        notice: @escaping @Sendable (String) -> Void = { _ in },
        transport: @escaping SourceTransport
    ) {
        (self.sources, self.others, self.userAgent, self.memory) = (sources, others, userAgent, memory)
        (self.retriesMissing, self.clock, start) = (retriesMissing, clock, clock.timeOfDay())
        let notices = SourceNotices(notice)
        (self.notices, counts) = (notices, Array(repeating: (0, 0), count: sources.count))
        let requested = Set(sources.map(\.informant.name))
        lanes = Dictionary(
            uniqueKeysWithValues: (sources + others).filter { requested.contains($0.name) }.map {
                ($0.name, SourceLane($0, rates: rates, clock: clock, notices: notices, transport: transport))
            })
    }

    /// Asks the sources in order, until one has a cover that is certain, and of the album's own edition. That of another edition, which may have
    /// another picture, is taken if no source has one. May be called for many albums at a time: none passes a source by because
    /// others wait for it, so that an album gets the same cover alone and among thousands.
    ///
    /// What the others have answered, now or in earlier runs, weighs when an answer is judged: they may know of several albums of one name. An
    /// album whose songs' lengths the source does not tell is certain only if the next quick source was asked, too.
    /// - Parameters:
    ///   - decisions: what a person has said about the album's pictures.
    ///   - skipped: sources that are not asked: after a picture could not be downloaded, those that were asked before.
    /// - Throws: `CancellationError`.
    package func find(
        _ query: AlbumQuery, _ decisions: Decisions = .init(), skipping skipped: Set<SourceName> = []
    ) async throws -> SourceFindings {
        var search = await search(query, decisions)
        searches += 1
        current += 1
        defer { current -= 1 }
        for index in sources.indices {
            counts[index].passed += 1
            let isDone = skipped.union(search.findings.askedSources).contains(sources[index].name)
            if isDone || search.findings.areEnough { continue }
            try await take(index, &search)
            await leaveOutAbsent(&search)
            guard let next = witness(after: index, search, query, skipped) else { continue }
            try await take(next, &search)
            search.judgeAgain(index, beside: next)
            await leaveOutAbsent(&search)
        }
        return search.findings
    }

    private func take(_ index: Int, _ search: inout SourceSearch) async throws {
        try Task.checkCancellation()
        let source = sources[index]
        if let refusal = source.refusal(userAgent: userAgent) { refusals[source.name] = refusal }
        if let answer = known(index, &search) {
            search.add(answer, of: index)
        } else {
            counts[index].asking += 1
            try await ask(index, &search)
        }
    }

    /// The next quick source, which may know an album of the name with other lengths, if the certain cover of a source has none; nil if it has, or
    /// if there is no such source.
    private func witness(
        after index: Int, _ search: SourceSearch, _ query: AlbumQuery, _ skipped: Set<SourceName>
    ) -> Int? {
        guard let certain = search.findings.certain, certain.source == sources[index].name, certain.match.isByName,
            SongLengths.known(query.lengths) != nil, SongLengths.known(certain.album.lengths) == nil
        else { return nil }
        return sources.indices.dropFirst(index + 1).first { next in
            let source = sources[next]
            return source.isQuick && !skipped.contains(source.name) && source.refusal(userAgent: userAgent) == nil
        }
    }

    /// What `find` would ask for an album, by what is kept. Nothing is requested.
    /// - Returns: The sources, and what `find` knows without them.
    package func plan(
        _ query: AlbumQuery, _ decisions: Decisions
    ) async -> (sources: [SourceName], known: SourceFindings) {
        var search = await search(query, decisions)
        var names: [SourceName] = []
        for index in sources.indices where !search.findings.areEnough {
            let answer = known(index, &search)
            let isLocated = answer?.kind == .found && sources[index].location != nil
            if answer == nil || isLocated { names.append(sources[index].name) }
            if let answer, answer.kind != .notAsked { search.add(answer, of: index) }
            await leaveOutAbsent(&search)
            guard let next = witness(after: index, search, query, []) else { continue }
            if known(next, &search) == nil { names.append(sources[next].name) }
        }
        return (names, search.findings)
    }

    /// The cover at a URL, as it is judged for an album today, by the answers that are kept.
    /// - Returns: Nil if nothing is known of the cover.
    package func cover(at url: String, for query: AlbumQuery, _ decisions: Decisions) async -> SourceCandidate? {
        let search = await search(query, decisions)
        for walk in search.walks {
            guard let found = walk.albums.first(where: { $0.pictures.contains(url) }) else { continue }
            let judged = search.decided(walk.covers).first { $0.pictures.contains(url) }
            return judged ?? (walk.time == nil ? found : found.judged(.judge(query, found.album)))
        }
        return nil
    }

    /// The source that needs most time for the albums that are searched, and the time. Of those that have not come to it, as large a part will as of
    /// those that have come past it.
    /// - Parameter more: Albums that will be searched after them.
    package func slowest(more: Int) async -> (source: SourceName, time: Duration)? {
        var slowest: (source: SourceName, time: Duration)?
        for (name, lane) in lanes {
            var coming = 0.0
            for (source, count) in zip(sources, counts) where source.informant.name == name && count.passed > 0 {
                coming += Double(searches + more - count.passed) * Double(count.asking) / Double(count.passed)
            }
            guard let time = await lane.time(for: coming) else { continue }
            if slowest.map({ time > $0.time }) ?? true { slowest = (name, time) }
        }
        return slowest
    }

    // MARK: One source

    private func search(_ query: AlbumQuery, _ decisions: Decisions) async -> SourceSearch {
        let asked = (sources + others).filter { $0.refusal(userAgent: userAgent) == nil }.map(\.name)
        // Who names the archive alone has ids that are right.
        let names = Set(sources.map(\.name))
        let trusted = sources.filter { !names.contains($0.informant.name) }.map(\.name)
        return await SourceSearch(sources + others, query, decisions, asking: asked, trusting: trusted) {
            await self.kept($0)
        }
    }

    /// The answer of a source that is not to be asked; nil if it is.
    private func known(_ index: Int, _ search: inout SourceSearch) -> SourceAnswer? {
        search.judge(index)
        let (walk, now) = (search.walks[index], clock.timeOfDay())
        let answer = walk.answer(search.decided(walk.covers), at: now)
        // What is located without a request, and what a source has answered, counts, even if it may not be asked now.
        let counts = walk.time.map { (!retriesMissing || $0 >= start) && answer.counts(at: now) } ?? true
        if walk.isComplete, counts { return answer }
        return walk.source.refusal(userAgent: userAgent).map {
            SourceAnswer(walk.source.name, .notAsked, url: "", time: now, detail: Redaction.redact($0))
        }
    }

    private func ask(_ index: Int, _ search: inout SourceSearch) async throws {
        guard let lane = lanes[sources[index].informant.name], await lane.enter() else { throw CancellationError() }
        for (name, refusal) in refusals { notices.tell("\(name)", refusal) }
        var walk = search.walk(over: sources[index])
        do {
            try await walk.run { try await self.answer(to: $0, in: lane) }
        } catch {
            await lane.leave()
            throw error
        }
        await lane.leave()
        search.add(walk, at: index, clock.timeOfDay())
    }

    /// The answer to a request: one that was given lately, else the source's.
    private func answer(
        to request: SourceRequest, in lane: SourceLane
    ) async throws -> (reading: SourceReading, time: Int64) {
        let now = clock.timeOfDay()
        let oldest = retriesMissing ? start : now - SourceAnswer.shortestLifetime
        if let kept = await kept(request), kept.time >= oldest, kept.time <= now { return kept }
        if let abandonment = await lane.abandonment { return (.failed("given up for this run: \(abandonment)"), now) }
        let reading = try await lane.response(to: request.url, more: current, request.read)
        if reading.failure == nil { await withMemory { try await $0.keep(reading, of: request.key, at: now) } }
        return (reading, now)
    }

    // MARK: Memory

    /// What is done with the memory; nil if there is none, or if it fails, which is told.
    @discardableResult
    private func withMemory<Result: Sendable>(_ act: (SourceMemory) async throws -> Result?) async -> Result? {
        guard let memory else { return nil }
        do {
            return try await act(memory)
        } catch {
            notices.tell("memory", "\(error)")
            return nil
        }
    }

    private func kept(_ request: SourceRequest) async -> (reading: SourceReading, time: Int64)? {
        await withMemory { try await $0.reading(of: request.key) }
    }

    /// Remembers why a cover's picture is none, or that it is one, for the list of doubtful covers.
    package func note(_ fault: Match?, of cover: SourceCandidate) async {
        await withMemory { try await $0.note(fault, of: cover.identity) }
        guard fault == .absent else { return }
        let now = clock.timeOfDay()
        await withMemory { try await $0.keep(.notFound, of: cover.identity, at: now) }
    }

    /// Leaves out covers of which a server has said that it has no picture, as long as that a source has no album counts. The HTTP cache remembers it
    /// for minutes.
    private func leaveOutAbsent(_ search: inout SourceSearch) async {
        while let cover = search.findings.certain, cover.match.ground == .evidence {
            guard let (_, time) = await withMemory({ try await $0.reading(of: cover.identity) }) else { return }
            let now = clock.timeOfDay()
            let oldest = retriesMissing ? start : now - SourceAnswer.absenceLifetime
            if time < oldest || time > now { return }
            search.leaveOut(cover)
        }
    }
}

/// What the sources have for an album.
package struct SourceFindings: Sendable {
    /// The covers that match: the certain ones first, of those the ones of the album's edition, then in the order of asking.
    package var candidates: [SourceCandidate] = []
    /// The answer of each source that was asked, in order.
    package var answers: [SourceAnswer] = []
    /// Whether a person has refused a cover that was found.
    package var areRefused = false

    /// The best certain cover.
    package var certain: SourceCandidate? { candidates.first { $0.certainty == .certain } }

    /// Whether no other source is to be asked.
    var areEnough: Bool { certain.map { !$0.match.isOfOtherEdition } ?? false }

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
        let certain = all.filter { $0.certainty == .certain }
        candidates =
            certain.filter { !$0.match.isOfOtherEdition } + certain.filter(\.match.isOfOtherEdition)
            + all.filter { $0.certainty == .doubtful }
    }
}
