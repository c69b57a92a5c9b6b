import ArgumentParser
import CommandSupport
import Platform

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
