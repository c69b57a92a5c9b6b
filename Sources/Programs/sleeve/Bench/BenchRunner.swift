import ArgumentParser
import CommandSupport
import Platform

/// Runs the processes of a bench, one after the other, and measures them. Blocks the calling thread.
struct BenchRunner {
    /// The measurements to make.
    struct Plan: Sendable {
        /// The results to keep. `cold` always runs: the others need its cache.
        var scenarios: [BenchScenario]
        var rounds: Int
        var rivals: [Rival]
        /// More options of `sleeve prefetch` and `sleeve refresh`.
        var options: [String]
    }

    /// The covers to download.
    struct Target: Sendable {
        var name: String
        var urls: [String]
        /// The authority to trust, a PEM file; nil for the system's.
        var certificate: String?
    }

    let sleeve: String
    let plan: Plan
    let folder: TemporaryFolder
    let children: ChildProcesses
    /// Shows what is being measured.
    let progress: (String) -> Void

    // MARK: A target

    /// Measures every scenario of the plan, and the rivals, in rounds.
    /// - Throws: `ChildError`.
    func measure(_ target: Target, into report: inout BenchReport) throws {
        try folder.write(target.urls.map { $0 + "\n" }.joined(), to: "urls.txt")
        try folder.write(Rival.configuration(target.urls), to: "urls.curl")
        var rounds: [BenchScenario: [BenchRound]] = [:]
        var pairs: [Rival: [(sleeve: ProcessRun, rival: ProcessRun)]] = [:]
        var failures: [Rival: String] = [:]
        // Results from before an error or a signal are reported.
        defer {
            for scenario in plan.scenarios {
                guard let rounds = rounds[scenario] else { continue }
                report.results.append(BenchResult(scenario, rounds))
            }
            for rival in plan.rivals where pairs[rival] != nil || failures[rival] != nil {
                report.comparisons.append(
                    Comparison(
                        rival, command: command(of: rival, target).map { $0.replacing(folder.path + "/", with: "") },
                        pairs: pairs[rival] ?? [],
                        failure: failures[rival]))
            }
        }
        for number in 0..<plan.rounds {
            func show(_ what: String) {
                progress(what + (plan.rounds > 1 ? " · round \(number + 1) of \(plan.rounds)" : ""))
            }
            var runs: [Rival: ProcessRun] = [:]
            func runRivals(_ rivals: some Sequence<Rival>) throws {
                for rival in rivals where failures[rival] == nil {
                    show(rival.rawValue)
                    do {
                        runs[rival] = try run(rival, target)
                    } catch ChildError.failed(let reason) {
                        failures[rival] = reason
                    }
                }
            }
            // The order alternates, so that a machine that becomes slower or faster favours neither.
            if number % 2 == 1 { try runRivals(plan.rivals.reversed()) }
            show(BenchScenario.cold.rawValue)
            folder.setAside("cache")
            let cold = try runSleeve(.cold, target)
            rounds[.cold, default: []].append(cold)
            if number % 2 == 0 { try runRivals(plan.rivals) }
            for (rival, run) in runs { pairs[rival, default: []].append((cold.process, run)) }
            // The other scenarios, and more rounds, would measure nothing.
            if cold.covers.isEmpty { return }
            for scenario in [BenchScenario.warm, .revalidate] where plan.scenarios.contains(scenario) {
                show(scenario.rawValue)
                rounds[scenario, default: []].append(try runSleeve(scenario, target))
            }
        }
    }

    // MARK: A process

    /// What Sleeve writes to stdout: its own figure is without its parent's memory before the start.
    private struct Summary: Decodable { var peakMemoryBytes: Int }

    private func runSleeve(_ scenario: BenchScenario, _ target: Target) throws -> BenchRound {
        let command =
            scenario == .revalidate ? ["refresh", "--all"] : ["prefetch", folder.file("urls.txt")]
        let files = [
            "--cache", folder.file("cache"), "--library", folder.file("albums.json"), "--report", folder.file("report"),
            "--quiet", "--json",
        ]
        let authority = target.certificate.map { ["--cacert", $0] } ?? []
        var process = try run([sleeve] + command + files + authority + plan.options)
        // Some covers may fail; what that does to the figures is a part of the result.
        guard [0, ExitStatus.someFailed.rawValue].contains(process.exitCode) else {
            let message = folder.text(of: "errors").split(separator: "\n").last.map(String.init)
            throw ChildError.failed(message ?? "sleeve \(command[0]) ended with exit code \(process.exitCode)")
        }
        if let summary = try? JSONDecoder().decode(Summary.self, from: Data(folder.text(of: "output").utf8)) {
            process.peakMemoryBytes = summary.peakMemoryBytes
        }
        return BenchRound(process, scenario, covers: BenchRound.covers(ofReport: folder.text(of: "report")))
    }

    private func command(of rival: Rival, _ target: Target) -> [String] {
        rival.command(
            list: folder.file("urls.txt"), configuration: folder.file("urls.curl"), certificate: target.certificate)
    }

    /// - Throws: `ChildError`: `failed` if the program is not there, or did not download every cover.
    private func run(_ rival: Rival, _ target: Target) throws -> ProcessRun {
        let files = try folder.makeFolder(rival.rawValue)
        defer { folder.setAside(rival.rawValue) }
        let process: ProcessRun
        do {
            process = try run(command(of: rival, target), in: files)
        } catch let error as SystemError {
            throw ChildError.failed(error.number == ENOENT ? "it is not installed" : error.description)
        }
        let count = folder.countFiles(in: rival.rawValue)
        guard process.exitCode == 0, count == target.urls.count else {
            let files = "\(Decimals.grouped(count)) of \(Decimals.count(target.urls.count, "file"))"
            throw ChildError.failed("exit code \(process.exitCode), \(files)")
        }
        return process
    }

    /// Runs a program to its end.
    /// - Throws: `SystemError` if it cannot be started; `ChildError.stopped` after a signal.
    private func run(_ words: [String], in directory: String? = nil) throws -> ProcessRun {
        if children.isStopped { throw ChildError.stopped }
        let output = try folder.create("output")
        let errors = try folder.create("errors")
        defer {
            close(output)
            close(errors)
        }
        // Writes of earlier runs must not fall into this one's time.
        sync()
        let (start, began) = (WallClock.microseconds(), ContinuousClock.now)
        let child = try children.start(words, in: directory, output: output, errors: errors)
        let exit = children.wait(for: child)
        let seconds = began.duration(to: .now) / .seconds(1)
        if children.isStopped { throw ChildError.stopped }
        return ProcessRun(
            seconds: seconds, cpuSeconds: exit.cpu, peakMemoryBytes: exit.memory, exitCode: exit.status,
            start: Int(start), end: Int(start) + Int(seconds * 1e6))
    }
}

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
