import ArgumentParser
import CoverLibrary

struct Refresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Ask whether what is cached still stands; fetch again what has changed.",
        discussion: """
            Every cover that is not fresh any more is asked for with the validators its server gave (ETag, Last-Modified); most \
            answers are “304 Not Modified” and bring no body. Covers that cannot be had now stay as they are.

            With a budget, what is most likely to have changed or was used last is asked for first, and the next run goes on \
            from there. One refresh runs at a time: another one on the same cache exits with 75.

              sleeve refresh --quiet                              what a nightly cron job runs
              sleeve refresh --older-than 7d --max-requests 5000
              sleeve refresh --all --only 'https://covers.example.org/*' --max-time 10m

            Where there is no cache yet, there is nothing to do it to: that is an error (1), also of cron's first night, \
            since a wrong --cache would look the same for ever. The metrics file is written all the same.

            Exit codes: 0 all there, 1 could not run, 3 some covers could not be asked for, 75 another refresh is running, 128+N stopped by signal N.
            """)

    @Option(
        help: ArgumentHelp(
            "Ask for covers that no server has spoken for in so long, fresh or not: 90s, 30m, 12h, 7d.",
            valueName: "time"))
    var olderThan: TimeSpan?

    @Flag(help: "Ask for every cover, fresh or not. Those that are fresh and “immutable” are left alone all the same.")
    var all = false

    @Option(
        help: ArgumentHelp("Only URLs like this: * stands for any text, ? for any character.", valueName: "pattern"))
    var only: String?

    @Option(help: ArgumentHelp("Send at most so many requests.", valueName: "n"))
    var maxRequests: Int?

    @Option(help: ArgumentHelp("Send no more requests once so much has been downloaded.", valueName: "size"))
    var maxBytes: ByteSize?

    @Option(help: ArgumentHelp("Stop after so long: 90s, 30m, 12h.", valueName: "time"))
    var maxTime: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Begin after a random time of at most so long, so that many machines do not ask at once: 30m.",
            valueName: "time"))
    var jitter: TimeSpan?

    @OptionGroup var files: RunOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: LibraryOptions

    func validate() throws {
        if all, olderThan != nil { throw ValidationError("--all and --older-than cannot both be") }
        if only?.isEmpty == true { throw ValidationError("--only needs a pattern, such as '*'") }
        guard maxRequests.map({ $0 > 0 }) ?? true else { throw ValidationError("--max-requests must be more than 0") }
        if network.offline { throw ValidationError("nothing can be refreshed --offline") }
    }

    func run() async throws {
        var configuration = try options.configuration()
        try network.apply(to: &configuration)
        let run = try CoverRun("refresh", options, files)
        if let jitter {
            let milliseconds = Int.random(in: 0...Int(jitter.duration / .milliseconds(1)))
            // Nothing has begun: a signal ends it as it ends any program.
            try await Task.sleep(for: .milliseconds(milliseconds))
        }
        let library = try await run.opening { try await openLibrary(configuration, makesCache: false) }
        let lock: RunLock
        do {
            lock = try RunLock("\(configuration.cacheDirectory)/refresh.lock")
        } catch {
            await library.close()
            throw error
        }
        try await run.run(library) { [request] progress in
            defer { lock.release() }
            return try await library.refresh(request, progress: progress)
        }
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
