import CoverLibrary

/// The open pages: what each shows, what it waits for, and its mailbox.
///
/// A page says which covers it shows, most wanted first. Those missing are downloaded, those in view of some page before those
/// near it, pages taking turns; what a page has scrolled past is not asked for any more. Arrivals come from the library's events
/// and are passed to the pages that wait for them. While a host cannot be reached, one cover that a page shows is tried every two
/// seconds; when it arrives, the others follow.
actor Pages {
    private struct Page {
        var mailbox = Mailbox()
        var isConnected = false
        /// Keys it waits for, in the order it wants them.
        var view: [String] = []
        var near: [String] = []
        /// The albums whose covers have a key it waits for.
        var albums: [String: [Album.ID]] = [:]
        var lastSeen = ContinuousClock.now
    }

    private static let most = 512
    /// Downloads for pages at a time.
    private static let maximumInFlight = 24
    private static let mostFailures = 10_000
    /// A page that is not connected is forgotten after this long.
    private static let patience = Duration.seconds(60)

    private let library: LibraryAPI
    private let catalogue: Catalogue
    private var pages: [String: Page] = [:]
    private var turn: [String] = []
    private var inFlight: Set<String> = []
    private var failures: [String: Failure] = [:]
    /// Keys to ask for at once, whatever their hosts have said or done before.
    private var urgent: Set<String> = []
    /// When hosts that cannot be reached are tried again, by origin.
    private var outages: [String: ContinuousClock.Instant] = [:]
    private var isClosed = false

    /// Why a cover could not be had.
    fileprivate struct Failure {
        var problem: CoverProblem
        /// When it is tried again, unless somebody asks before; nil: it would be in vain.
        var due: ContinuousClock.Instant?
        var wait: Duration
        /// The host cannot be reached: one of its covers is tried for all of them.
        var isHosts: Bool
    }

    /// Between two tries to reach a host that a page shows covers of: an open page is to recover within 5 s.
    private static let probeInterval = Duration.seconds(2)

    /// A cover that could not be had for a reason that may pass is tried again after the first, then twice as long.
    private static let retryDelays = (first: Duration.seconds(5), longest: Duration.seconds(300))

    init(_ library: LibraryAPI, _ catalogue: Catalogue) {
        self.library = library
        self.catalogue = catalogue
    }

    var isEmpty: Bool { pages.isEmpty }

    // MARK: Coming and going

    /// The mailbox of a page that has connected; nil: too many are open.
    func connect(_ id: String) -> Mailbox? {
        guard enter(id) else { return nil }
        // A page that connects again does so because the other connection has gone, whether we know already or not. What
        // it has missed it asks for anew.
        if pages[id]?.isConnected == true {
            pages[id]?.mailbox.close()
            pages[id]?.mailbox = Mailbox()
        }
        pages[id]?.isConnected = true
        return pages[id]?.mailbox
    }

    func leave(_ id: String, _ mailbox: Mailbox) {
        mailbox.close()
        if pages[id]?.mailbox === mailbox { pages[id]?.lastSeen = .now }
    }

    private func enter(_ id: String) -> Bool {
        if isClosed { return false }
        if pages[id] == nil {
            guard pages.count < Self.most else { return false }
            pages[id] = Page()
            turn.append(id)
        }
        pages[id]?.lastSeen = .now
        return true
    }

    /// To be called now and then: notices connections that have gone, forgets pages that do not come back.
    func beat() {
        let now = ContinuousClock.now
        for (id, page) in pages {
            page.mailbox.beat()
            if page.mailbox.isClosed, page.lastSeen + Self.patience < now {
                pages[id] = nil
                turn.removeAll { $0 == id }
            }
        }
    }

    /// To be called now and then: tries what pages show and could not be had before.
    func retry(now: ContinuousClock.Instant = .now) {
        let wanted = wanted()
        let due = wanted.filter { failures[$0]?.due.map { $0 <= now } ?? false }
        for key in due { failures[key]?.due = .now }
        let probes = outages.filter { $0.value <= now }.keys.compactMap { origin in
            wanted.first { failures[$0]?.isHosts == true && !inFlight.contains($0) && Self.origin(of: $0) == origin }
        }
        urgent.formUnion(probes)
        if !due.isEmpty || !probes.isEmpty { download() }
    }

    func close() {
        isClosed = true
        for page in pages.values { page.mailbox.close() }
        pages = [:]
        turn = []
    }

    func tellAll(_ event: String, _ json: String) {
        for page in pages.values { page.mailbox.post(event, json) }
    }

    // MARK: What they show

    /// A page shows these albums now and nothing else. - Returns: their covers' states; nil: too many pages are open.
    /// - Throws: `LibraryError`, `CoverFailure`.
    func show(
        _ view: [Album.ID], near: [Album.ID], again: [Album.ID], on id: String
    ) async throws -> [(Album.ID, CoverState)]? {
        let keys = try await catalogue.keys(of: view + near + again)
        guard enter(id) else { return nil }
        for album in again {
            guard case .success(let key)? = keys[album] else { continue }
            failures[key] = nil
            urgent.insert(key)
        }
        let viewed = try states(of: view, keys)
        let others = try states(of: near, keys)
        var waiting: [String: [Album.ID]] = [:]
        pages[id]?.view = Self.missing(viewed, keys, &waiting)
        pages[id]?.near = Self.missing(others, keys, &waiting)
        pages[id]?.albums = waiting
        await download()?.value
        return viewed + others
    }

    private func states(of albums: [Album.ID], _ keys: Catalogue.Keys) throws -> [(Album.ID, CoverState)] {
        let known = albums.map { keys[$0].flatMap { try? $0.get() } }
        var versions = try library.cachedVersions(of: known.compactMap(\.self)).makeIterator()
        return zip(albums, known).map { album, key in
            guard let key else {
                let problem =
                    if case .failure(let failure)? = keys[album] { CoverProblem(failure) } else {
                        CoverProblem(reason: "This album is no longer in the library.")
                    }
                return (album, .failed(problem))
            }
            if let cached = versions.next() ?? nil {
                return (album, .ready(CoverVersion.of(cached.digest), isStale: cached.isStale))
            }
            if let failure = failures[key], !failure.isDue { return (album, .failed(failure.problem)) }
            return (album, .waiting)
        }
    }

    /// The keys that are not there, and in `waiting` the albums that wait for them, those too that cannot be had now.
    private static func missing(
        _ states: [(Album.ID, CoverState)], _ keys: Catalogue.Keys, _ waiting: inout [String: [Album.ID]]
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

    /// Asks for what pages wait for, and puts what is in flight for them into their present order.
    /// - Returns: the task that queues the requests; nil: there are none.
    @discardableResult
    private func download() -> Task<Void, Never>? {
        let order = wanted()
        let again = order.filter { urgent.remove($0) != nil }
        var keys = again
        for key in order where inFlight.count + keys.count < Self.maximumInFlight {
            if !inFlight.contains(key), !keys.contains(key), failures[key]?.isDue ?? true { keys.append(key) }
        }
        inFlight.formUnion(keys)
        let inOrder = order.filter(inFlight.contains)
        let left = inFlight.subtracting(order)
        if inFlight.isEmpty { return nil }
        return Task {
            var demands: [CoverDemand] = []
            for key in keys {
                demands.append(CoverDemand(urls: await catalogue.places(of: key), isUrgent: again.contains(key)))
            }
            let chains = Set(demands.filter { $0.urls.count > 1 }.map { $0.urls[0] })
            await library.fetch(demands, order: inOrder, withdrawing: Array(left)) { [weak self] key, result in
                Task { await self?.ended(key, result, isChain: chains.contains(key)) }
            }
        }
    }

    /// - Parameter isChain: the cover has several URLs, on several hosts perhaps.
    private func ended(_ key: String, _ result: Result<String, CoverFailure>, isChain: Bool) {
        inFlight.remove(key)
        switch result {
        // Another process may have brought it, of which no event tells.
        case .success(let digest): arrived(key, digest: digest, at: nil)
        case .failure(let failure): failed(key, failure, isChain: isChain)
        }
        download()
    }

    /// The keys that pages wait for: what is in view before what is near, pages taking turns.
    private func wanted() -> [String] {
        if let first = turn.first { turn = turn.dropFirst() + [first] }
        let pages = turn.compactMap { self.pages[$0] }
        var keys: [String] = []
        var seen: Set<String> = []
        for list in [\Page.view, \.near] {
            for index in 0..<(pages.map { $0[keyPath: list].count }.max() ?? 0) {
                for page in pages where index < page[keyPath: list].count {
                    let key = page[keyPath: list][index]
                    if page.albums[key] != nil, seen.insert(key).inserted { keys.append(key) }
                }
            }
        }
        return keys
    }

    /// - Parameter time: when it was in the cache, in milliseconds since 1970.
    func arrived(_ key: String, digest: String, at time: Int64?) {
        failures[key] = nil
        urgent.remove(key)
        tell(key, "cover") { message in
            message.add("version", CoverVersion.of(digest))
            if let time { message.add("at", Int(time)) }
        }
        for id in turn { pages[id]?.albums[key] = nil }
        answered(Self.origin(of: key))
    }

    /// - Parameter isEvent: told by the library's events; what pages asked for themselves they hear of anyway.
    func failed(_ key: String, _ failure: CoverFailure, isEvent: Bool = false, isChain: Bool = false) {
        // Cancelling says nothing about the cover.
        if failure.kind == .cancelled || isEvent && inFlight.contains(key) { return }
        if failures.count >= Self.mostFailures { failures = [:] }
        let wait = failures[key].map { min($0.wait * 2, Self.retryDelays.longest) } ?? Self.retryDelays.first
        let origin = Self.origin(of: key)
        let problem = CoverProblem(failure)
        if failure.isHostUnreachable, !isChain {
            outages[origin] = .now + Self.probeInterval
            failures[key] = Failure(problem: problem, due: nil, wait: Self.retryDelays.first, isHosts: true)
        } else {
            failures[key] = Failure(
                problem: problem, due: failure.mayPass ? .now + wait : nil, wait: wait, isHosts: false)
            if failure.kind == .status, !isChain { answered(origin) }
        }
        tell(key, "failure") { problem.add(to: &$0, as: "reason") }
    }

    /// The host answers again: its covers that failed meanwhile are tried at once.
    private func answered(_ origin: String) {
        guard outages.removeValue(forKey: origin) != nil else { return }
        for (key, failure) in failures where Self.origin(of: key) == origin {
            if failure.isHosts { failures[key] = nil } else if failure.due != nil { failures[key]?.due = .now }
        }
        download()
    }

    /// Scheme, host and port of a key.
    private static func origin(of key: String) -> String {
        let start = key.firstRange(of: "://")?.upperBound ?? key.startIndex
        return String(key[..<(key[start...].firstIndex { $0 == "/" || $0 == "?" } ?? key.endIndex)])
    }

    private func tell(_ key: String, _ event: String, _ fill: (inout JSONObject) -> Void) {
        for id in turn {
            guard let albums = pages[id]?.albums[key] else { continue }
            for album in albums {
                var message = JSONObject()
                message.add("id", album)
                fill(&message)
                pages[id]?.mailbox.post(event, key: "cover \(album)", message.text)
            }
        }
    }

    /// Some events were missed: what pages wait for may be there.
    func lookAgain() {
        let keys = Array(Set(pages.values.flatMap(\.albums.keys)))
        guard let versions = try? library.cachedVersions(of: keys) else { return }
        for (key, version) in zip(keys, versions) {
            if let version { arrived(key, digest: version.digest, at: nil) }
        }
    }
}

extension Pages.Failure {
    fileprivate var isDue: Bool { due.map { $0 <= .now } ?? false }
}
