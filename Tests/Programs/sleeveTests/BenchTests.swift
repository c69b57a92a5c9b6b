import SleeveStage
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
        _ stages: [CoverStage: Int], covers count: Int = 100, failed: Int = 0, seconds: Double = 10
    ) -> BenchRound {
        let start = 1_000_000_000
        let times = Dictionary(uniqueKeysWithValues: stages.map { ($0.rawValue, $1 * 1_000) })
        let end = start + times.values.reduce(0, +)
        let process = ProcessRun(
            seconds: seconds, cpuSeconds: 1, peakMemoryBytes: 1, exitCode: 0, start: start,
            end: start + Int(seconds * 1e6))
        let good = (0..<count).map { number in
            BenchRound.Cover(
                url: "http://a.example/\(number).jpg", outcome: "downloaded", bytes: 1_000,
                timings: times.merging(["end": end, "connection": number % 4]) { $1 })
        }
        let bad = (0..<failed).map { number in
            BenchRound.Cover(
                url: "http://a.example/bad-\(number).jpg", outcome: "failed", bytes: 0, error: "status 404 (not found)")
        }
        return BenchRound(process, .cold, covers: good + bad)
    }

    @Test func `failed covers count neither in throughput nor in latency`() {
        let result = BenchResult(.cold, [round([.firstByte: 40, .body: 10, .commit: 5], covers: 50, failed: 50)])
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
        #expect(CoverStage.allCases.map { timings[$0.rawValue] } == Array(1...11))
        #expect(timings["connection"] == 9)
        // 7, 8, 9, 10 and 11 µs after the last byte.
        #expect(timings.received == 500 - 45)
    }

    // MARK: Reports

    @Test func `the text has the ratio with its spread, and names the rival that failed`() {
        var report = BenchReport(
            version: "1", date: "2030-01-01", machine: "a", commandLine: "sleeve prefetch LIST", target: "list.txt")
        let round = round([.queue: 100, .firstByte: 40, .body: 20, .sync: 30])
        report.results = [BenchResult(.cold, [round])]
        let rival = ProcessRun(seconds: 20, cpuSeconds: 2, peakMemoryBytes: 1, exitCode: 0, start: 0, end: 1)
        report.comparisons = [
            Comparison(.curl, command: ["curl", "-Z"], pairs: [(round.process, rival)], failure: nil),
            Comparison(.wget2, command: ["wget2"], pairs: [], failure: "it is not installed"),
        ]
        #expect(report.text.hasPrefix("list.txt\n"))
        #expect(report.text.contains("0.50 of curl's time (0.50 to 0.50): 10.00 s, curl 20.00 s\n  curl -Z\n"))
        #expect(report.text.contains("wget2 failed: it is not installed\n"))
    }

    // MARK: Options

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
