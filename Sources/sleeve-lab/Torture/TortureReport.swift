import CommandSupport
import CoverLibrary
import Platform

/// The counts and the violations of a torture.
struct TortureReport: Sendable {
    var seed: UInt64
    var directory: String
    var fileSystem: String
    var rounds = 0
    /// Processes that SIGKILL ended.
    var kills = 0
    /// Processes that were stopped and continued.
    var stops = 0
    var processes = 0
    /// Covers that processes reported as stored.
    var acknowledged = 0
    /// Acknowledged by a process that was killed afterwards.
    var acknowledgedByKilled = 0
    /// Acknowledged covers that no eviction may have removed, and that a check looked for.
    var required = 0
    /// Covers that checks read and hashed.
    var read = 0
    /// The most disk space that the covers took while processes ran, as a share of the capacity. Killed processes have not freed
    /// what they evicted.
    var peakShare = 0.0
    /// Its duration.
    var time = Duration.zero
    var violations: [TortureViolation] = []
    /// The latest round, and those of its processes that have ended. They are shown with a violation.
    var round = ""
    var processesOfRound: [String] = []
    /// A signal ended it.
    var isInterrupted = false

    var hasViolations: Bool { !violations.isEmpty }
    var lost: Int { violations.count { $0.kind == .lost } }

    mutating func begin(_ round: TortureRound) {
        self.round = "round \(round.number) (\(round.kind.rawValue), capacity \(ByteSize(round.capacity)))"
        processesOfRound = []
    }

    /// Counts a process that has ended.
    /// - Parameter coverBytes: The disk space of the covers then.
    mutating func add(_ process: TortureProcess, coverBytes: Int, capacity: Int, at time: Duration) {
        processes += 1
        if process.wasKilled { kills += 1 }
        if process.wasStopped { stops += 1 }
        acknowledged += process.acknowledgements.count
        if process.wasKilled { acknowledgedByKilled += process.acknowledgements.count }
        peakShare = max(peakShare, Double(coverBytes) / Double(capacity))
        processesOfRound.append(process.text)
        self.time = time
    }

    /// One object on one line.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            var line = JSONObject()
            line.add("rounds", rounds)
            line.add("kills", kills)
            line.add("stops", stops)
            line.add("processes", processes)
            line.add("acknowledged", acknowledged)
            line.add("acknowledgedByKilled", acknowledgedByKilled)
            line.add("required", required)
            line.add("read", read)
            line.add("lost", lost)
            line.add("violations", raw: String(decoding: try encoder.encode(violations), as: UTF8.self))
            line.add("peakShare", raw: Decimals.text(peakShare, 3))
            line.add("seconds", raw: Decimals.text(time / .seconds(1), 3))
            line.add("seed", raw: String(seed))
            line.add("directory", directory)
            line.add("fileSystem", fileSystem)
            if isInterrupted { line.add("interrupted", true) }
            return line.text + "\n"
        }
    }

    /// `round 12 · 70 kills · 15 stops · 4,210 covers read`.
    var progress: String {
        "round \(rounds + 1) · \(Decimals.count(kills, "kill")) · \(Decimals.count(stops, "stop")) · "
            + "\(Decimals.count(read, "cover")) read"
    }

    /// The summary. - Parameter command: Repeats the torture.
    func text(command: String) -> String {
        var text = isInterrupted ? "Stopped before its end.\n" : ""
        text += "\(Decimals.count(kills, "kill")) and \(Decimals.count(stops, "stop")) in "
        text += "\(Decimals.count(rounds, "round")) and \(Decimals.text(time / .seconds(1), 1)) s: "
        text += "\(Decimals.count(processes, "process", "processes")), "
        text += "\(Decimals.count(acknowledged, "cover")) acknowledged, "
        text += "\(Decimals.grouped(acknowledgedByKilled)) by processes that were killed later.\n"
        text += "\(Decimals.count(read, "cover")) read and hashed, \(Decimals.grouped(required)) of them required: "
        if violations.isEmpty { return text + "nothing was lost.\n" }
        text += "\(Decimals.count(violations.count, "violation")).\n\n"
        for violation in violations.prefix(Self.maximumListed) { text += violation.text + "\n" }
        if violations.count > Self.maximumListed {
            text += "… and \(Decimals.grouped(violations.count - Self.maximumListed)) more; --json lists them all\n"
        }
        text += "\nIn \(round), with these processes:\n"
        for process in processesOfRound { text += "  \(process)\n" }
        return text + "\nThe directory is kept: \(directory)\nRun it again: \(command)\n"
    }

    private static let maximumListed = 20
}
