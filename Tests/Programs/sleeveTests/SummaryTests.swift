import CoverLibrary
import Testing

@testable import CommandSupport
@testable import sleeve

@Suite struct SummaryTests {
    private func summary(_ change: (inout RunSummary) -> Void) -> RunSummary {
        var summary = RunSummary()
        summary.seconds = 3
        change(&summary)
        return summary
    }

    @Test func `the summary of a stopped run says what was done, what is left, and how to continue`() {
        let stopped = summary { summary in
            (summary.requested, summary.downloaded, summary.fresh, summary.remaining) = (459, 167, 292, 3_541)
            summary.isCancelled = true
        }
        #expect(
            stopped.text(isListKnown: true)
                == "Stopped after 3.0 s: 167 downloaded, 292 cached, 3,541 to go. Run again to continue.\n")
        #expect(stopped.text(isListKnown: false).contains("at least 3,541 to go"))
        let early = summary { $0.isCancelled = true }
        #expect(early.text(isListKnown: false) == "Stopped after 3.0 s: nothing done yet. Run again to continue.\n")
    }

    @Test func `the summary of a run out of budget counts the remaining covers`() {
        let spent = summary { ($0.requested, $0.revalidated, $0.remaining) = (200, 200, 12) }
        #expect(spent.text(isListKnown: true) == "200 covers: 200 unchanged in 3.00 s · 12 left for the next run\n")
    }

    @Test func `an empty run has no summary`() {
        #expect(summary { _ in }.text(isListKnown: true) == "")
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_024, "1 KiB"), (1_100, "1.07 KiB"), (504 << 10, "504 KiB"),
            (10 << 30, "10 GiB"),
            (32 << 20, "32 MiB"), (10_800_000_000, "10.1 GiB"),
        ])
    func `sizes have three digits, and whole numbers no decimal places`(bytes: Int, text: String) {
        #expect("\(ByteSize(bytes))" == text)
    }
}
