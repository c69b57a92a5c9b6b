import AlbumLibrary
import CoverCache
import CoverFetch
import CurlHTTP
import HTTPCaching
import Platform

/// The way of asks: they are made, looked up in the cache with all their addresses, and submitted to the scheduler.
extension CoverPipeline {
    // MARK: Making

    /// - Throws: `CoverFailure` if nothing usable locates the cover.
    func ask(_ request: CoverRequest, for sink: any OutcomeSink) throws(CoverFailure) -> Ask {
        let ask: Ask
        do throws(CoverFailure) {
            let locations = try locations(of: request)
            ask = try Ask(
                locations[0], alternatives: Array(locations.dropFirst()),
                ignoring: request.digest == nil ? configuration.ignoredParameters : [], sink: sink)
        } catch {
            var failure = error
            failure.line = request.line
            throw failure
        }
        ask.line = request.line
        if let priority = request.priority { ask.priority = priority.order }
        ask.cacheUse = request.cachePolicy.use
        ask.ignoresOutage = !ask.cacheUse.usesAbsence
        ask.deniesPrivateAddresses = request.deniesPrivateAddresses
        ask.retries = request.retries
        if let timeout = request.timeout { ask.wait(atMost: timeout) }
        // Its location is that of an album's own cover URL.
        if !request.headerFields.isEmpty, let url = try? HTTPURL(request.location) {
            ask.ownFields = (request.headerFields.fields, String(url.origin))
        }
        return ask
    }

    /// The ask of an element of a list, or why there is none.
    func ask(
        _ element: ListElement, in file: String, _ policy: CoverRequest.CachePolicy,
        _ headerFields: RequestHeaderFields, for sink: any OutcomeSink
    ) -> AskBatch.Element {
        switch element {
        case .item(let item):
            var request = CoverRequest(location: item.url, cachePolicy: policy)
            (request.album, request.line, request.headerFields) = (item.album, item.line, headerFields)
            do throws(CoverFailure) { return .success(try ask(request, for: sink)) } catch {
                guard let problem = item.problem(in: file) else { return .failure(error) }
                return .failure(CoverFailure(problem, line: error.line))
            }
        case .problem(let problem):
            return .failure(CoverFailure(problem, line: problem.location.line > 0 ? problem.location.line : nil))
        }
    }

    /// Where the cover of a request may be, in the order of trying; at least one. Those of a digest are its keys.
    /// - Throws: `CoverFailure` if nothing locates an album's cover, or a digest is not cached.
    func locations(of request: CoverRequest) throws(CoverFailure) -> [String] {
        if request.digest != nil {
            if request.cachePolicy.use.asksServer { throw .withoutServer(request) }
            let keys = try keys(of: request)
            if keys.isEmpty { throw .notCached(request) }
            return keys
        }
        guard let album = request.album, !album.otherFields.isEmpty || request.location.isEmpty else {
            return [request.location]
        }
        let locations = album.coverURLs(in: archive)
        if !locations.isEmpty { return locations }
        throw CoverFailure(.badURL, url: "", detail: "the album has no cover URL")
    }

    // MARK: Looking up

    /// Looks asks up: what needs no request, and what is remembered of the others. Reads the cache on the current thread, which may block.
    func lookUp(_ elements: some Sequence<AskBatch.Element>) -> AskBatch {
        var batch = AskBatch()
        for element in elements {
            switch element {
            case .success(let ask): batch.asks.append(ask)
            case .failure(let failure): batch.unusable.append(failure)
            }
        }
        if isClosed { batch.error = .closed }
        do {
            if batch.error == nil { batch.answers = try answers(batch.asks, shelf.reader) }
        } catch {
            batch.error = CacheError(error)
        }
        return batch
    }

    /// The same on a thread that may block.
    func lookUp(_ requests: [CoverRequest], for sink: any OutcomeSink) async -> AskBatch {
        let make = { @Sendable [self] in
            lookUp(
                requests.lazy.map { request in Result { () throws(CoverFailure) in try self.ask(request, for: sink) } })
        }
        return await (try? shelf.read { _ in make() }) ?? make()
    }

