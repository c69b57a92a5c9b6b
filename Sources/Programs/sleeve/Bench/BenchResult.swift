/// The figures of one scenario, from all rounds.
struct BenchResult: Codable, Sendable {
    /// In milliseconds, from the start of a transfer to its last byte; covers that failed are not in it.
    struct Latency: Codable, Sendable, Equatable {
        var p50, p90, p99, p999, maximum: Double

        init(_ quantiles: Quantiles) {
            (p50, p90, p99) = (quantiles[0.5], quantiles[0.9], quantiles[0.99])
            (p999, maximum) = (quantiles[0.999], quantiles[1])
        }
    }

    /// In milliseconds.
    struct Stage: Codable, Sendable, Equatable {
        var name: String
        var mean, p95: Double
    }

    var scenario: BenchScenario
    /// Successful covers a round.
    var covers: Int
    /// Of all rounds.
    var failed: Int
    /// The first cover that failed, and why.
    var firstFailure: String?
    /// Covers stored and verified a second (cold), found fresh (warm), or confirmed (revalidate), of the process's whole life.
    var coversPerSecond: Spread
    /// Bodies received a second, in 10⁶ bytes.
    var megabytesPerSecond: Spread
    var cpuMicrosecondsPerCover: Double
    var peakMemoryBytes: Int
    var latency: Latency?
    var stages: [Stage]
    /// Maximum of the rounds.
    var connections: Int
    var requestsPerConnection: Double
    /// From the last byte received to the end of the process, in milliseconds.
    var tail: Spread?
    var rounds: [ProcessRun]

    init(_ scenario: BenchScenario, _ rounds: [BenchRound]) {
        self.scenario = scenario
        covers = rounds.map(\.covers.count).max() ?? 0
        failed = rounds.reduce(0) { $0 + $1.failures.count }
        firstFailure = rounds.lazy.flatMap(\.failures).first.map { "\($0.url): \($0.error ?? $0.outcome)" }
        coversPerSecond = Spread(rounds.map(\.coversPerSecond))
        megabytesPerSecond = Spread(
            rounds.map { $0.process.seconds > 0 ? Double($0.receivedBytes) / 1e6 / $0.process.seconds : 0 })
        let all = max(1, rounds.reduce(0) { $0 + $1.covers.count })
        cpuMicrosecondsPerCover = rounds.reduce(0) { $0 + $1.process.cpuSeconds } * 1e6 / Double(all)
        peakMemoryBytes = rounds.map(\.process.peakMemoryBytes).max() ?? 0
        let timings = rounds.flatMap(\.timings)
        let latencies = Quantiles(timings.map { Double($0.sum(CoverStage.transfer)) / 1_000 })
        latency = timings.isEmpty ? nil : Latency(latencies)
        stages =
            timings.isEmpty
            ? []
            : CoverStage.allCases.map { stage in
                let quantiles = Quantiles(timings.map { Double($0.sum([stage])) / 1_000 })
                return Stage(name: stage.rawValue, mean: quantiles.mean, p95: quantiles[0.95])
            }
        connections = rounds.map { Set($0.timings.map { $0["connection"] }).count }.max() ?? 0
        requestsPerConnection = connections > 0 ? Double(covers) / Double(connections) : 0
        let tails = rounds.compactMap { $0.tail.map { $0 * 1_000 } }
        tail = tails.isEmpty ? nil : Spread(tails)
        self.rounds = rounds.map(\.process)
    }
}

/// Exact quantiles of a sample, which is kept sorted: a benchmark has some thousands of values, and a histogram would round them.
struct Quantiles {
    let sorted: [Double]

    init(_ values: some Sequence<Double>) { sorted = values.sorted() }

    /// The smallest value that at least a share of `quantile` (0…1) of the sample does not exceed; 0 for an empty sample.
    subscript(_ quantile: Double) -> Double {
        if sorted.isEmpty { return 0 }
        // Products such as 0.999 × 1,000 are not exact.
        let rank = Int((quantile * Double(sorted.count) - 1e-9).rounded(.up))
        return sorted[min(max(rank, 1), sorted.count) - 1]
    }

    var mean: Double { sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count) }

    /// The median: the mean of the two middle values if the count is even.
    var median: Double {
        if sorted.isEmpty { return 0 }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// The smallest, the middle and the largest value of some rounds.
struct Spread: Codable, Sendable, Equatable {
    var minimum, median, maximum: Double

    init(_ values: [Double]) {
        let quantiles = Quantiles(values)
        minimum = quantiles.sorted.first ?? 0
        median = quantiles.median
        maximum = quantiles.sorted.last ?? 0
    }
}

/// A stage on the way of a cover, in order. The raw values are the names in the report.
enum CoverStage: String, CaseIterable {
    case queue, name, connect, tls, firstByte, body, storeQueue, hash, append, sync, commit

    /// The stages from the start of the transfer to its last byte.
    static let transfer: [Self] = [.name, .connect, .tls, .firstByte, .body]
    /// The stages after the last byte.
    static let store: [Self] = [.storeQueue, .hash, .append, .sync, .commit]

    var title: String {
        switch self {
        case .tls: "TLS"
        case .firstByte: "first byte"
        case .storeQueue: "store queue"
        default: rawValue
        }
    }
}

/// Where the time of one cover went, in microseconds, by the names of stages. `end` is the commit, in microseconds since 1970;
/// transfers with the same `connection` shared one.
typealias StageTimes = [String: Int]

extension StageTimes {
    func sum(_ stages: [CoverStage]) -> Int { stages.reduce(0) { $0 + self[$1.rawValue, default: 0] } }

    /// When the last byte arrived, in microseconds since 1970.
    var received: Int { self["end", default: 0] - sum(CoverStage.store) }
}
