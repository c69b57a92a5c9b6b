import ArgumentParser
import CommandSupport
import CoverLibrary
import OriginServer
import Platform

struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", _superCommandName: "sleeve",
        abstract: "Measure a network, a disk and a server.",
        discussion: """
              sleeve bench
              sleeve bench --covers 5000 --folder /mnt/disk
              sleeve bench albums.json --covers 200 --compare curl,aria2c,wget2
              sleeve bench --json -- --parallel 64 --per-host 64

            Without a list, the covers of a built-in origin are downloaded over loopback, which tells what this machine and its disk \
            can do. With a list, the covers are downloaded from their servers: each is requested once, and once more for its \
            revalidation, times the rounds and programs. The number of requests is printed first.

            Each scenario runs `sleeve prefetch` or `sleeve refresh` as a separate process, with a temporary cache:
              cold         into an empty cache
              warm         again: everything is cached, no request is sent
              revalidate   every cover is revalidated

            Covers a second: stored and verified covers over the whole life of the process. Latency: start of a transfer to its \
            last byte. Tail: last byte of the last transfer to the exit of the process.
            """)

    @Argument(
        help: ArgumentHelp("A list of covers; - is stdin. (default: covers of a built-in origin)", valueName: "list"),
        completion: .file())
    var list: String?

    @OptionGroup(title: "What to measure") var what: What
    @OptionGroup(title: "Output") var output: LibraryOptions.Output

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("Options of `sleeve prefetch` and `sleeve refresh` to measure with.", valueName: "options"))
    var options: [String] = []

    struct What: ParsableArguments {
        @Option(help: ArgumentHelp("The number of covers. (default: 1000, or the whole list)", valueName: "n"))
        var covers: Int?

        @Option(help: ArgumentHelp("Bytes of each cover of the built-in origin.", valueName: "size"))
        var bytes = ByteSize(32_000)

        @Option(help: ArgumentHelp("Rounds. (default: 3 with the built-in origin, else 1)", valueName: "n"))
        var rounds: Int?

        @Option(
            help: ArgumentHelp(
                "Report only these scenarios. (default: all)", valueName: "names"))
        var only: [CommaSeparated<BenchScenario>] = []

        @Option(
            help: ArgumentHelp(
                "Also measure these programs, alternating with Sleeve: curl, aria2c, wget2.", valueName: "names"))
        var compare: [CommaSeparated<Rival>] = []

        @Option(
            help: ArgumentHelp("Trust this certificate authority (PEM) instead of the system's.", valueName: "file"))
        var cacert: String?

        @Option(
            help: ArgumentHelp(
                "Create the temporary folder here, on the disk to measure. (default: that of caches)",
                valueName: "dir"))
        var folder: String?

        func validate() throws {
            guard covers ?? 1 > 0 else { throw ValidationError("--covers must be at least 1") }
            guard (1...1_000).contains(rounds ?? 1) else {
                throw ValidationError("--rounds must be between 1 and 1000")
            }
            guard (700...32 << 20).contains(bytes.bytes) else {
                throw ValidationError("--bytes must be between 700 and 32M")
            }
        }
    }

    func validate() throws {
        let own = [
            "--cache", "--library", "--report", "--metrics-file", "--json", "--quiet", "-q", "--cacert", "--offline",
        ]
        if let option = options.first(where: { own.contains(String($0.prefix { $0 != "=" })) }) {
            throw ValidationError("\(option) cannot be measured with: the bench has its own; --help lists its options")
        }
    }

    func run() async throws {
        output.apply()
        let plan = BenchRunner.Plan(
            scenarios: BenchScenario.allCases.filter { what.only.isEmpty || what.only.flatMap(\.values).contains($0) },
            rounds: what.rounds ?? (list == nil ? 3 : 1), rivals: what.compare.flatMap(\.values), options: options)
        for rival in plan.rivals where !rival.isInstalled { Log.warning("\(rival.rawValue) is not installed") }
        let (target, origin) = try await target(plan)
        let children = ChildProcesses()
        Signals.handle { _ in children.stop() }
        let (report, problem) = try await measure(target, plan, children)
        await origin?.stop()
        if !report.results.isEmpty { if output.json { try printJSON(report) } else { try printResult(report.text) } }
        try stopIfSignalled()
        if let problem {
            throw fail(problem, report.results.isEmpty ? ExitStatus.couldNotRun : ExitStatus.someFailed)
        }
        if report.failed > 0 { throw ExitStatus.someFailed }
    }

    /// Runs the bench on a new thread, which waits for its processes.
    private func measure(
        _ target: BenchRunner.Target, _ plan: BenchRunner.Plan, _ children: ChildProcesses
    ) async throws -> (report: BenchReport, problem: String?) {
        let program = try Program.path
        let parent =
            what.folder ?? Environment.value("XDG_CACHE_HOME") ?? Environment.value("HOME").map { "\($0)/.cache" }
        guard let parent else { throw fail("$HOME is not set; name a directory with --folder") }
        // Each other program runs in a separate folder.
        let temporary = try TemporaryFolder(in: URL(filePath: parent).path, name: "sleeve-bench")
        let result = await WorkThread.run {
            let runner = BenchRunner(
                sleeve: program, plan: plan, folder: temporary, children: children, progress: { show($0) })
            var report = BenchReport(
                version: LibraryAPI.version, date: Date().ISO8601Format(),
                machine: Self.machine,
                commandLine: (["sleeve prefetch LIST --cache NEW"] + options).joined(separator: " "),
                target: target.name)
            var problem: String?
            do {
                try runner.measure(target, into: &report)
            } catch ChildError.stopped {
                report.cancelled = true
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
        if output.quiet { return }
        if Log.isLive { Log.live(text) } else { Log.info(text) }
    }

    /// The covers of the list, or those of an origin, which is started.
    private func target(_ plan: BenchRunner.Plan) async throws -> (BenchRunner.Target, Origin?) {
        if let list {
            let target = try await target(list)
            if !output.quiet { Log.info(announcement(target, plan)) }
            return (target, nil)
        }
        let origin = try await Origin.start()
        let urls = (0..<(what.covers ?? 1_000)).map { "\(origin.coverURL($0))?size=\(what.bytes.bytes)" }
        return (BenchRunner.Target(name: "loopback, HTTP/1.1", urls: urls), origin)
    }

    private func target(_ list: String) async throws -> BenchRunner.Target {
        let lists = ListBatches(paths: [list], transform: { batch, _ in batch }, onFailure: { Log.error("\($0)") })
        var urls: [String] = []
        var seen: Set<String> = []
        for await batch in lists where urls.count < what.covers ?? .max {
            for case .item(let item) in batch where !item.url.isEmpty && seen.insert(item.url).inserted {
                urls.append(item.url)
            }
        }
        guard !urls.isEmpty else { throw fail("no cover URL was found in \(list)") }
        return BenchRunner.Target(name: list, urls: Array(urls.prefix(what.covers ?? .max)), certificate: what.cacert)
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

    /// The system, the processor and the number of cores: `Linux 6.18.1, AMD EPYC, 2 cores`.
    private static var machine: String {
        var name = utsname()
        uname(&name)
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        let processor = model.map { $0.drop { $0 == " " } }.map(String.init) ?? text(name.machine)
        let cores = Decimals.count(sysconf(Int32(_SC_NPROCESSORS_ONLN)), "core")
        return "\(text(name.sysname)) \(text(name.release)), \(processor), \(cores)"
    }
}

extension BenchScenario: ExpressibleByArgument {}