    /// The one read of a batch: the outcome of each ask that needs no request. The others then know what the cache remembers of their addresses.
    private func answers(_ asks: [Ask], _ reader: CacheReader, counting: Bool = true) throws -> [CoverOutcome?] {
        let stores = storesSoFar
        var answers: [CoverOutcome?] = []
        answers.reserveCapacity(asks.count)
        for (ask, status) in zip(asks, try reader.status(of: asks.map(\.url.string), counting: counting)) {
            ask.storesBeforeLookUp = ask.cacheUse.asksServer ? nil : stores
            answers.append(try answer(ask, status, reader))
        }
        let open = asks.indices.filter { answers[$0] == nil }
        if open.isEmpty { return answers }
        // Hints are disposable.
        let known = (try? absences(of: open.map { asks[$0].url }, reader)) ?? open.map { _ in nil }
        for (index, absence) in zip(open, known) {
            let ask = asks[index]
            answers[index] = self.absence(absence, of: ask.url, at: ask.location, for: ask).map {
                CoverOutcome(failed: $0)
            }
            ask.negativeTimeToLive = negativeTimeToLive(of: ask.url)
        }
        try? lookUpAlternatives(of: open.lazy.map { asks[$0] }, reader)
        return answers
    }

    /// Reads what the cache knows of the addresses that asks go on to.
    private func lookUpAlternatives(of asks: some Sequence<Ask>, _ reader: CacheReader) throws {
        let others = asks.filter(\.hasAlternatives).flatMap { ask in
            ask.findSizes(CoverArtArchive.picture)
            return ask.addresses.dropFirst().map { (ask, $0.location, $0.url) }
        }
        if others.isEmpty { return }
        for ((ask, location, url), found) in zip(others, try absences(of: others.map(\.2), reader)) {
            // Where the first address has no cover, the others have none: one of them would be the answer.
            let stored = ask.stored == nil || ask.cacheUse == .reload ? nil : try reader.entry(for: url.string)
            var answer: CoverOutcome?
            if let stored, mayUse(stored, for: ask) {
                answer = CoverOutcome(cached: stored.digest, stored.bytes, at: location)
            } else if stored == nil {
                let isLost = url.isInvalidHost
                let absence = isLost ? .givenAsFile(location) : absence(found, of: url, at: location, for: ask)
                answer = absence.map { CoverOutcome(failed: $0) }
            }
            let timeToLive = negativeTimeToLive(of: url)
            if answer == nil, stored == nil, timeToLive == nil { continue }
            let known = Ask.Known(
                answer: answer, stored: stored.flatMap { StoredVersion($0) }, negativeTimeToLive: timeToLive)
            ask.learn(known, of: location)
        }
    }

    /// Why an ask does not request an address whose cover is remembered to be missing; nil if it does.
    private func absence(_ absence: Absence?, of url: HTTPURL, at location: String, for ask: Ask) -> CoverFailure? {
        guard let absence, ask.usesAbsence, !ask.sink.hasFailedElsewhere(url) else { return nil }
        return .absent(location, absence)
    }

    /// - Parameter status: of the cover that is stored for the ask's address.
    private func answer(_ ask: Ask, _ status: CacheReader.Status?, _ reader: CacheReader) throws -> CoverOutcome? {
        let isOffline = configuration.isOffline
        if ask.cacheUse.asksServer {
            if isOffline { return CoverOutcome(failed: .offline(ask.location, ask.cacheUse)) }
            // One that cannot be read is downloaded.
            if ask.cacheUse == .revalidate { ask.stored = version(of: ask, reader) }
            return nil
        }
        if let status, try mayUse(reader.entry(for: ask.url.string), for: ask) {
            let answer = CoverOutcome(cached: status.digest, status.bytes, at: ask.location)
            if isOffline { return answer }
            guard let due = try dueEntry(ask, status, reader) else { return answer }
            (ask.fallback, ask.stored) = (answer, StoredVersion(due))
            return nil
        }
        var others: [StoredAddress] = []
        if ask.hasAlternatives, status == nil || isOffline { others = (try? storedAlternatives(of: ask, reader)) ?? [] }
        // The first that is stored, unless its server would have to be asked and cannot be.
        for other in isOffline ? others[...] : others.prefix(1)
        where try mayUse(reader.entry(for: other.url.string), for: ask) {
            return CoverOutcome(cached: other.status.digest, other.status.bytes, at: other.location)
        }
        if isOffline {
            let stored = status == nil ? others.first?.location : ask.location
            return CoverOutcome(failed: .unasked(stored ?? ask.location, isStale: stored != nil))
        }
        if status == nil {
            guard let other = others.first else { return nil }
            ask.begin(at: other.location, other.url)
        }
        ask.stored = version(of: ask, reader)
        return nil
    }

