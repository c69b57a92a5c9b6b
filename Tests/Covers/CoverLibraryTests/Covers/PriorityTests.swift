import OriginServer
import Testing
import Wire

@testable import CoverFetch
@testable import CoverLibrary

/// Who goes first when the places of a host are taken.
@Suite(.timeLimit(.minutes(5))) struct PriorityTests {
    @Test func `a cover that someone waits for comes before the rest of a list of the same host`() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            // One that is sent before would never be answered, nor would what waits behind it.
            let rest = (2...200).map { stage.url($0, "fault=never") }
            let run = stage.library.prefetch([stage.url(1, "hold=1")] + rest)
            let reading = Task { try await run.summary() }
            try await eventually { run.total == 200 && stage.origin.requestCount == 1 }
            async let cover = stage.library.cover(at: stage.url(999))
            let scheduler = try #require(stage.library.covers.startedScheduler)
            try await eventually { await scheduler.jobCount == 201 }
            stage.origin.release()
            #expect(try await cover.bytes == CoverImage.jpeg(number: 999))
            #expect(stage.origin.requestCount <= 3 && stage.origin.peakInFlight == 1, "the host's limit holds")
            reading.cancel()
            #expect(try await reading.value.downloaded == 1)
        }
    }

    @Test func `a prefetch sends its requests in the order of their priorities`() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            let first = CoverRequest(location: stage.url(1, "hold=1"), priority: .immediate)
            let rest = (2...21).map { CoverRequest(location: stage.url($0), priority: $0 <= 11 ? nil : .immediate) }
            let run = stage.library.prefetch([first] + rest)
            let reading = Task { try await run.collect().outcomes.map(\.line) }
            try await eventually { run.total == 21 && stage.origin.requestCount == 1 }
            stage.origin.release()
            let lines = try await reading.value
            #expect(lines == [1] + Array(12...21) + Array(2...11))
        }
    }
}

extension DownloadScheduler {
    fileprivate var jobCount: Int { queue.jobs.count }
}
