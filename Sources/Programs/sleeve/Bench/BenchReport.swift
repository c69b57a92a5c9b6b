import CommandSupport
import Platform

/// Everything that a bench measured.
struct BenchReport: Codable, Sendable {
    var version: String
    /// When it began: RFC 3339.
    var date: String
    /// The system, the processor and the number of cores.
    var machine: String
    /// The command line of Sleeve.
    var commandLine: String
    /// What was downloaded: the list, or the built-in origin.
    var target: String
    var results: [BenchResult] = []
    var comparisons: [Comparison] = []
    /// The bench was stopped before its end.
    var cancelled = false

    var failed: Int { results.reduce(0) { $0 + $1.failed } }
}

extension BenchReport {
    var text: String {
        var text = "\(target)\n"
        text += TextTable(Self.columns, results.map(Self.row), numeric: Set(1..<Self.columns.count)).text()
        for result in results {
            if let failure = result.firstFailure {
                text +=
                    "\(result.scenario.rawValue): \(Decimals.count(result.failed, "cover")) failed, the first is \(failure)\n"
            }
            if !result.stages.isEmpty {
                text += "\(result.scenario.rawValue), where a cover's time went: \(Self.waterfall(result))\n"
            }
        }
        for comparison in comparisons { text += Self.text(comparison) }
        return text + (cancelled ? "Stopped: what is above was measured before.\n" : "")
    }

    /// Latency is in milliseconds; CPU time in microseconds a cover; memory is the peak.
    private static let columns = [
        "", "covers/s", "MB/s", "p50 ms", "p90", "p99", "p99.9", "max", "connections × requests", "tail ms", "CPU µs",
        "memory MB",
    ]

    /// The cells of a result.
    private static func row(_ result: BenchResult) -> [String] {
        func number(_ value: Double?, _ digits: Int = 1) -> String {
            value.map { $0 >= 1_000 ? Decimals.grouped(Int($0)) : Decimals.text($0, $0 < 100 ? digits : 0) } ?? ""
        }
        let latency = result.latency
        return [
            result.scenario.rawValue, number(result.coversPerSecond.median),
            result.megabytesPerSecond.median > 0 ? number(result.megabytesPerSecond.median) : "",
            number(latency?.p50), number(latency?.p90), number(latency?.p99), number(latency?.p999),
            number(latency?.maximum),
            result.connections > 0 ? "\(result.connections) × \(number(result.requestsPerConnection))" : "",
            number(result.tail?.median), number(result.cpuMicrosecondsPerCover),
            number(Double(result.peakMemoryBytes) / 1e6, 0),
        ]
    }

    /// `queue 312 (590) · first byte 52 (61) ms`: the mean and the 95th percentile of each stage that takes time.
    private static func waterfall(_ result: BenchResult) -> String {
        let stages = result.stages.filter { $0.p95 >= 0.05 || $0.mean >= 0.05 }
        func number(_ value: Double) -> String { Decimals.text(value, value < 10 ? 1 : 0) }
        return stages.map { stage in
            "\(CoverStage(rawValue: stage.name)?.title ?? stage.name) \(number(stage.mean)) (\(number(stage.p95)))"
        }.joined(separator: " · ") + " ms: mean (95 %)"
    }

    private static func text(_ comparison: Comparison) -> String {
        guard let ratio = comparison.ratio, let rival = comparison.rivalSeconds, let sleeve = comparison.sleeveSeconds
        else { return "\(comparison.rival) failed: \(comparison.failure ?? "not measured")\n" }
        func number(_ value: Double) -> String { Decimals.text(value, 2) }
        return
            "\(number(ratio.median)) of \(comparison.rival)'s time (\(number(ratio.minimum)) to \(number(ratio.maximum))): "
            + "\(number(sleeve.median)) s, \(comparison.rival) \(number(rival.median)) s\n  \(comparison.command)\n"
    }
}
