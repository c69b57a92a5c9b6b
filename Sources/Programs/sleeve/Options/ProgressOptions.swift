import ArgumentParser
import CommandSupport

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
