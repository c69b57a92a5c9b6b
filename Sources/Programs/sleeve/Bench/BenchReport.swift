import ArgumentParser
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

/// A program that downloads the same list, into plain files.
enum Rival: String, CaseIterable, ExpressibleByArgument, Sendable {
    case curl, aria2c, wget2

    /// Transfers in flight, with each program.
    private static let inFlight = 64

    var isInstalled: Bool {
        (Environment.value("PATH") ?? "").split(separator: ":").contains { access("\($0)/\(rawValue)", X_OK) == 0 }
    }

    /// The command; it writes into its working directory.
    /// - Parameters:
    ///   - list: a file with one URL on each line.
    ///   - configuration: a file with `configuration(_:)`.
    ///   - certificate: the authority to trust; nil for the system's.
    func command(list: String, configuration: String, certificate: String?) -> [String] {
        switch self {
        case .curl:
            [
                "curl", "--parallel", "--parallel-max", "\(Self.inFlight)", "--location", "--fail",
                "--no-progress-meter", "-K",
                configuration,
            ] + (certificate.map { ["--cacert", $0] } ?? [])
        case .aria2c:
            ["aria2c", "-j", "\(Self.inFlight)", "-i", list, "--quiet", "--no-conf"]
                + (certificate.map { ["--ca-certificate=\($0)"] } ?? [])
        case .wget2:
            ["wget2", "--max-threads=\(Self.inFlight)", "-i", list, "-q"]
                + (certificate.map { ["--ca-certificate=\($0)"] } ?? [])
        }
    }

    /// curl's configuration file for these URLs.
    static func configuration(_ urls: [String]) -> String {
        urls.enumerated().map { "url = \"\($1)\"\noutput = \"\($0)\"\n" }.joined()
    }
}

/// A rival against Sleeve, cold, in pairs of runs of alternating order.
struct Comparison: Codable, Sendable {
    var rival: String
    /// The command line, with its files in a temporary folder.
    var command: String
    /// Wall times in seconds.
    var rivalSeconds: Spread?
    var sleeveSeconds: Spread?
    /// Sleeve's wall time over the rival's, pair by pair.
    var ratio: Spread?
    /// Sleeve's CPU time over the rival's, pair by pair.
    var cpuRatio: Spread?
    var rivalRuns: [ProcessRun]
    /// Why the rival has no figures.
    var failure: String?

    init(
        _ rival: Rival, command: [String], pairs: [(sleeve: ProcessRun, rival: ProcessRun)],
        failure: String?
    ) {
        self.rival = rival.rawValue
        self.command = command.joined(separator: " ")
        rivalRuns = pairs.map(\.rival)
        self.failure = failure
        guard failure == nil, !pairs.isEmpty else { return }
        rivalSeconds = Spread(pairs.map(\.rival.seconds))
        sleeveSeconds = Spread(pairs.map(\.sleeve.seconds))
        ratio = Spread(pairs.map { $0.sleeve.seconds / $0.rival.seconds })
        cpuRatio = Spread(pairs.map { $0.sleeve.cpuSeconds / max($0.rival.cpuSeconds, 1e-6) })
    }
}
