import CoverLibrary

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The open pages: which covers each shows and waits for, and its unsent events.
///
/// A page reports which covers it shows, most wanted first. Missing ones are downloaded: those in view of any page before those near
/// it, pages in round-robin order. Requests for covers that no page shows any more are withdrawn. Arrivals come from the library's
/// events and are passed to the pages that wait for them.
actor PageSessions {
    private struct Session {
        var events = EventBuffer()
        var hasConnected = false
        /// Keys of missing covers, most wanted first.
        var view: [String] = []
        var near: [String] = []
        /// Albums by the key of the cover they wait for.
        var waiting: [String: [Album.ID]] = [:]
        var lastSeen = ContinuousClock.now
    }

    private static let maximumSessions = 512
    private static let maximumInFlight = 24
    /// A session without a connection ends after this.
    private static let timeout = Duration.seconds(60)

    private let library: LibraryAPI
    private let albums: AlbumIndex
    private var sessions: [String: Session] = [:]
    private var roundRobin: [String] = []
    private var inFlight: Set<String> = []
    private var retries = RetrySchedule()
    /// Keys to request at once, whatever their hosts answered before.
    private var urgent: Set<String> = []
    private var isClosed = false

    init(_ library: LibraryAPI, _ albums: AlbumIndex) {
        self.library = library
        self.albums = albums
    }

    var isEmpty: Bool { sessions.isEmpty }

    // MARK: Sessions

    /// The events of a page that has connected; nil: too many pages are open.
    func connect(_ id: String) -> EventBuffer? {
        guard open(id) else { return nil }
        // A page reconnects because its former connection is gone, even if this server has not noticed. The page asks for the
        // events it missed.
        if sessions[id]?.hasConnected == true {
            sessions[id]?.events.close()
            sessions[id]?.events = EventBuffer()
        }
        sessions[id]?.hasConnected = true
        return sessions[id]?.events
    }

    func disconnect(_ id: String, _ events: EventBuffer) {
        events.close()
        if sessions[id]?.events === events { sessions[id]?.lastSeen = .now }
    }

    private func open(_ id: String) -> Bool {
        if isClosed { return false }
        if sessions[id] == nil {
            guard sessions.count < Self.maximumSessions else { return false }
            sessions[id] = Session()
            roundRobin.append(id)
        }
        sessions[id]?.lastSeen = .now
        return true
    }

    /// Called periodically: notices broken connections and ends sessions whose pages are gone.
    func sendHeartbeats() {
        let now = ContinuousClock.now
        for (id, session) in sessions {
            session.events.postHeartbeat()
            if session.events.isClosed, session.lastSeen + Self.timeout < now {
                sessions[id] = nil
                roundRobin.removeAll { $0 == id }
            }
        }
    }

    func close() {
        isClosed = true
        for session in sessions.values { session.events.close() }
        sessions = [:]
        roundRobin = []
    }

    func broadcast(_ event: String, _ json: String) {
        for session in sessions.values { session.events.post(event, json) }
    }

    // MARK: Shown covers

    /// Replaces the albums that a page shows. - Returns: Their covers' states; nil: too many pages are open.
    /// - Parameter again: Albums whose failed covers a person wants to be tried again.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func show(
        _ view: [Album.ID], near: [Album.ID], again: [Album.ID], on id: String
    ) async throws -> [(Album.ID, CoverState)]? {
        let keys = try await albums.keys(of: view + near + again)
        guard open(id) else { return nil }
        for album in again {
            guard case .success(let key)? = keys[album] else { continue }
            retries.forget(key)
            urgent.insert(key)
        }
        let viewed = try states(of: view, keys)
        let others = try states(of: near, keys)
        var waiting: [String: [Album.ID]] = [:]
        sessions[id]?.view = Self.missing(viewed, keys, &waiting)
        sessions[id]?.near = Self.missing(others, keys, &waiting)
        sessions[id]?.waiting = waiting
        await download()?.value
        return viewed + others
    }

    private func states(of albums: [Album.ID], _ keys: AlbumIndex.Keys) throws -> [(Album.ID, CoverState)] {
        let known = albums.map { keys[$0].flatMap { try? $0.get() } }
        var versions = try library.cachedVersions(of: known.compactMap(\.self)).makeIterator()
        return zip(albums, known).map { album, key in
            guard let key else {
                guard case .failure(let failure)? = keys[album] else {
                    return (album, .failed(CoverProblem(reason: "This album is no longer in the library.")))
                }
                return (album, .failed(CoverProblem(failure)))
            }
            if let cached = versions.next() ?? nil { return (album, CoverState(cached)) }
            return (album, retries.problem(of: key).map(CoverState.failed) ?? .waiting)
        }
    }

    /// The keys of covers that are not cached, failed ones included. Adds their albums to `waiting`.
    private static func missing(
        _ states: [(Album.ID, CoverState)], _ keys: AlbumIndex.Keys, _ waiting: inout [String: [Album.ID]]
    ) -> [String] {
        var missing: [String] = []
        for (album, state) in states {
            if case .ready = state { continue }
            guard case .success(let key)? = keys[album] else { continue }
            waiting[key, default: []].append(album)
            missing.append(key)
        }
        return missing
    }

    // MARK: Downloads

    /// Called periodically: retries what pages show.
    func retry(now: ContinuousClock.Instant = .now) {
        let wanted = wanted()
        let probes = retries.takeProbes(among: wanted.filter { !inFlight.contains($0) }, at: now)
        urgent.formUnion(probes)
        if !probes.isEmpty || wanted.contains(where: { retries.isDue($0, at: now) }) { download(now: now) }
    }

    /// Requests what pages wait for, and reorders the requests that were not sent yet.
    /// - Returns: The task that queues the requests; nil: there are none.
    @discardableResult
    private func download(now: ContinuousClock.Instant = .now) -> Task<Void, Never>? {
        let order = wanted()
        let again = order.filter { urgent.remove($0) != nil }
        var keys = again
        for key in order where inFlight.count + keys.count < Self.maximumInFlight {
            if !inFlight.contains(key), !keys.contains(key), retries.problem(of: key, at: now) == nil {
                keys.append(key)
            }
        }
        inFlight.formUnion(keys)
        if inFlight.isEmpty { return nil }
        let inOrder = order.filter(inFlight.contains)
        let withdrawn = Array(inFlight.subtracting(order))
        return Task {
            var demands: [CoverDemand] = []
            for key in keys {
                demands.append(CoverDemand(urls: await albums.urls(of: key), isUrgent: again.contains(key)))
            }
            let several = Set(demands.filter { $0.urls.count > 1 }.map { $0.urls[0] })
            await library.fetch(demands, order: inOrder, withdrawing: withdrawn) { [weak self] key, result in
                Task { await self?.didEnd(key, result, hasSeveralURLs: several.contains(key)) }
            }
        }
    }

    private func didEnd(_ key: String, _ result: Result<String, CoverFailure>, hasSeveralURLs: Bool) {
        inFlight.remove(key)
        switch result {
        // Covers stored by another process cause no library event.
        case .success(let digest): didArrive(key, digest: digest, at: nil)
        case .failure(let failure): didFail(key, failure, hasSeveralURLs: hasSeveralURLs)
        }
        download()
    }

    /// The keys that pages wait for, most wanted first.
    private func wanted() -> [String] {
        if let first = roundRobin.first { roundRobin = roundRobin.dropFirst() + [first] }
        let sessions = roundRobin.compactMap { self.sessions[$0] }
        var keys: [String] = []
        var seen: Set<String> = []
        for list in [\Session.view, \.near] {
            for index in 0..<(sessions.map { $0[keyPath: list].count }.max() ?? 0) {
                for session in sessions where index < session[keyPath: list].count {
                    let key = session[keyPath: list][index]
                    if session.waiting[key] != nil, seen.insert(key).inserted { keys.append(key) }
                }
            }
        }
        return keys
    }

    /// - Parameter date: When it was cached; nil if unknown.
    func didArrive(_ key: String, digest: String, at date: Date?) {
        urgent.remove(key)
        notify(key, "cover") { message in
            message.add("version", CoverVersion.of(digest))
            if let date { message.add("at", Int((date.timeIntervalSince1970 * 1_000).rounded())) }
        }
        for id in roundRobin { sessions[id]?.waiting[key] = nil }
        if retries.didArrive(key) { download() }
    }

    /// The library reports a failure. Requests made here report theirs themselves.
    func didFail(_ failure: CoverFailure) {
        if !inFlight.contains(failure.url) { didFail(failure.url, failure, hasSeveralURLs: false) }
    }

    private func didFail(_ key: String, _ failure: CoverFailure, hasSeveralURLs: Bool) {
        // Cancelling says nothing about the cover.
        if failure.kind == .cancelled { return }
        let isHostBack = retries.didFail(key, failure, hasSeveralURLs: hasSeveralURLs)
        notify(key, "failure") { CoverProblem(failure).add(to: &$0, as: "reason") }
        if isHostBack { download() }
    }

    private func notify(_ key: String, _ event: String, _ fill: (inout JSONObject) -> Void) {
        for id in roundRobin {
            for album in sessions[id]?.waiting[key] ?? [] {
                let text = jsonText {
                    $0.add("id", album)
                    fill(&$0)
                }
                sessions[id]?.events.post(event, key: "cover \(album)", text)
            }
        }
    }

    /// Looks up what pages wait for, after library events were missed.
    func checkCache() {
        let keys = Array(Set(sessions.values.flatMap(\.waiting.keys)))
        guard let versions = try? library.cachedVersions(of: keys) else { return }
        for (key, version) in zip(keys, versions) {
            if let version { didArrive(key, digest: version.digest, at: nil) }
        }
    }
}
