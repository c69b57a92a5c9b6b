import CoverFetch
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// Who goes first when the places of a host are taken.
@Suite(.timeLimit(.minutes(5))) struct PriorityTests {
    @Test func `a cover that someone waits for comes before the rest of a list of the same host`() async throws {
        try await withStage {
            $0.perHost = 2
        } _: { stage in
            let run = stage.library.prefetch((1...200).map { stage.url($0, "delay=10") })
            let reading = Task { try await run.summary() }
            try await eventually { run.total != nil && run.progress.downloaded > 0 }
            async let cover = stage.library.cover(at: stage.url(999, "hold=1"))
            try await eventually { stage.origin.requestCount(path: "/covers/999.jpg") == 1 }
            // The request, not the cover: the disk may commit it together with all others.
            #expect(stage.origin.requestCount < 150)
            stage.origin.release()
            #expect(try await cover.bytes == CoverImage.jpeg(number: 999))
            #expect(stage.origin.peakInFlight <= 2, "the host's limit holds")
            #expect(try await reading.value.downloaded == 200)
        }
    }

    @Test func `a prefetch sends its requests in the order of their priorities`() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            let first = CoverRequest(stage.url(1, "hold=1"), priority: .immediate)
            let rest = (2...31).map { number in
                CoverRequest(stage.url(number), priority: number <= 11 ? .background : number <= 21 ? nil : .immediate)
            }
            let run = stage.library.prefetch([first] + rest)
            let reading = Task { try await run.collect().outcomes.map(\.line) }
            try await eventually { run.total == 31 && stage.origin.requestCount == 1 }
            stage.origin.release()
            let lines = try await reading.value
            #expect(lines == [1] + Array(22...31) + Array(12...21) + Array(2...11))
        }
    }

    @Test func `priorities are ordered`() {
        #expect(CoverRequest.Priority.background < .normal && CoverRequest.Priority.normal < .immediate)
        #expect("\(CoverRequest.Priority.background)" == "background")
    }
}
