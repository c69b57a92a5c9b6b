import Testing

@testable import sleeve

@Suite struct BenchTests {
    // MARK: Quantiles

    @Test func `quantiles are values of the sample, by nearest rank`() {
        let thousand = Quantiles((1...1_000).reversed().map(Double.init))
        #expect([0, 0.5, 0.9, 0.99, 0.999, 1].map { thousand[$0] } == [1, 500, 900, 990, 999, 1_000])
        #expect(Quantiles([7])[0.999] == 7)
        #expect(Quantiles([])[0.5] == 0)
        #expect(Quantiles([1, 2, 4, 100]).median == 3)
        #expect(Spread([3, 1, 2]) == Spread([1, 3, 2]))
        #expect(Spread([3, 1, 2]).minimum == 1 && Spread([3, 1, 2]).median == 2 && Spread([3, 1, 2]).maximum == 3)
    }

    // MARK: Rounds

    /// Covers of 1,000 bytes that are requested at once; each stage takes this many milliseconds.
    private func round(
        _ stages: [CoverStage: Int], covers count: Int = 100, failed: Int = 0, seconds: Double = 10, load: Double = 0.2
    ) -> BenchRound {
        let start = 1_000_000_000
        let times = stages.mapValues { $0 * 1_000 }
        let end = start + times.values.reduce(0, +)
        let process = ProcessRun(
            seconds: seconds, cpuSeconds: 1, peakMemoryBytes: 1, exitCode: 0, machineLoad: load, start: start,
            end: start + Int(seconds * 1e6))
        let good = (0..<count).map { number in
            BenchRound.Cover(
                url: "http://a.example/\(number).jpg", outcome: "downloaded", bytes: 1_000,
                timings: StageTimes(times, end: end, connection: number % 4))
        }
        let bad = (0..<failed).map { number in
            BenchRound.Cover(
                url: "http://a.example/bad-\(number).jpg", outcome: "failed", bytes: 0, error: "status 404 (not found)")
        }
        return BenchRound(process, .cold, covers: good + bad)
    }

    @Test func `failed covers count neither in throughput nor in latency`() {
        let result = BenchResult(
            "link", .cold, [round([.firstByte: 40, .body: 10, .commit: 5], covers: 50, failed: 50)], capacity: nil)
        #expect(result.covers == 50)
        #expect(result.failed == 50)
        #expect(result.firstFailure == "http://a.example/bad-0.jpg: status 404 (not found)")
        #expect(result.coversPerSecond.median == 5)
        #expect(result.megabytesPerSecond.median == 0.005)
        #expect(result.latency?.p50 == 50)
        #expect(result.connections == 4)
        #expect(result.requestsPerConnection == 12.5)
        // 10 s, of which the last byte arrived after 50 ms.
        #expect(result.tail?.median == 9_950)
        #expect(result.cpuMicrosecondsPerCover == 20_000)
    }

    @Test func `the throughput over time adds up to the bytes that arrived`() throws {
        let result = BenchResult("link", .cold, [round([.firstByte: 40, .body: 20])], capacity: nil)
        let series = try #require(result.throughput)
        let megabits = series.values.reduce(0, +) * series.step
        #expect(abs(megabits - 0.8) < 1e-6)
        // The bodies arrived in the last third.
        #expect(series.values.prefix(19).allSatisfy { $0 == 0 })
        #expect(result.histogram?.values.reduce(0, +) == 100)
    }

    @Test func `a report line has the stages of its cover, and a torn last line is ignored`() throws {
        let stages = CoverStage.allCases.enumerated().map { "\"\($1.rawValue)\":\($0 + 1)" }.joined(separator: ",")
        let line = """
            {"url":"http://a/1.jpg","outcome":"downloaded","digest":"00","bytes":7,"milliseconds":1.5,"error":null,\
            "timings":{\(stages),"end":500,"connection":9}}
            """
        let covers = BenchRound.covers(
            ofReport: line + "\n" + "{\"url\":\"http://a/2.jpg\",\"outcome\":\"fresh\",\"bytes\":3}\n{\"url\":\"ht")
        #expect(covers.map(\.outcome) == ["downloaded", "fresh"])
        let timings = try #require(covers[0].timings)
        #expect(CoverStage.allCases.map { timings[$0] } == Array(1...11))
        #expect(timings.connection == 9)
        // Of 7, 8, 9, 10 and 11 µs after the last byte, and 2 to 6 in the transfer.
        #expect(timings.received == 500 - 45)
        #expect(timings.started == 500 - 45 - 20)
    }

    // MARK: Verdicts

