import AlbumLibrary
import CoverLibrary
import Platform
import Synchronization

/// The open pages: which covers each shows and waits for, and its unsent events.
///
/// A page reports which covers it shows, most wanted first. Missing ones are downloaded: those in view of any page before those near
/// it, pages in round-robin order. Requests for covers that no page shows any more are withdrawn. Arrivals come from the library's
/// events. Those that a page waits for are passed to all pages: the tabs of a browser share the connection of one of them.
actor PageSessions {
    private struct Session {
        var events = EventBuffer()
        var hasConnected = false
        /// First keys of missing covers, most wanted first.
        var view: [String] = []
        var near: [String] = []
        /// The covers that the page waits for, by their first keys.
        var waiting: [String: [AlbumCover]] = [:]
        var lastSeen = ContinuousClock.now
    }

    private static let maximumSessions = 512
    private static let maximumInFlight = 24
    /// A session without a connection ends after this.
    private static let timeout = Duration.seconds(60)

    private let library: LibraryAPI
    private let albums: AlbumIndex
    /// What pages wait for and is asked for, by its key.
    private let window: CoverWindow<String>
    private var sessions: [String: Session] = [:]
    /// The data of the last broadcast of each event.
    private var states: [String: String] = [:]
    private var roundRobin: [String] = []
    private var inFlight: Set<String> = []
    private var retries = RetrySchedule()
    /// Keys to request immediately, whatever their hosts answered before.
    private var urgent: Set<String> = []
    private var isClosed = false

    init(_ library: LibraryAPI, _ albums: AlbumIndex) {
        self.library = library
        self.albums = albums
        window = library.window()
    }

    var isEmpty: Bool { sessions.isEmpty }
    var count: Int { sessions.count }

    // MARK: Sessions

    /// The events of a page that has connected, the last broadcasts among them; nil: too many pages are open.
    func connect(_ id: String) -> EventBuffer? {
        guard open(id) else { return nil }
        // A page reconnects because its former connection is gone, even if this server has not noticed. The page asks for the
        // events it missed.
        if sessions[id]?.hasConnected == true {
            sessions[id]?.events.close()
            sessions[id]?.events = EventBuffer()
        }
        sessions[id]?.hasConnected = true
        for (event, json) in states { sessions[id]?.events.post(event, json) }
        return sessions[id]?.events
    }

    func disconnect(_ id: String, _ events: EventBuffer) {
        events.close()
        if sessions[id]?.events === events { sessions[id]?.lastSeen = .now }
    }

    private func open(_ id: String) -> Bool {
        if isClosed { return false }
        if sessions[id] == nil {
            if sessions.count >= Self.maximumSessions, !endUnconnected() { return false }
            sessions[id] = Session()
            roundRobin.append(id)
        }
        sessions[id]?.lastSeen = .now
        return true
    }

    /// Ends the session that has shown covers and not connected for longest. - Returns: False if there is none.
    private func endUnconnected() -> Bool {
        let oldest = sessions.filter { !$0.value.hasConnected }.min { $0.value.lastSeen < $1.value.lastSeen }
        if let oldest { end(oldest.key) }
        return oldest != nil
    }

    private func end(_ id: String) {
        sessions[id] = nil
        roundRobin.removeAll { $0 == id }
    }

    /// Called periodically: notices broken connections and ends sessions whose pages are gone, or never connected.
    func sendHeartbeats(now: ContinuousClock.Instant = .now) {
        for (id, session) in sessions {
            session.events.postHeartbeat()
            if session.events.isClosed || !session.hasConnected, session.lastSeen + Self.timeout < now { end(id) }
        }
    }

    func close() {
        isClosed = true
        for session in sessions.values { session.events.close() }
        sessions = [:]
        roundRobin = []
    }

    /// Posts an event to all pages if its data have changed.
    func broadcast(_ event: String, _ json: String) {
        if states.updateValue(json, forKey: event) == json { return }
        for session in sessions.values { session.events.post(event, json) }
    }

    // MARK: Shown covers

    /// Replaces the albums that a page shows. - Returns: Their covers' states; nil: too many pages are open.
    /// - Parameter again: Albums whose failed covers a user retries.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func show(
        _ view: [Album.ID], near: [Album.ID], again: [Album.ID], on id: String
    ) async throws -> [(Album.ID, CoverState)]? {
        let covers = try await albums.covers(of: view + near + again)
        guard open(id) else { return nil }
        for cover in covers.suffix(again.count) where cover.cached == nil {
            guard let key = cover.keys.first else { continue }
            retries.forget(key)
            urgent.insert(key)
        }
        let shown = covers.dropLast(again.count)
        let states = shown.map { ($0.album, state(of: $0)) }
        let isMissing = { (cover: AlbumCover) in cover.cached == nil && !cover.keys.isEmpty }
        sessions[id]?.view = shown.prefix(view.count).filter(isMissing).map { $0.keys[0] }
        sessions[id]?.near = shown.dropFirst(view.count).filter(isMissing).map { $0.keys[0] }
        sessions[id]?.waiting = Dictionary(grouping: shown.filter(isMissing)) { $0.keys[0] }
        // Covers may have arrived between the look-up and now.
        await checkCache(of: id)
        download()
        return states
    }

    private func state(of cover: AlbumCover) -> CoverState {
        if let cached = cover.cached { return CoverState(cached) }
        let problem = cover.problem ?? cover.keys.first.flatMap { retries.problem(of: $0) }
        return problem.map { cover.written.map(CoverState.init) ?? .failed($0) } ?? .waiting
    }

    /// The keys whose last request has failed.
    func failed(among keys: [String]) -> Set<String> { Set(keys.filter { retries.hasFailed($0) }) }

    /// Looks up what a page waits for. - Parameter id: Nil: all pages.
    func checkCache(of id: String? = nil) async {
        let pages = sessions.filter { id == nil || $0.key == id }
        let keys = Array(Set(pages.values.flatMap(\.waiting.keys)))
        guard let statuses = try? await library.statuses(of: keys.map { CoverRequest(location: $0) }) else { return }
        for (key, status) in zip(keys, statuses) {
            if let status { didArrive(key, digest: status.digest, at: nil) }
        }
    }

    // MARK: Downloads

    /// Called periodically: retries what pages show.
    func retry(now: ContinuousClock.Instant = .now) {
        let wanted = wanted()
        let probes = retries.takeProbes(among: wanted.filter { !inFlight.contains($0) }, at: now)
        urgent.formUnion(probes)
        if !probes.isEmpty || wanted.contains(where: { retries.isDue($0, at: now) }) { download(now: now) }
    }

    /// Requests what pages wait for, reorders the requests that were not sent yet, and gives up what no page waits for.
    private func download(now: ContinuousClock.Instant = .now) {
        let order = wanted()
        inFlight.formIntersection(order)
        let again = order.filter { urgent.remove($0) != nil }
        inFlight.formUnion(again)
        for key in order where inFlight.count < Self.maximumInFlight {
            if retries.problem(of: key, at: now) == nil { inFlight.insert(key) }
        }
        // What a person asked for again is requested whatever is remembered of its URL and its host.
        window.show(
            order.compactMap { key -> (String, CoverRequest)? in
                guard inFlight.contains(key), let cover = waiting(for: key),
                    let request = cover.request(again.contains(key) ? .ignoreAbsence : .useCache)
                else { return nil }
                return (key, request)
            })
    }

    /// Runs until the window ends.
    func receiveArrivals() async {
        for await arrival in window.arrivals { didEnd(arrival.id, arrival.outcome) }
    }

    /// A cover that a page waits for.
    private func waiting(for key: String) -> AlbumCover? {
        sessions.values.lazy.compactMap { $0.waiting[key]?.first }.first
    }

    private func didEnd(_ key: String, _ outcome: CoverOutcome) {
        let isCurrent = inFlight.remove(key) != nil
        if let failure = outcome.failure {
            didFail(key, failure, hasSeveralURLs: waiting(for: key).map { $0.keys.count > 1 } ?? true)
        } else if let digest = outcome.digest {
            // Covers stored by another process cause no library event.
            didArrive(key, digest: digest, at: Date())
        }
        if isCurrent { download() }
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
        notify(key) { _, message in
            message.add("digest", digest)
            if let date { message.add("at", Int((date.timeIntervalSince1970 * 1_000).rounded())) }
            return "cover"
        }
        for id in roundRobin { sessions[id]?.waiting[key] = nil }
        if retries.didArrive(key) { download() }
    }

    /// The library reports a failure. Requests made here report theirs themselves, and a cover with several URLs has not failed
    /// before the last of them.
    func didFail(_ failure: CoverFailure) {
        let key = failure.url
        guard !inFlight.contains(key), waiting(for: key)?.keys.count == 1 else { return }
        didFail(key, failure, hasSeveralURLs: false)
    }

    private func didFail(_ key: String, _ failure: CoverFailure, hasSeveralURLs: Bool) {
        // Cancelling says nothing about the cover.
        if [.cancelled, .closed].contains(failure.kind) { return }
        let isHostBack = retries.didFail(key, failure, hasSeveralURLs: hasSeveralURLs)
        notify(key) { cover, message in
            if let written = cover.written {
                message.add("digest", written.digest)
                return "cover"
            }
            CoverProblem(failure).add(to: &message, as: "reason")
            return "failure"
        }
        if isHostBack { download() }
    }

    /// - Parameter fill: Returns the event's name.
    private func notify(_ key: String, _ fill: (AlbumCover, inout JSONObject) -> String) {
        let covers = sessions.values.flatMap { $0.waiting[key] ?? [] }
        for (album, cover) in Dictionary(covers.map { ($0.album, $0) }, uniquingKeysWith: { first, _ in first }) {
            var event = ""
            let text = jsonText {
                $0.add("id", album)
                event = fill(cover, &$0)
            }
            for session in sessions.values { session.events.post(event, key: "cover \(album)", text) }
        }
    }
}

