import Platform

/// Sends a GET to a source and returns its response.
/// - Throws: an error whose description says in one line why there is no response.
package typealias SourceTransport = @Sendable (_ url: String) async throws -> SourceResponse

/// Why a transport has no response.
package struct SourceTransportError: Error, Sendable, CustomStringConvertible {
    /// In one line, without the URL.
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Asks sources for covers, each with its own manners: one request at a time to a source, within its rate, later when it asks for that. What
/// one source does never holds up another.
///
/// `SourceLimiter` decides when a request may be sent, `CoverSource` what its answer means.
package actor SourceQueue {
    private struct Lane {
        var limiter: SourceLimiter
        /// The callers so far, also those that wait.
        var callers = 0
        /// A caller has the source.
        var isBusy = false
        /// Callers that wait for it, the first first.
        var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let sources: [CoverSource]
    private let userAgent: String
    private let memory: SourceMemory?
    private let retriesMissing: Bool
    private let clock: SourceClock
    private let notice: @Sendable (String) -> Void
    private let transport: SourceTransport
    private var lanes: [SourceName: Lane]
    private var searches = 0
    private var lastWaiter = 0
    /// Why sources are not asked. It is told when another one is: an album whose cover is known needs none.
    private var refusals: [SourceName: String] = [:]
    /// Sources and parts about which `notice` was told.
    private var noticed: Set<String> = []
    /// How often one album is asked for, at a source that throttles.
    private static let maximumAttempts = 4
    /// A source with a longer line is asked last.
    private static let maximumWait = Duration.seconds(60)

    /// - Parameters:
    ///   - sources: `CoverSource.table`, in the order of asking.
    ///   - userAgent: what `transport` sends as `User-Agent`.
    ///   - memory: where answers are kept; nil to keep none.
    ///   - retriesMissing: Ask again for what was remembered.
    ///   - notice: receives what a person should know, once for each source.
    package init(
        sources: [CoverSource], userAgent: String, memory: SourceMemory? = nil, retriesMissing: Bool = false,
        clock: SourceClock = .system, notice: @escaping @Sendable (String) -> Void = { _ in },
        transport: @escaping SourceTransport
    ) {
        (self.sources, self.userAgent, self.memory, self.retriesMissing) = (sources, userAgent, memory, retriesMissing)
        (self.clock, self.notice, self.transport) = (clock, notice, transport)
        lanes = Dictionary(
            uniqueKeysWithValues: sources.map { ($0.name, Lane(limiter: SourceLimiter($0.rate))) })
    }

    /// Asks the sources in order, until one has a cover that is certain. May be called for many albums at a time.
    ///
    /// A source of 20 requests a minute would hold up thousands of albums that a later one has, too. So an album passes a source by whose line
    /// takes longer than a minute, and comes back if no other one is certain. Each source is asked within its rate, and less often.
    ///
    /// What the others have answered, now or in earlier runs, weighs when an answer is judged: they may know of several albums of one name.
    /// - Parameter skipped: sources that are not asked: after a picture could not be downloaded, those that were asked before.
    /// - Throws: `CancellationError`.
    package func find(_ query: AlbumQuery, skipping skipped: Set<SourceName> = []) async throws -> SourceFindings {
        var findings = SourceFindings()
        let record = await remembered(query)
        searches += 1
        var passed: [(source: CoverSource, url: String)] = []
        for source in sources where !skipped.contains(source.name) && findings.certain == nil {
            try Task.checkCancellation()
            let known = record.decided(source.known(query)).filter { $0.certainty != .none }
            if !known.isEmpty {
                // Without the covers in the memory: whether they are there shows only later.
                let answer = answer(source, .found, detail: "by its MusicBrainz id")
                findings.add(await noted(answer, [], query), known)
            } else if let url = source.search(query) {
                if let (answer, found) = await answerAtOnce(source, url, query, record, findings) {
                    findings.add(answer, found)
                } else if wait(for: source) > Self.maximumWait {
                    passed.append((source, url))
                } else {
                    let (answer, found) = try await ask(source, url, query, record, findings)
                    findings.add(answer, found)
                }
            } else {
                let isRefused = !source.known(query).isEmpty
                let why =
                    isRefused
                    ? "you refused its cover"
                    : source.name == .caa ? "the album has no MusicBrainz id" : "the album has no title"
                findings.add(await noted(answer(source, .notAsked, detail: why), [], query), [])
            }
        }
        for (source, url) in passed {
            if let other = findings.certain?.source {
                // Not among the findings: it may still be asked, if the other one's picture cannot be downloaded.
                let detail = "albums were waiting in line for over a minute, and \(other.title) has the cover"
                _ = await noted(answer(source, .notAsked, url: url, detail: detail), [], query)
            } else {
                let (answer, found) = try await ask(source, url, query, record, findings)
                findings.add(answer, found)
            }
        }
        return findings
    }

    /// What `find` would ask for an album, by what is remembered of it. Nothing is requested or remembered.
    /// - Returns: The sources, and what `find` knows without them.
    package func plan(_ query: AlbumQuery) async -> (sources: [SourceName], known: SourceFindings) {
        let record = (try? await memory?.record(of: query.key)) ?? SourceMemory.Record()
        var (names, findings) = ([SourceName](), SourceFindings())
        for source in sources where findings.certain == nil {
            if !source.known(query).isEmpty {
                names.append(source.name)
            } else if let url = source.search(query), source.refusal(userAgent: userAgent) == nil {
                if let (answer, found) = rememberedAnswer(source, url, query, record, findings) {
                    findings.add(answer, found)
                } else {
                    names.append(source.name)
                }
            }
        }
        return (names, findings)
    }

    /// How long a caller would wait for a source.
    private func wait(for source: CoverSource) -> Duration {
        guard let lane = lanes[source.name], let rate = source.rate, lane.limiter.abandonment == nil else {
            return .zero
        }
        return lane.limiter.delay(at: clock.now()) + rate.time(for: lane.waiters.count)
    }

    /// The source that needs most time for the albums that are searched, and the time.
    /// - Parameter more: Albums that will be searched after them, most likely with the same sources.
    package func slowest(more: Int) -> (source: SourceName, time: Duration)? {
        sources.compactMap { source in
            guard let lane = lanes[source.name], let rate = source.rate, lane.limiter.abandonment == nil, searches > 0
            else { return nil }
            return (source.name, rate.time(for: lane.waiters.count + more * lane.callers / searches))
        }.max { $0.time < $1.time }
    }

    private func answer(
        _ source: CoverSource, _ kind: SourceAnswer.Kind, url: String = "", detail: String
    ) -> SourceAnswer {
        SourceAnswer(
            source.name, kind, url: Redaction.redact(url), time: clock.timeOfDay(), detail: Redaction.redact(detail))
    }

    // MARK: One source

    /// The answer without a request; nil if the source is to be asked.
    private func answerAtOnce(
        _ source: CoverSource, _ url: String, _ query: AlbumQuery, _ record: SourceMemory.Record,
        _ findings: SourceFindings
    ) async -> (SourceAnswer, [SourceCandidate])? {
        if let refusal = source.refusal(userAgent: userAgent) {
            refusals[source.name] = refusal
            return (await noted(answer(source, .notAsked, url: url, detail: refusal), [], query), [])
        }
        return rememberedAnswer(source, url, query, record, findings)
    }

    private func rememberedAnswer(
        _ source: CoverSource, _ url: String, _ query: AlbumQuery, _ record: SourceMemory.Record,
        _ findings: SourceFindings
    ) -> (SourceAnswer, [SourceCandidate])? {
        guard !retriesMissing,
            let (answer, found) = record.answer(of: source.name, to: Redaction.redact(url), at: clock.timeOfDay())
        else { return nil }
        // Judged again: the tags may have changed since.
        let matching = matching(source, query, found, record, findings).decided(record.decisions)
        return answer.kind == .notFound || !matching.isEmpty ? (answer, matching) : nil
    }

    private func matching(
        _ source: CoverSource, _ query: AlbumQuery, _ found: [SourceCandidate], _ record: SourceMemory.Record,
        _ findings: SourceFindings
    ) -> [SourceCandidate] {
        let known = record.candidates(besides: source.name) + findings.candidates
        return SourceCandidate.matching(query, found, known: known, decisions: record.decisions)
    }

    private func ask(
        _ source: CoverSource, _ url: String, _ query: AlbumQuery, _ record: SourceMemory.Record,
        _ findings: SourceFindings
    ) async throws -> (SourceAnswer, [SourceCandidate]) {
        guard await enter(source.name) else { throw CancellationError() }
        defer { leave(source.name) }
        for (name, refusal) in refusals { tell("\(name)", refusal) }
        if let abandonment = lanes[source.name]?.limiter.abandonment {
            var failed = answer(source, .failed, url: url, detail: "given up for this run: \(abandonment)")
            failed.isGivenUp = true
            return (await noted(failed, [], query), [])
        }
        let reading = try await response(of: source, to: url)
        switch reading {
        case .found(let all):
            let judged = matching(source, query, all, record, findings)
            let matching = judged.decided(record.decisions)
            func count(_ certainty: Match.Certainty) -> Int { matching.count { $0.certainty == certainty } }
            let (certain, doubtful, refused) = (count(.certain), count(.doubtful), count(.none))
            let isFound = certain + doubtful > 0
            let detail =
                (isFound
                    ? "\(certain) certain and \(doubtful) doubtful of \(all.count) albums"
                    : "none of \(all.count == 1 ? "1 album" : "\(all.count) albums") matches")
                + (refused > 0 ? ", \(refused) refused by you" : "")
            let kind = isFound ? SourceAnswer.Kind.found : .notFound
            return (await noted(answer(source, kind, url: url, detail: detail), judged, query), matching)
        case .notFound:
            return (await noted(answer(source, .notFound, url: url, detail: "no album"), [], query), [])
        case .throttled(let detail):
            return (await noted(answer(source, .throttled, url: url, detail: detail), [], query), [])
        case .failed(let detail):
            return (await noted(answer(source, .failed, url: url, detail: detail), [], query), [])
        }
    }

    /// Sends a request, again while the source throttles, and once after a broken connection. The caller has the source, so all others wait
    /// meanwhile.
    private func response(of source: CoverSource, to url: String) async throws -> SourceReading {
        var last: SourceReading?
        var isRepeated = false
        for _ in 0..<Self.maximumAttempts {
            if let last, lanes[source.name]?.limiter.abandonment != nil { return last }
            try await waitForTurn(source)
            let result = await result(of: url)
            try Task.checkCancellation()
            let reading = Self.read(result, source)
            last = reading
            change(source) { limiter, now in
                limiter.didEnd(at: now)
                switch reading {
                case .found, .notFound: limiter.didAnswer()
                case .throttled: limiter.didThrottle(at: now, retryAfter: (try? result.get())?.retryAfter)
                case .failed(let detail): limiter.didFail(at: now, detail)
                }
            }
            switch (reading, result) {
            case (.throttled, _): continue
            case (.failed, .failure) where !isRepeated: isRepeated = true
            default: return reading
            }
        }
        return last ?? .failed("not asked")
    }

    private func result(of url: String) async -> Result<SourceResponse, any Error> {
        do {
            return .success(try await transport(url))
        } catch {
            return .failure(error)
        }
    }

    private static func read(_ result: Result<SourceResponse, any Error>, _ source: CoverSource) -> SourceReading {
        switch result {
        case .success(let response) where response.body.count > SourceResponse.maximumSize:
            .failed("the answer is longer than \(ByteCount(SourceResponse.maximumSize))")
        case .success(let response): source.read(response)
        case .failure(let error): .failed("\(error)")
        }
    }

    private func waitForTurn(_ source: CoverSource) async throws {
        repeat {
            while let delay = lanes[source.name]?.limiter.delay(at: clock.now()), delay > .zero {
                try await clock.sleep(delay)
            }
        } while try await waitForOthers(source)
        try Task.checkCancellation()
        change(source) { $0.didSend(at: $1) }
    }

    /// Waits for the requests of other processes and of earlier runs. - Returns: Whether it has waited.
    private func waitForOthers(_ source: CoverSource) async throws -> Bool {
        guard let memory, let rate = source.rate else { return false }
        let delay: Duration?
        do throws(SourceMemoryError) {
            delay = try await memory.reserve(source.name, rate, at: clock.timeOfDay())
        } catch {
            tell("memory", "\(error)")
            return false
        }
        guard let delay else { return false }
        // A step of the wall clock must not stop the run for longer.
        try await clock.sleep(min(delay, rate.interval))
        return true
    }

    private func change(_ source: CoverSource, _ body: (inout SourceLimiter, Duration) -> Void) {
        guard var limiter = lanes[source.name]?.limiter else { return }
        body(&limiter, clock.now())
        lanes[source.name]?.limiter = limiter
        if let abandonment = limiter.abandonment {
            tell("\(source.name) given up", "\(source.name.title) is not asked any more in this run: \(abandonment)")
        }
    }

    private func tell(_ subject: String, _ message: String) {
        if noticed.insert(subject).inserted { notice(message) }
    }

    // MARK: Memory

    private func remembered(_ query: AlbumQuery) async -> SourceMemory.Record {
        guard let memory else { return SourceMemory.Record() }
        do {
            return try await memory.record(of: query.key, forgettingRefusals: retriesMissing)
        } catch {
            tell("memory", "\(error)")
            return SourceMemory.Record()
        }
    }

    /// Remembers an answer. - Returns: The answer.
    private func noted(
        _ answer: SourceAnswer, _ found: [SourceCandidate], _ query: AlbumQuery
    ) async -> SourceAnswer {
        do {
            try await memory?.note(answer, found, of: query.key)
        } catch {
            tell("memory", "\(error)")
        }
        return answer
    }

    /// Remembers what has shown of a cover after it was found, for the list of doubtful covers.
    /// - Parameter candidate: As it is judged now.
    package func judge(_ candidate: SourceCandidate, for query: AlbumQuery) async {
        do {
            try await memory?.judge(candidate, of: query.key)
        } catch {
            tell("memory", "\(error)")
        }
    }

    /// The source that has a cover of an album at a URL, as far as is known without a request; nil for another URL.
    package func source(of url: String, for query: AlbumQuery) async -> SourceName? {
        let remembered = try? await memory?.record(of: query.key).candidates
        return (sources.flatMap { $0.known(query) } + (remembered ?? [])).first { $0.pictures.contains(url) }?.source
    }

    // MARK: One caller at a time

    /// Waits until the caller has the source. - Returns: false if its task was cancelled.
    private func enter(_ name: SourceName) async -> Bool {
        if Task.isCancelled { return false }
        lanes[name]?.callers += 1
        guard lanes[name]?.isBusy == true else {
            lanes[name]?.isBusy = true
            return true
        }
        lastWaiter += 1
        let id = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { lanes[name]?.waiters.append((id, $0)) }
        } onCancel: {
            Task { await cancelWaiter(id, name) }
        }
    }

    private func cancelWaiter(_ id: Int, _ name: SourceName) {
        guard let index = lanes[name]?.waiters.firstIndex(where: { $0.id == id }) else { return }
        lanes[name]?.waiters.remove(at: index).continuation.resume(returning: false)
    }

    /// Hands the source to the next caller.
    private func leave(_ name: SourceName) {
        if lanes[name]?.waiters.isEmpty == false {
            lanes[name]?.waiters.removeFirst().continuation.resume(returning: true)
        } else {
            lanes[name]?.isBusy = false
        }
    }
}
