import ArgumentParser
import CommandSupport
import CoverLibrary

struct Refresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", _superCommandName: "sleeve",
        abstract: "Check cached covers for changes.",
        discussion: """
            Sends a conditional request (ETag, Last-Modified) for every cached cover that is no longer fresh. Most servers \
            answer “304 Not Modified” without a body; changed covers are downloaded. If a server is unreachable or has lost a \
            cover, the cached one stays.

            A cover that its server has lost (404, 410) is a failure once, and known to be gone from then on: it is counted, and listed \
            by --report with "gone":true, but is no failure of the run. So is one whose host cannot be reached for two weeks, or for three checks while \
            others answer.

            With a budget (--max-requests, --max-bytes, --max-time) the covers that most likely changed or were used last come \
            first. Covers that a run leaves out rise in priority with the time since their check. Only one refresh runs on a cache at \
            a time: a second one exits with 75.

              sleeve refresh --quiet                              for a nightly cron job
              sleeve refresh --older-than 7d --max-requests 5000
              sleeve refresh --all --only 'https://covers.example.org/*' --max-time 10m

            Covers of Subsonic servers (getCoverArt) are left out: they are kept under addresses without credentials, which the \
            server would refuse. `sleeve remove` and a prefetch renew them.

            With --tier, covers that have changed are put where several caches share them; none is read from there. Exits with 3 if \
            one could not be put.

            A cache that is empty or missing needs no refresh: the command says so and succeeds.

            Exit codes: 0 success, 1 nothing could be checked, 3 some covers could not be checked or put into the tier (none for covers known to be gone), 75 another refresh is running on this \
            cache, 128+N stopped by signal N.
            """)

    @Option(
        help: ArgumentHelp(
            "Check covers not checked for this long, fresh or not, e.g. 12h or 7d; a plain number is seconds.",
            valueName: "time"))
    var olderThan: TimeSpan?

    @Flag(help: "Also recheck fresh covers, except those that their server calls immutable.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Check only URLs that match: * matches any text, ? any character.", valueName: "pattern"))
    var only: String?

    @Option(help: ArgumentHelp("Stop after this many requests.", valueName: "n"))
    var maxRequests: Int?

    @Option(help: ArgumentHelp("Stop after downloading this much, e.g. 500M.", valueName: "size"))
    var maxBytes: ByteSize?

    @Option(help: ArgumentHelp("Stop after this time, e.g. 90s, 30m or 12h.", valueName: "time"))
    var maxTime: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Wait a random time up to this long before starting, so that many machines do not start together, e.g. 30m.",
            valueName: "time"))
    var jitter: TimeSpan?

    @OptionGroup var tier: TierOptions
    @OptionGroup var files: RunOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if all, olderThan != nil { throw ValidationError("--all and --older-than cannot be combined") }
        if only?.isEmpty == true { throw ValidationError("--only needs a pattern, such as '*'") }
        guard maxRequests.map({ $0 > 0 }) ?? true else { throw ValidationError("--max-requests must be more than 0") }
        if network.offline { throw ValidationError("--offline cannot be combined with refresh, which sends requests") }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        tier.apply(to: &configuration)
        try files.check(configuration)
        let run = try CoverRun("refresh", options, files, cache: configuration.cachePath)
        if let jitter {
            let milliseconds = Int.random(in: 0...Int(jitter.duration / .milliseconds(1)))
            // A signal may end the process here: nothing has started yet.
            try await Task.sleep(for: .milliseconds(milliseconds))
        }
        // As after the installation of a timer, before the first prefetch.
        guard LibraryAPI.hasCache(at: configuration.cacheDirectory) else {
            return try run.endWithoutCache(
                "Nothing to refresh: there is no cache at \(configuration.cachePath). `sleeve prefetch` creates one.\n")
        }
        let library = try await run.opening { try await openLibrary(configuration, createsCache: false) }
        let lock = try await library.closingOnError { try RefreshLock("\(configuration.cachePath)/refresh.lock") }
        try await run.run(library.refresh(request), of: library) { summary in
            lock.release()
            if maxTime != nil, summary.requested == 0, summary.remaining > 0, Signals.received == nil {
                Log.warning("no server answered within --max-time; check your connection")
            }
            guard summary.isEmpty, let entries = try? await library.cacheTotals().entries else { return "" }
            return nothingDue(entries)
        }
    }

    /// Explains an empty run. - Parameter cached: The number of entries in the cache.
    private func nothingDue(_ cached: Int) -> String {
        if cached == 0 { return "Nothing to refresh: the cache is empty.\n" }
        let matches = only.map { "matches \($0)" }
        if all, let matches { return "Nothing to refresh: no cached URL \(matches).\n" }
        let covers =
            cached == 1 && only == nil
            ? "The cached cover is not due"
            : "None of the \(Decimals.grouped(cached)) cached covers \(matches.map { $0 + " and " } ?? "")is due"
        let hint = all ? "" : olderThan == nil ? "; --all also checks fresh covers" : ": --older-than leaves them out"
        return "Nothing to refresh. \(covers)\(hint).\n"
    }

    private var request: RefreshRequest {
        var request = RefreshRequest()
        if all { request.scope = .all }
        if let olderThan { request.scope = .olderThan(olderThan.duration) }
        request.pattern = only
        request.maximumRequests = maxRequests
        request.maximumBytes = maxBytes?.bytes
        request.maximumTime = maxTime?.duration
        return request
    }
}
