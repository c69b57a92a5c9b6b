import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct Refresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", _superCommandName: "sleeve",
        abstract: "Check cached covers for changes.",
        discussion: """
              sleeve refresh --quiet                              for a nightly cron job
              sleeve refresh --older-than 7d --max-requests 5000
              sleeve refresh --all --matching 'https://covers.example.org/*' --max-time 10m

            Sends a conditional request (ETag, Last-Modified) for every cached cover that is no longer fresh. Most servers \
            answer “304 Not Modified” without a body; changed covers are downloaded. If a server is unreachable or has lost a \
            cover, the cached one stays. A cache that is empty or missing needs no refresh: the command says so and succeeds.

            A cover that its server has lost (404, 410) is a failure once, and known to be gone from then on: it is counted, and listed \
            by --report with "gone":true, but is no failure of the run. So is one that got another final answer (401, 403, 451, \
            a page instead of the picture, no-store) in three nights, or in three runs with --all; the third names it. So is one whose host cannot be reached for two weeks, or for three checks \
            while others answer. What is gone stays in the cache, and is asked for each time. A host that answers 403 for eight covers and none otherwise may \
            have banned this computer: these stay failures, unless the signatures of their URLs have expired.

            A picture that a server gives in place of three different covers is a placeholder ("no longer available"): the cached covers stay, and count \
            in the same way. If it is their cover, `sleeve cache remove` and a prefetch get it.

            With a budget (--max-requests, --max-bytes, --max-time) the covers that most likely changed or were used last come \
            first. Covers that a run leaves out rise in priority with the time since their check. Only one refresh runs on a cache at \
            a time: a second one exits with 75.

            Covers that were got with --header are left out without it. So are those of Subsonic servers (getCoverArt) and of \
            --key-ignores, whose addresses are kept without credentials: a prefetch of their full addresses checks those that are stale.

            Exits with 3 if a cover could not be checked.
            """)

    @OptionGroup(title: "What to check") var what: What
    @OptionGroup(title: "How much") var budget: Budget
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Cache and library") var store: CapacityOptions
    @OptionGroup(title: "Output") var files: RunOptions
    @OptionGroup var options: LibraryOptions

    struct What: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Check covers not checked for this long, fresh or not, e.g. 12h or 7d.",
                valueName: "time"), transform: TimeSpan.init)
        var olderThan: TimeSpan?

        @Flag(help: "Also recheck fresh covers, except those that their server calls immutable.")
        var all = false

        @Option(
            help: ArgumentHelp(
                "Check only URLs that match: * matches any text, ? any character.", valueName: "pattern"))
        var matching: String?

        @OptionGroup var headers: HeaderOptions

        func validate() throws {
            if all, olderThan != nil { throw ValidationError("--all and --older-than cannot be combined") }
            if matching?.isEmpty == true { throw ValidationError("--matching needs a pattern, such as '*'") }
        }
    }

    struct Budget: ParsableArguments {
        @Option(help: ArgumentHelp("Stop after this many requests.", valueName: "n"))
        var maxRequests: Int?

        @Option(help: ArgumentHelp("Stop after downloading this much, e.g. 500M.", valueName: "size"))
        var maxBytes: ByteSize?

        @Option(
            help: ArgumentHelp("Stop after this time, e.g. 90s, 30m or 12h.", valueName: "time"),
            transform: TimeSpan.init)
        var maxTime: TimeSpan?

        @Option(
            help: ArgumentHelp(
                "Wait a random time up to this long before, so that machines do not start together.",
                valueName: "time"), transform: TimeSpan.init)
        var jitter: TimeSpan?

        func validate() throws {
            guard maxRequests ?? 1 > 0 else { throw ValidationError("--max-requests must be more than 0") }
        }
    }

    func validate() throws {
        if network.offline { throw ValidationError("--offline cannot be combined with refresh, which sends requests") }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        store.apply(to: &configuration)
        try files.check(configuration)
        let request = try request()
        let run = try CoverRun("refresh", options, files, cache: configuration.cachePath)
        if let jitter = budget.jitter {
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
            if budget.maxTime != nil, summary.requested == 0, summary.remaining > 0, Signals.received == nil {
                Log.warning("no server answered within --max-time; check your connection")
            }
            guard summary.isEmpty, let entries = try? await library.cacheTotals().entries else { return "" }
            return nothingDue(entries)
        }
    }

    /// Explains an empty run. - Parameter cached: The number of entries in the cache.
    private func nothingDue(_ cached: Int) -> String {
        if cached == 0 { return "Nothing to refresh: the cache is empty.\n" }
        let matches = what.matching.map { "matches \($0)" }
        if what.all, let matches { return "Nothing to refresh: no cached URL \(matches).\n" }
        let covers =
            cached == 1 && what.matching == nil
            ? "The cached cover is not due"
            : "None of the \(Decimals.grouped(cached)) cached covers \(matches.map { $0 + " and " } ?? "")is due"
        let hint =
            what.all
            ? "" : what.olderThan == nil ? "; --all also checks fresh covers" : ": --older-than leaves them out"
        return "Nothing to refresh. \(covers)\(hint).\n"
    }

    private func request() throws -> RefreshRequest {
        var request = RefreshRequest()
        if what.all { request.scope = .all }
        if let olderThan = what.olderThan { request.scope = .olderThan(olderThan.duration) }
        request.selection = .matching(CoverFilter(pattern: what.matching))
        request.headerFields = try what.headers.fields()
        request.maximumRequests = budget.maxRequests
        request.maximumBytes = budget.maxBytes?.bytes
        request.maximumTime = budget.maxTime?.duration
        return request
    }
}

/// Allows one refresh of a cache at a time. The lock file holds the process id of the refresh that runs.
final class RefreshLock: Sendable {
    private let lock: FileLock

    /// - Throws: An exit code, after an error message: 75 (EX_TEMPFAIL) if another process holds the lock.
    init(_ path: String) throws {
        lock = try FileLock(path: path)
        guard try lock.tryLock() else {
            let holder = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0.filter(\.isNumber)) }
            throw fail(
                "\(holder.map { "process \($0)" } ?? "another process") is refreshing this cache; this run did nothing",
                ExitStatus.tryLater)
        }
        lock.note("\(getpid())\n")
    }

    func release() { lock.unlock() }
}
