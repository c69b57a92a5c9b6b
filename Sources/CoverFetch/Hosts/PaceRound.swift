/// What `HostPace` gathers while its limit stands still.
struct PaceRound {
    typealias Instant = ContinuousClock.Instant

    private(set) var start: Instant?
    /// In flight at the most, when it began.
    private(set) var limit = 0
    /// Since when the limit stands where it stands.
    private var since: Instant?
    /// Of the rounds before it at this limit.
    var goodputs: [Double] = []
    private(set) var answered = 0
    private(set) var refused = 0
    /// The most that were in flight, and how often others waited.
    private(set) var company = 0
    private(set) var wanted = 0
    private var latency = Duration.zero
    /// In flight now, since when, and before then in this round, times the time.
    private var inFlight = 0
    private var changed: Instant?
    private var area = Duration.zero
    /// How many began, and were refused, by how many were in flight then. Refusals are quicker than answers, so what ends first
    /// says little.
    private var byCompany: [(begun: Int, refused: Int)] = []

    /// So many refusals tell.
    private static let enough = 4

    /// The round after it. - Parameter limit: in flight at the most from now on.
    func next(_ limit: Int, _ now: Instant) -> PaceRound {
        var next = PaceRound()
        (next.start, next.limit) = (now, limit)
        next.since = limit == self.limit ? since ?? now : now
        next.goodputs = goodputs
        (next.inFlight, next.changed) = (inFlight, now)
        return next
    }

    /// Whether it began at the limit it has. Of a first round, the quick ones end in it, and others before it.
    var isSettled: Bool { if let since, let start { since < start } else { false } }

    /// Not the mean: now and then the disk has the transfers wait for a moment, at any limit.
    var medianGoodput: Double {
        let (sorted, middle) = (goodputs.sorted(), goodputs.count / 2)
        if sorted.isEmpty { return 0 }
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// False: it says nothing of this round.
    mutating func answered(_ ended: HostPace.Ended, _ now: Instant) -> Bool {
        flies(inFlight - 1, now)
        guard let since, ended.began >= since else { return false }
        answered += 1
        latency += now - ended.began
        note(ended)
        return true
    }

    /// False: it says nothing of this round.
    mutating func refused(_ ended: HostPace.Ended, _ now: Instant) -> Bool {
        flies(inFlight - 1, now)
        guard let since, let start, ended.began >= since else { return false }
        refused += 1
        note(ended)
        if ended.began >= start, ended.company < byCompany.count { byCompany[ended.company].refused += 1 }
        return true
    }

    private mutating func flies(_ count: Int, _ now: Instant) {
        if let changed, now > changed { area += (now - changed) * inFlight }
        (inFlight, changed) = (max(0, count), max(now, changed ?? now))
    }

    func meanInFlight(until now: Instant) -> Double {
        guard let start, let changed, now > start else { return Double(inFlight) }
        return (area + (now - changed) * inFlight).inSeconds / (now - start).inSeconds
    }

    private mutating func note(_ ended: HostPace.Ended) {
        company = max(company, ended.company)
        if ended.hadOthers { wanted += 1 }
    }

    mutating func begins(_ company: Int, _ now: Instant) {
        flies(company, now)
        while byCompany.count <= company { byCompany.append((0, 0)) }
        byCompany[company].begun += 1
    }

    var total: Int { answered + refused }
    var share: Double { total == 0 ? 0 : Double(refused) / Double(total) }
    /// In seconds, of those answered.
    var meanLatency: Double { max(latency.inSeconds / Double(max(answered, 1)), 1e-6) }

    /// Whether so many in flight, or more, are refused half of the time; two refusals tell.
    func refusesMost(from number: Int) -> Bool {
        let above = byCompany.dropFirst(number)
        let refused = above.reduce(0) { $0 + $1.refused }
        return refused >= 2 && 2 * refused >= above.reduce(0) { $0 + $1.begun }
    }

    /// The number beyond which most was refused; nil: there is none. - Parameter usual: the share refused at any number.
    func wall(usual: Double) -> Int? {
        let most = 0.5 + usual / 2
        var (above, wall): ((begun: Int, refused: Int), Int?) = ((0, 0), nil)
        for number in byCompany.indices.dropFirst(2).reversed() {
            above.begun += byCompany[number].begun
            above.refused += byCompany[number].refused
            let isWall = above.refused >= Self.enough && Double(above.refused) >= most * Double(above.begun)
            if isWall, byCompany[number].refused > 0 { wall = number - 1 }
        }
        return wall
    }
}

extension Duration {
    var inSeconds: Double { self / .seconds(1) }
}
