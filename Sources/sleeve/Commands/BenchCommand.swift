import ArgumentParser
import CommandSupport
import CoverLibrary
import Platform

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", _superCommandName: "sleeve",
        abstract: "Measure what a network, a disk and a server can do, and where the time goes.",
        discussion: """
            Without a list, the covers of a built-in origin are downloaded over loopback and over emulated links, in about two \
            minutes. HTTPS and links need `sleeve-lab` in the folder of this program. With a list, the covers are downloaded \
            from their servers: each is requested once, and once more for its revalidation, times the rounds and programs. The \
            number of requests is printed first.

            Each scenario runs `sleeve prefetch` or `sleeve refresh` as a separate process, with a temporary cache:
              cold         into an empty cache
              warm         again: everything is cached, no request is sent
              revalidate   every cover is revalidated

            Covers a second: stored and verified covers over the whole life of the process. Latency: start of a transfer to its \
            last byte. Tail: last byte of the last transfer to the exit of the process.

              sleeve bench
              sleeve bench --link loopback --protocol http --covers 5000 --html bench.html
              sleeve bench albums.json --covers 200 --compare curl,aria2c,wget2
              sleeve bench --json -- --parallel 64 --per-host 64
            """)

    @Argument(
        help: ArgumentHelp("A list of covers; - is stdin. Default: covers of a built-in origin.", valueName: "list"),
        completion: .file())
    var list: String?

    @Option(help: ArgumentHelp("Download the covers of a `sleeve origin` that runs elsewhere.", valueName: "url"))
    var origin: String?

    @Option(
        help: ArgumentHelp(
            "Links to the built-in origin: loopback, or a round-trip time and a bandwidth. Default: loopback,15ms/200mbit,50ms/200mbit,150ms/50mbit.",
            valueName: "links"))
    var link: CommaSeparated<BenchLink>?

    @Option(
        name: .customLong("protocol"),
        help: ArgumentHelp("Protocols of the built-in origin: http (HTTP/1.1), https (HTTP/2).", valueName: "names"))
    var protocols = CommaSeparated(BenchProtocol.allCases)

    @Option(help: ArgumentHelp("The number of covers. Default: 1000, or the whole list.", valueName: "n"))
    var covers: Int?

    @Option(help: ArgumentHelp("The size of the built-in origin's covers.", valueName: "size"))
    var size = ByteSize(32_000)

    @Option(help: ArgumentHelp("Rounds. Default: 3 with the built-in origin, else 1.", valueName: "n"))
    var rounds: Int?

    @Option(help: ArgumentHelp("Report only these scenarios: cold, warm, revalidate.", valueName: "names"))
    var only = CommaSeparated(BenchScenario.allCases)

    @Option(
        help: ArgumentHelp(
            "Also measure these programs, alternating with Sleeve: curl, aria2c, wget2.", valueName: "names"))
    var compare = CommaSeparated<Rival>([])

    @Option(help: ArgumentHelp("Trust this certificate authority (PEM) instead of the system's.", valueName: "file"))
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "Create the temporary folder here: it decides which disk is measured. Default: $XDG_CACHE_HOME, else ~/.cache.",
            valueName: "dir"))
    var folder: String?

    @Option(help: ArgumentHelp("Write the report as a web page with plots.", valueName: "file"), completion: .file())
    var html: String?

    @Flag(help: "Write the report as JSON to stdout.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print no progress, only warnings and errors.")
    var quiet = false

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("Options of `sleeve prefetch` and `sleeve refresh` to measure with.", valueName: "options"))
    var options: [String] = []

    func validate() throws {
        guard list == nil || origin == nil else { throw ValidationError("name a list or --origin, not both") }
        guard covers ?? 1 > 0 else { throw ValidationError("--covers must be at least 1") }
        guard (1...1_000).contains(rounds ?? 1) else { throw ValidationError("--rounds must be between 1 and 1000") }
        guard (700...32 << 20).contains(size.bytes) else { throw ValidationError("--size must be between 700 and 32M") }
        guard list == nil && origin == nil || link == nil else {
            throw ValidationError("--link is about the built-in origin; it has no effect with a list or --origin")
        }
        let own = [
            "--cache", "--library", "--report", "--metrics-file", "--json", "--quiet", "-q", "--cacert", "--offline",
        ]
        if let option = options.first(where: { own.contains(String($0.prefix { $0 != "=" })) }) {
            throw ValidationError("\(option) cannot be measured with: the bench has its own; --help lists its options")
        }
    }

    func run() async throws {
        if let html { try OutputFile.check(html) }
        // A tier would answer in place of the server.
        unsetenv("SLEEVE_TIER")
        let target = try await userTarget()
        let origins = target == nil ? try plannedOrigins() : []
        let plan = BenchRunner.Plan(
            scenarios: BenchScenario.allCases.filter(only.values.contains),
            rounds: rounds ?? (target == nil ? 3 : 1), rivals: compare.values, options: options)
        for rival in plan.rivals where !rival.isInstalled { Log.warning("\(rival.rawValue) is not installed") }
        if let target, !quiet { Log.info(announcement(target, plan)) }
        let children = ChildProcesses()
        Signals.handle { _ in children.stop() }
        let (report, problem) = try await measure(target, origins, plan, children)
        if !report.results.isEmpty {
            if let html { try OutputFile.write(Array(BenchPage(report).html.utf8), to: html) }
            try printResult(json ? try report.json : report.text(width: nil))
        }
        if let signal = Signals.received { throw ExitStatus.stopped(by: signal) }
        if let problem {
            throw fail(problem, report.results.isEmpty ? ExitStatus.couldNotRun : ExitStatus.someFailed)
        }
        if report.failed > 0 { throw ExitStatus.someFailed }
    }

    /// Runs the bench on a new thread, which waits for its processes.
    private func measure(
        _ target: BenchRunner.Target?, _ origins: [PlannedOrigin], _ plan: BenchRunner.Plan, _ children: ChildProcesses
    ) async throws -> (report: BenchReport, problem: String?) {
        let program = try Program.path
        let parent = folder ?? Environment.value("XDG_CACHE_HOME") ?? Environment.value("HOME").map { "\($0)/.cache" }
        guard let parent else { throw fail("$HOME is not set; name a directory with --folder") }
        let temporary: TemporaryFolder
        do throws(SystemError) {
            // Each other program runs in a separate folder.
            temporary = try TemporaryFolder(in: URL(filePath: parent).path, name: "sleeve-bench")
        } catch {
            throw fail("cannot \(error)")
        }
        let result = await WorkThread.run {
            let runner = BenchRunner(
                sleeve: program, plan: plan, folder: temporary, children: children, progress: { show($0) })
            var report = BenchReport(
                version: LibraryAPI.version, date: Timestamp.text(WallClock.milliseconds()),
                machine: Machine.description,
                command: (["sleeve prefetch LIST --cache NEW"] + options).joined(separator: " "))
            var problem: String?
            do {
                if let target {
                    try runner.measure(target, into: &report)
                } else {
                    for origin in origins { try measure(origin, runner, into: &report) }
                }
            } catch ChildError.stopped {
                report.isInterrupted = true
            } catch ChildError.failed(let message) {
                problem = message
            } catch {
                problem = "cannot measure: \(error)"
            }
            return (report, problem)
        }
        temporary.removeAll()
        if Log.isLive { Log.live("") }
        return result
    }

    private func show(_ text: String) {
        if quiet { return }
        if Log.isLive { Log.live(text) } else { Log.info(text) }
    }

    // MARK: The built-in origin

    private static let links = CommaSeparated<BenchLink>(argument: "loopback,15ms/200mbit,50ms/200mbit,150ms/50mbit")

    private struct PlannedOrigin {
        /// The path of `sleeve`, or of `sleeve-lab` for what only that has.
        var program: String
        var link: BenchLink
        var name: BenchProtocol
    }

    /// - Throws: An exit code, after an error message, if `sleeve-lab` is needed and not there.
    private func plannedOrigins() throws -> [PlannedOrigin] {
        try ((link ?? Self.links)?.values ?? []).flatMap { link in
            try protocols.values.map { name in
                let program = try link.options.isEmpty && name == .http ? Program.path : Program.sibling("sleeve-lab")
                return PlannedOrigin(program: program, link: link, name: name)
            }
        }
    }

    private func measure(_ origin: PlannedOrigin, _ runner: BenchRunner, into report: inout BenchReport) throws {
        let certificate = origin.name == .https ? runner.folder.file("certificate.pem") : nil
        let tls = certificate.map { ["--tls", "--certificate", $0] } ?? []
        try runner.withOrigin(origin.program, origin.link.options + tls) { url in
            let target = BenchRunner.Target(
                name: "\(origin.link.name), \(origin.name.title)", urls: urls(of: url), certificate: certificate,
                capacity: origin.link.capacity)
            try runner.measure(target, into: &report)
        }
    }

    private func urls(of origin: String) -> [String] {
        let origin = origin.hasSuffix("/") ? String(origin.dropLast()) : origin
        return (0..<(covers ?? 1_000)).map { "\(origin)/covers/\($0).jpg?size=\(size.bytes)" }
    }

    // MARK: The user's servers

    /// Nil to measure the built-in origin.
    private func userTarget() async throws -> BenchRunner.Target? {
        if let origin { return .init(name: origin, urls: urls(of: origin), certificate: cacert) }
        guard let list else { return nil }
        let lists = ListBatches(paths: [list], onFailure: { Log.error("\($0)") })
        var urls: [String] = []
        var seen: Set<String> = []
        for await batch in lists where urls.count < covers ?? .max {
            for case .item(let item) in batch where !item.url.isEmpty && seen.insert(item.url).inserted {
                urls.append(item.url)
            }
        }
        guard !urls.isEmpty else { throw fail("no cover URL was found in \(list)") }
        return .init(name: list, urls: Array(urls.prefix(covers ?? .max)), certificate: cacert)
    }

    /// The number of requests, and of whom.
    private func announcement(_ target: BenchRunner.Target, _ plan: BenchRunner.Plan) -> String {
        let rivals = plan.rivals.filter(\.isInstalled)
        let downloads = plan.rounds * (1 + rivals.count)
        let checks = plan.scenarios.contains(.revalidate) ? plan.rounds : 0
        var text = "\(Decimals.count(target.urls.count, "cover")) of \(target.name): each is downloaded "
        text += downloads == 1 ? "once" : "\(downloads) times"
        if checks > 0 { text += " and revalidated " + (checks == 1 ? "once" : "\(checks) times") }
        text += ", \(Decimals.count(target.urls.count * (downloads + checks), "request")) in all"
        if !rivals.isEmpty { text += ", those of \(rivals.map(\.rawValue).joined(separator: ", ")) included" }
        return text + "; press Ctrl-C to stop"
    }
}

extension BenchScenario: ExpressibleByArgument {}
