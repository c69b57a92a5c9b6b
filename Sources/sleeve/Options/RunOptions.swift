import ArgumentParser

/// Files that a run writes in addition to stdout.
struct RunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write one JSON line per cover: url, outcome, digest, bytes, milliseconds, error, timings.",
            discussion: "A file, a pipe or a device, but not -: stdout holds the summary.", valueName: "file"))
    var report: String?

    @Option(
        help: ArgumentHelp(
            "Write metrics of the run for Prometheus when it ends: times, outcomes, failures by class, the cache's size.",
            valueName: "file"))
    var metricsFile: String?

    func validate() throws {
        for (path, name) in [(report, "--report"), (metricsFile, "--metrics-file")] {
            if path?.isEmpty == true { throw ValidationError("\(name) needs a file") }
            if path == "-" { throw ValidationError("\(name) needs a file, not -: stdout holds the summary") }
        }
    }
}
