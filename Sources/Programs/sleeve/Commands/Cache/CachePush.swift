import ArgumentParser
import CommandSupport
import CoverLibrary

struct CachePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", _superCommandName: "sleeve cache",
        abstract: "Copy covers to where several machines share them.",
        discussion: """
              sleeve cache push --tier /mnt/nas/covers
              sleeve cache push --tier s3://covers/all --host covers.example.org

            fill, prefetch, get and serve read missing covers from a tier (--tier, $SLEEVE_TIER), and put there what they download; refresh puts \
            there what has changed. Use push once for a cache that is older than its tier, and after a run that could not put some. Covers that \
            the tier has damaged, or validated earlier, are put again; the rest stays. The keys of a bucket are in AWS_ACCESS_KEY_ID and \
            AWS_SECRET_ACCESS_KEY.

            Covers whose server calls them private or that vary by more than Accept, and those over 8 MiB, are not shared. A tier \
            holds whole URLs, which may grant access. Exits with 3 if a cover could not be put.
            """)

    @OptionGroup(title: "Which covers") var filter: FilterOptions
    @OptionGroup(title: "Cache and library") var place: TierOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var options: LibraryOptions

    func run() async throws {
        var configuration = try options.configuration()
        configuration.tier = place.resolved
        if configuration.tier ?? "" == "" {
            throw fail("name the tier with --tier or $SLEEVE_TIER", .validationFailure)
        }
        try await withLibrary(configuration, createsCache: false) { library in
            let start = ContinuousClock.now
            let selected = filter.filter
            let summary = try await withProgress(PushSummary(), every: progress.interval(options)) {
                [Self.text($0)]
            } _: { progress in
                try await library.push(.matching(selected), progress: progress)
            }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            try options.printResult(
                Summary(
                    put: summary.put, kept: summary.kept, unsuitable: summary.unsuitable, failed: summary.failed,
                    seconds: seconds), text: "\(Self.text(summary)), in \(Decimals.text(seconds, 2)) s.\n")
            try stopIfSignalled()
            if summary.failed > 0 {
                throw fail("\(Decimals.count(summary.failed, "cover")) not put", ExitStatus.someFailed)
            }
        }
    }

    private struct Summary: Encodable {
        let put, kept, unsuitable, failed: Int
        let seconds: Double
    }

    private static func text(_ summary: PushSummary) -> String {
        var text = "\(Decimals.count(summary.put, "cover")) put"
        if summary.kept > 0 { text += ", \(Decimals.grouped(summary.kept)) in the tier already" }
        if summary.unsuitable > 0 { text += ", \(Decimals.grouped(summary.unsuitable)) not to be shared" }
        return text
    }
}