    /// Whether a stored cover answers an ask without its server, whatever asks (RFC 9111 §4.2.4). A run of downloads keeps what is stored,
    /// however old: only what uses a cover has to have it validated.
    /// - Parameter entry: the stored cover's, which is read only if it matters.
    func mayUse(_ entry: @autoclosure () throws -> CachedEntry?, for ask: Ask) rethrows -> Bool {
        if ask.cacheUse.asksServer { return false }
        if !ask.isForUse { return true }
        return try entry().map { Staleness($0, at: WallClock.milliseconds()) != .forbidden } ?? false
    }

    /// The entry of a stored cover that a run of downloads also checks: a redirect that led to it may not be stored, so that it is missing; or it is
    /// stale, and no refresh has the address, whose key leaves something out. Nil for others.
    private func dueEntry(_ ask: Ask, _ status: CacheReader.Status, _ reader: CacheReader) throws -> CachedEntry? {
        if ask.isForUse { return nil }
        // As `Freshness.freshUntil` of what is validated before each use. Other entries need not be read.
        let isNeverFresh = status.freshUntil == status.validatedAt
        guard isNeverFresh || ask.url.omitsParameters, let entry = try reader.entry(for: ask.url.string) else {
            return nil
        }
        let unkept = UnkeptParts(entry.metadata.fields)
        if !unkept.areIn(ask.url, ask.headerFields, configured: configuration.fieldsByOrigin) { return nil }
        if isNeverFresh, StoredResponse(entry).redirects.directives.noStore { return entry }
        let isFresh = Staleness.isFresh(
            until: entry.metadata.freshUntil, validatedAt: entry.validatedAt, at: WallClock.milliseconds())
        return unkept.omitsParameters && !isFresh ? entry : nil
    }

    private func version(of ask: Ask, _ reader: CacheReader) -> StoredVersion? {
        (try? reader.entry(for: ask.url.string)).flatMap { StoredVersion($0) }
    }

    private typealias StoredAddress = (location: String, url: HTTPURL, status: CacheReader.Status)

    private func storedAlternatives(of ask: Ask, _ reader: CacheReader) throws -> [StoredAddress] {
        let others = ask.addresses.dropFirst()
        return zip(others, try reader.status(of: others.map(\.url.string))).compactMap { other, status in
            status.map { (other.location, other.url, $0) }
        }
    }

    /// The remembered absence of each URL's cover, read on the current thread. Those that were recorded ahead of now are ignored.
    func absences(of urls: [HTTPURL], _ reader: CacheReader) throws -> [Absence?] {
        let now = WallClock.milliseconds()
        let keys = urls.map(\.string)
        // The URL whose 404 says that the archive has the cover in no size.
        let last = keys.map { archive.lastSize(of: $0) ?? $0 }
        let absences = try reader.hints(.absent, for: keys, now: now)
        let lastAbsences = last == keys ? absences : try reader.hints(.absent, for: last, now: now)
        return zip(lastAbsences, absences).map { ($0 ?? $1).flatMap { Absence($0, at: now) } }
    }

    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    func negativeTimeToLive(of url: HTTPURL) -> Int64? {
        archive.lastSize(of: url.string) == url.string ? CoverArtArchive.negativeTimeToLive : nil
    }

    // MARK: Submitting

    /// Looks an ask up, and submits it if it needs a request.
    func submit(_ ask: Ask) async {
        let missing = await missing(among: [ask])
        do throws(LibraryError) {
            if !missing.isEmpty { try await scheduler().submit(missing) }
        } catch {
            ask.fail(error, isClosed: isClosed)
        }
    }

