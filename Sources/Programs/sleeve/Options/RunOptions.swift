import ArgumentParser
import CommandSupport
import CoverLibrary

/// The output of a run beside its result: files, and its progress.
struct RunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Write a JSON line for each cover.", valueName: "file"),
        completion: .file())
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write metrics for Prometheus at the end.", valueName: "file"),
        completion: .file())
    var metricsFile: String?

    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        try Self.check(report, "--report")
        try Self.check(metricsFile, "--metrics-file")
        if let report, let metricsFile, OutputFile.isSame(report, metricsFile) {
            throw ValidationError("--report and --metrics-file need two files: both name \(report)")
        }
    }

    /// - Throws: `ValidationError` for a path that can be no output file.
    static func check(_ path: String?, _ option: String) throws {
        if path?.isEmpty == true { throw ValidationError("\(option) needs a file") }
        if path == "-" { throw ValidationError("\(option) needs a file, not -: stdout holds the summary") }
    }

    /// - Parameter inputs: The files that the run reads, and - for stdin.
    /// - Throws: An exit code, after an error message, if the run would overwrite one of them, or a file of Sleeve's.
    func check(_ configuration: LibraryConfiguration, reading inputs: [String] = []) throws {
        try configuration.check(output: report, "--report", reading: inputs)
        try configuration.check(output: metricsFile, "--metrics-file", reading: inputs)
    }
}

/// How often a command prints its progress where stderr is not a terminal.
struct ProgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Without a terminal, print the progress this often; 0 is never. (default: 60s)", valueName: "time",
            visibility: .hidden), transform: TimeSpan.init)
    var progressInterval: TimeSpan?

    /// Zero for never; nil with `--quiet`, which shows no progress on a terminal either.
    func interval(_ options: LibraryOptions) -> Duration? {
        options.quiet ? nil : progressInterval?.duration ?? .seconds(60)
    }
}

/// Several values in one option: `cold,warm`.
struct CommaSeparated<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    var values: [Value]

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        values = words.compactMap { Value(argument: String($0)) }
        guard values.count == words.count else { return nil }
    }
}