/// The unsent server-sent events of one page (HTML Living Standard, section 9.2).
///
/// An event replaces an unsent one with the same key, so the buffer of a page that does not read holds at most one event per key.
final class EventBuffer: Sendable {
    private struct State {
        var keys: [String] = []
        var messages: [String: String] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - key: What the event is about; `event` if nil.
    ///   - json: The event's data, on one line.
    func post(_ event: String, key: String? = nil, _ json: String) {
        append(key ?? event, "event: \(event)\ndata: \(json)\n\n")
    }

    /// Posts a comment, so that a broken connection is noticed.
    func postHeartbeat() { append("heartbeat", ": \n\n") }

    private func append(_ key: String, _ message: String) {
        state.withLock { state in
            if state.isClosed { return }
            if state.messages.updateValue(message, forKey: key) == nil { state.keys.append(key) }
        }
        wakeUps.continuation.yield()
    }

    /// All unsent events as one text, each time there are some. Ends after `close()`. There may be only one reader.
    var batches: some AsyncSequence<String, Never> {
        wakeUps.stream.compactMap { self.takeAll() }
    }

    private func takeAll() -> String? {
        state.withLock { state in
            if state.keys.isEmpty { return nil }
            defer { (state.keys, state.messages) = ([], [:]) }
            return state.keys.compactMap { state.messages[$0] }.joined()
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        wakeUps.continuation.finish()
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    var unsentCount: Int { state.withLock { $0.keys.count } }
}
