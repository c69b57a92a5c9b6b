/// What `HostPace` gathers while its limit stands still.
struct PaceRound {
    var start: ContinuousClock.Instant?
    /// Goodputs of the rounds of this phase that are over.
    var sum = 0.0
    var count = 0.0
    private(set) var answered = 0
    private(set) var refused = 0
    /// The most that were in flight, and how often others waited.
    private(set) var company = 0
    private(set) var wanted = 0
    private var latency = Duration.zero
    /// How many began, and were refused, by how many were in flight then. Refusals are quicker than answers, so what ends first
    /// says little.
    private var byCompany: [(begun: Int, refused: Int)] = []

    /// So many refusals tell.
    private static let enough = 4

    mutating func answered(_ ended: HostPace.Ended, _ latency: Duration) {
        answered += 1
        self.latency += latency
        note(ended)
    }

    mutating func refused(_ ended: HostPace.Ended) {
        refused += 1
        note(ended)
        if ended.company < byCompany.count { byCompany[ended.company].refused += 1 }
    }

    private mutating func note(_ ended: HostPace.Ended) {
        company = max(company, ended.company)
        if ended.hadOthers { wanted += 1 }
    }

    mutating func begins(_ company: Int) {
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