    /// Looks asks up, and completes those that need no request. - Returns: the others.
    func missing(among asks: [Ask]) async -> [Ask] {
        if asks.isEmpty { return [] }
        let found = try? await shelf.read { [self] in try answers(asks, $0, counting: false) }
        return zip(asks, found ?? asks.map { _ in nil }).compactMap { ask, answer in
            let lost = ask.url.isInvalidHost ? CoverOutcome(failed: .givenAsFile(ask.location)) : nil
            guard let outcome = answer ?? lost else { return ask }
            return ask.complete(outcome) ? nil : ask
        }
    }
}

extension Ask {
    /// Ends an ask that could not be submitted.
    func fail(_ error: LibraryError, isClosed: Bool) {
        if isClosed {
            complete(CoverOutcome(failed: .closed(location)))
        } else {
            while !complete(CoverOutcome(failed: CoverFailure(.connect, url: location, detail: error.message))) {}
        }
    }
}

extension CoverFailure {
    fileprivate init(_ problem: ListProblem, line: Int?) {
        self.init(.badURL, url: Redaction.displayable(problem.url ?? ""), detail: "\(problem)", line: line)
    }
}

extension CoverPipeline {
    /// The ends of the pauses that hosts asked earlier runs for, by origin.
    func earlierPauses() -> [String: ContinuousClock.Instant] {
        let (now, instant) = (WallClock.milliseconds(), ContinuousClock.now)
        let all = (try? shelf.reader.hints(.closed, now: now)) ?? []
        return all.reduce(into: [:]) { pauses, hint in
            // A time ahead of now comes from a clock that was wrong: the pause is over.
            guard let recorded = Int64(hint.value), recorded <= now else { return }
            pauses[hint.key] = instant + .milliseconds(hint.until - now)
        }
    }

    /// Keeps the pauses for the next run. A failure is ignored.
    /// - Parameter pauses: as `DownloadScheduler.pauses`.
    func keep(_ pauses: [String: ContinuousClock.Instant?]) async {
        if pauses.isEmpty { return }
        let (now, instant) = (WallClock.milliseconds(), ContinuousClock.now)
        let changes = pauses.map { origin, end -> HintChange in
            guard let end else { return .remove(.closed, key: origin) }
            return .set(Hint(.closed, origin, "\(now)", until: now + Int64((end - instant) / .milliseconds(1))))
        }
        try? await persistency.withWriter { writer in
            writer.add(hints: changes, now: now)
            try writer.writeDeferred()
        }
    }
}

// MARK: - Failures without a request

extension CoverFailure {
    /// No server is asked, and the cache has no cover that may be used without it (RFC 9111 §5.2.1.7, §5.2.2.2).
    static func unasked(_ url: String, isStale: Bool) -> CoverFailure {
        var failure = CoverFailure(
            .offline, url: url, detail: isStale ? "offline, and \(Staleness.reason)" : "not in the cache, and offline")
        failure.endsRequest = true
        return failure
    }

    /// - Parameter use: `revalidate` or `reload`.
    static func offline(_ url: String, _ use: CacheUse) -> CoverFailure {
        CoverFailure(.offline, url: url, detail: "offline: its server cannot be asked (\(use))")
    }

    /// A cached 404 or 410: the URL is not requested again before the hint expires.
    static func absent(_ url: String, _ absence: Absence) -> CoverFailure {
        let (status, until) = (absence.status, Date(milliseconds: absence.until))
        var failure = CoverFailure(
            .status, url: url,
            detail: "the server answered \(status) before; remembered until \(until.ISO8601Format())",
            status: status)
        (failure.rememberedUntil, failure.isRemembered) = (until, true)
        return failure
    }
}

/// Asks that were looked up in the cache together.
struct AskBatch: Sendable {
    /// An ask, or why an element of a list is none.
    typealias Element = Result<Ask, CoverFailure>

    /// Why requests without a usable URL have none.
    var unusable: [CoverFailure] = []
    var asks: [Ask] = []
    /// The outcome of each ask that needs no request.
    var answers: [CoverOutcome?] = []
    /// Why the cache could not be read. There are no `answers` then.
    var error: CacheError?

    /// The number of requests.
    var count: Int { asks.count + unusable.count }
}
