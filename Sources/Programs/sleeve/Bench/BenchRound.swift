import Platform

/// The state of the cache before a round.
enum BenchScenario: String, Codable, CaseIterable, Sendable {
    /// Into an empty cache.
    case cold
    /// Again: everything is cached, and no request is sent.
    case warm
    /// Every cover is revalidated: an unchanged one is a 304.
    case revalidate

    /// The outcome of a success, in the words of the report.
    var outcome: String {
        switch self {
        case .cold: "downloaded"
        case .warm: "fresh"
        case .revalidate: "revalidated"
        }
    }
}

/// The cost of one process.
struct ProcessRun: Codable, Sendable {
    /// Wall time in seconds.
    var seconds: Double
    /// CPU time in seconds.
    var cpuSeconds: Double
    var peakMemoryBytes: Int
    var exitCode: Int32
    /// Microseconds since 1970.
    var start: Int
    var end: Int
}

/// One run of Sleeve, and what it reported of each cover.
struct BenchRound: Sendable {
    /// The members of a report line that are measured.
    struct Cover: Decodable, Sendable {
        var url: String
        var outcome: String
        var bytes: Int
        /// Why there is no cover.
        var error: String?
        var timings: StageTimes?
    }

    var process: ProcessRun
    /// The covers that succeeded.
    var covers: [Cover]
    /// The covers that did not.
    var failures: [Cover]

    init(_ process: ProcessRun, _ scenario: BenchScenario, covers: [Cover]) {
        self.process = process
        // A changed cover is as good as an unchanged one, and a repeated URL costs nothing.
        let good: Set = [scenario.outcome, "downloaded"]
        self.covers = covers.filter { good.contains($0.outcome) }
        failures = covers.filter { ["failed", "skipped"].contains($0.outcome) }
    }

    /// Decodes a report. An incomplete last line is ignored: the run may have been stopped.
    static func covers(ofReport report: String) -> [Cover] {
        let decoder = JSONDecoder()
        return report.split(separator: "\n").compactMap { try? decoder.decode(Cover.self, from: Data($0.utf8)) }
    }

    var timings: [StageTimes] { covers.compactMap(\.timings) }
    /// Length of the bodies that were transferred; a 304 has none.
    var receivedBytes: Int { covers.reduce(0) { $0 + ($1.outcome == "downloaded" ? $1.bytes : 0) } }
    /// Covers a second of the process's whole life. Failures do not count.
    var coversPerSecond: Double { process.seconds > 0 ? Double(covers.count) / process.seconds : 0 }
    /// From the last byte received to the end of the process, in seconds; nil without a transfer.
    var tail: Double? { timings.map(\.received).max().map { Double(process.end - $0) / 1e6 } }
}