    @Test func `the verdict names what the run waits for, with the figure`() {
        func verdict(_ rounds: BenchRound..., capacity: Double? = nil) -> Verdict? {
            Verdict(rounds, capacity: capacity)
        }
        let waiting = verdict(round([.connect: 10, .firstByte: 980, .body: 10]))
        #expect(waiting?.bottleneck == .server)
        #expect(waiting?.text.contains("of 100 requests in flight on average, 98 waited for their first byte") == true)
        #expect(verdict(round([.connect: 1, .firstByte: 300, .body: 700]))?.bottleneck == .bodies)
        #expect(verdict(round([.connect: 500, .tls: 200, .firstByte: 200]))?.bottleneck == .handshakes)
        #expect(verdict(round([.firstByte: 100, .storeQueue: 900]))?.bottleneck == .disk)
        #expect(verdict(round([.firstByte: 100], load: 0.97))?.bottleneck == .processor)
        #expect(verdict(round([.firstByte: 900], seconds: 1))?.bottleneck == .start)
        #expect(verdict(round([.firstByte: 100], failed: 20))?.bottleneck == .failures)
        #expect(verdict(round([.firstByte: 100], failed: 1))?.bottleneck != .failures)
        // 100,000 bytes in 1 s are 0.8 Mbit/s.
        let line = verdict(round([.firstByte: 400, .body: 600]), capacity: 900_000)
        #expect(line?.bottleneck == .line)
        #expect(line?.text == "your line: 0.8 of 0.9 Mbit/s")
        #expect(verdict(round([.firstByte: 400, .body: 600]), capacity: 9_000_000)?.bottleneck == .bodies)
        #expect(verdict(round([:], covers: 0)) == nil)
    }

    @Test func `where other programs keep the machine busy, the verdict says so`() {
        func text(seconds: Double) -> String? {
            let busy = round([.firstByte: 100], seconds: seconds, load: 0.97)
            return Verdict([busy], capacity: nil, processors: 2)?.text
        }
        // Of one second of processor time.
        #expect(text(seconds: 0.6) == "this machine: 97 % busy; Sleeve used 1.67 of 2 processors")
        #expect(text(seconds: 4)?.hasPrefix("this machine: 97 % busy; Sleeve used 0.25 of 2 processors, other") == true)
    }

    // MARK: Reports

    private var report: BenchReport {
        var report = BenchReport(version: "1", date: "2030-01-01", machine: "<a & b>", command: "sleeve prefetch LIST")
        let round = round([.queue: 100, .firstByte: 40, .body: 20, .sync: 30])
        report.results = [
            BenchResult("50ms/200mbit", .cold, [round], capacity: 2e8),
            BenchResult("<list>", .cold, [round], capacity: nil),
        ]
        let rival = ProcessRun(
            seconds: 20, cpuSeconds: 2, peakMemoryBytes: 1, exitCode: 0, machineLoad: nil, start: 0, end: 1)
        report.comparisons = [
            Comparison(.curl, link: "<list>", command: ["curl", "-Z"], pairs: [(round.process, rival)], failure: nil),
            Comparison(.wget2, link: "<list>", command: ["wget2"], pairs: [], failure: "it is not installed"),
        ]
        return report
    }

    @Test func `the page has every link, verdict and command, runs no script and loads nothing`() {
        let html = BenchPage(report).html
        for text in [
            "50ms/200mbit", "&lt;list&gt;", "&lt;a &amp; b&gt;", "curl -Z", "failed: it is not installed",
            "0.50 of its time",
        ] {
            #expect(html.contains(text), "\(text)")
        }
        for result in report.results { #expect(html.contains(result.verdict ?? "-")) }
        for text in ["<script", "<list>", "http:", "https:", "src=", "url(", "NaN", "inf"] {
            #expect(!html.contains(text), "\(text)")
        }
        #expect(html.contains("prefers-color-scheme: dark"))
    }

    @Test func `the text has the ratio with its spread, and names the rival that failed`() {
        let text = report.text(width: nil)
        #expect(text.contains("0.50 of curl's time (0.50 to 0.50): 10.00 s, curl 20.00 s\n  curl -Z\n"))
        #expect(text.contains("wget2 failed: it is not installed\n"))
    }

    @Test func `an axis ends at a round number that holds the largest value`() {
        #expect([0.3, 1, 1.1, 83, 401].map(Plot.ceiling) == [0.4, 1, 2, 100, 800])
    }

    // MARK: Options

    @Test func `a link is loopback, or a delay and a bandwidth`() {
        #expect(BenchLink(argument: "loopback")?.capacity == nil)
        #expect(BenchLink(argument: "50ms/200mbit")?.capacity == 200e6)
        #expect(BenchLink(argument: "50ms/200mbit")?.options == ["--link", "50ms/200mbit"])
        #expect(BenchLink(argument: "50ms") == nil)
    }

    @Test func `one unknown value makes a list of values unusable`() {
        #expect(CommaSeparated<BenchScenario>(argument: "cold,warm")?.values == [.cold, .warm])
        #expect(CommaSeparated<BenchScenario>(argument: "cold,hot") == nil)
        #expect(CommaSeparated<BenchScenario>(argument: "cold,") == nil)
    }

    @Test func `curl is given the URLs with one file name each, and the authority to trust`() {
        #expect(
            Rival.configuration(["http://a/1", "http://a/2"])
                == "url = \"http://a/1\"\noutput = \"0\"\nurl = \"http://a/2\"\noutput = \"1\"\n")
        let command = Rival.curl.command(list: "l", configuration: "c", certificate: "ca.pem")
        #expect(command.suffix(4) == ["-K", "c", "--cacert", "ca.pem"])
    }
}
