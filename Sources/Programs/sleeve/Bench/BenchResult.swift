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
