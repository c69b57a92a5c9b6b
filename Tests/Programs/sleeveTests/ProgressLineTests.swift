import CoverLibrary
import Synchronization
import Testing

@testable import CommandSupport
@testable import sleeve

@Suite struct ProgressLineTests {
    /// A clock that never waits: it records how long each sleep would have been, and ends after some of them.
    private final class CountingClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration = .zero
            func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
            func duration(to other: Self) -> Duration { other.offset - offset }
            static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
        }

        private let sleeps = Mutex<[Duration]>([])
        private let limit: Int
        init(limit: Int) { self.limit = limit }

        var now: Instant { Instant() }
        var minimumResolution: Duration { .zero }
        var durations: [Duration] { sleeps.withLock { $0 } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            let count = sleeps.withLock { sleeps in
                sleeps.append(deadline.offset)
                return sleeps.count
            }
            if count > limit { throw CancellationError() }
        }
    }

    private func lines(isLive: Bool, every interval: Duration, clock: CountingClock) async -> [String] {
        let lines = Mutex<[String]>([])
        let progress = ProgressLine(isLive: isLive, interval: interval, clock: clock) { line, isInPlace in
            #expect(isInPlace == isLive)
            lines.withLock { $0.append(line) }
        }
        await progress.run { ["text"] }
        return lines.withLock { $0 }
    }

    @Test func `without a terminal there is a line at each interval`() async {
        let clock = CountingClock(limit: 3)
        #expect(await lines(isLive: false, every: .seconds(60), clock: clock) == ["text", "text", "text"])
        #expect(clock.durations == Array(repeating: .seconds(60), count: 4))
    }

    @Test func `an interval of zero prints no line`() async {
        let clock = CountingClock(limit: 3)
        #expect(await lines(isLive: false, every: .zero, clock: clock).isEmpty && clock.durations.isEmpty)
    }

    @Test func `on a terminal the line is redrawn ten times a second, and removed at the end`() async {
        let clock = CountingClock(limit: 2)
        #expect(await lines(isLive: true, every: .zero, clock: clock) == ["text", "text", ""])
        #expect(clock.durations == Array(repeating: .milliseconds(100), count: 3))
    }

    private static let summary: RunSummary = {
        var summary = RunSummary()
        (summary.requested, summary.downloaded, summary.failed) = (1_234_567, 1_234_560, 7)
        (summary.seconds, summary.bytes) = (3_600, 900_000_000_000)
        return summary
    }()

    @Test func `the line has the counts, the rates, the failures and the time left`() {
        var summary = RunSummary()
        (summary.downloaded, summary.failed, summary.seconds, summary.bytes) = (1_230, 4, 2, 20 << 20)
        #expect(
            summary.progress(total: 5_000).first
                == "1,234/5,000 covers · 617/s · 10 MiB/s · 4 failed · 0:07 left")
    }

    @Test(arguments: [(5.0, "0:07 left"), (8.0, "waiting for 3,766")])
    func `covers that take longer than all that are left should are counted`(idle: Double, end: String) {
        var summary = RunSummary()
        (summary.downloaded, summary.seconds) = (1_234, 2)
        #expect(summary.progress(total: 5_000, idle: idle).allSatisfy { $0.hasSuffix(end) })
    }

    /// Lines of long runs, with what they keep on a narrow terminal.
    private static let longRuns: [(forms: [String], kept: [String])] = [
        (summary.progress(total: 5_000_000), ["1,234,567/5,000,000", " left"]),
        (summary.progress(total: nil), ["1,234,567"]),
        (
            FillWork.progress(
                12_345, of: 123_456, doubtful: 234, without: 1_234, failed: 12, slowest: ("MusicBrainz", 11_100)),
            ["12,345", "123,456", "3:05:00", "MusicBrainz"]
        ),
        (
            FillWork.progress(12_345, of: 123_456, doubtful: 234, without: 1_234, failed: 12, slowest: nil),
            ["12,345", "123,456"]
        ),
        (
            MusicFolderOptions.progress(files: 1_234_567, folders: 123_456, read: 234_567),
            ["1,234,567 files", "234,567 read"]
        ),
    ]

    @Test(arguments: longRuns.indices, [40, 60, 80, 120])
    func `the line of a run fits a terminal, and keeps the count, the time and the service`(number: Int, width: Int) {
        let (forms, kept) = Self.longRuns[number]
        let text = forms.fitting(width - 1)
        #expect(text.count < width && kept.allSatisfy(text.contains), "\(text)")
    }

    @Test func `the line of a fill counts what is written, doubtful and without a cover`() {
        #expect(
            FillWork.progress(12, of: 1_200, doubtful: 5, without: 25, failed: 2, slowest: ("iTunes", 55)).first
                == "12 of 1,200 albums written, 5 doubtful, 25 without, 2 failed, about 0:55 left at the rate of iTunes"
        )
    }

    @Test func `what matters least is left out first`() {
        let forms = Self.summary.progress(total: 5_000_000)
        #expect(forms.map { $0.split(separator: " · ").count } == [5, 4, 3, 2, 2], "\(forms)")
        #expect(!forms[1].contains("MiB/s") && forms[2].contains("7 failed"), "\(forms)")
        #expect(forms.fitting(nil) == forms[0] && forms.fitting(1) == forms[4])
        #expect(zip(forms, forms.dropFirst()).allSatisfy { $0.count > $1.count })
    }
}
