import Foundation
import Logging
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// Requests that end because nobody wants them any longer are no failures: of their hosts, of their covers, of anything.
@Suite(.timeLimit(.minutes(5))) struct GivenUpRequestTests {
    enum End: CaseIterable { case cancelled, overdue, stopped }

    /// Has as many requests in flight as a new host gets, ends them all, and expects that the next run finds nothing changed.
    @Test(arguments: End.allCases)
    func `their host keeps its limit, and their covers are requested again without a word`(end: End) async throws {
        let warnings = Warnings()
        try await withStage {
            $0.retries = 0
            $0.logger = Logger(label: "test") { _ in warnings }
        } _: { stage in
            let urls = (1...24).map { stage.url($0, "hold=1") }
            if end == .stopped {
                let run = Task { try await stage.library.prefetch(urls).summary() }
                try await eventually { stage.origin.requestCount == urls.count }
                run.cancel()
                let summary = try await run.value
                #expect(summary.failed == 0 && summary.isCancelled, "\(summary)")
            } else {
                let calls = urls.map { url in
                    Task { () -> CoverFailure.Kind? in
                        var request = CoverRequest(location: url)
                        if end == .overdue { request.timeout = .seconds(2) }
                        do throws(CoverFailure) {
                            _ = try await stage.library.cover(for: request)
                            return nil
                        } catch {
                            return error.kind
                        }
                    }
                }
                try await eventually { stage.origin.requestCount == urls.count }
                if end == .cancelled { for call in calls { call.cancel() } }
                for call in calls { #expect(await call.value == (end == .cancelled ? .cancelled : .timeout)) }
            }
            stage.origin.release()
            let summary = try await stage.library.prefetch(urls).summary()
            #expect(summary.downloaded == urls.count && summary.failed == 0, "\(summary)")
            // One more each: none was a probe, none was remembered.
            #expect(stage.origin.requestCount == 2 * urls.count)
            #expect(warnings.messages.withLock { $0 } == [])
        }
    }

    @Test func `a refresh that is stopped counts for nothing at the covers that it has asked about`() async throws {
        let holds = Mutex(false)
        let holding = Mutex(0)
        let (release, held) = (DispatchSemaphore(value: 0), 8)
        try await withScriptedServer { request in
            if holds.withLock({ $0 }) {
                holding.withLock { $0 += 1 }
                release.wait()
            }
            return httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.jpeg(number: request.target.count))
        } _: { server in
            try await withStage { stage in
                let urls = (1...held).map { server.url + "/" + String(repeating: "a", count: $0) }
                _ = try await stage.library.prefetch(urls).summary()
                let before = try stage.entries().map(\.metadata.fields)
                holds.withLock { $0 = true }
                let run = Task { try await stage.library.refresh().summary() }
                try await eventually { holding.withLock { $0 } == held }
                run.cancel()
                let summary = try await run.value
                for _ in 0..<held { release.signal() }
                #expect(summary.failed == 0 && summary.remaining == held, "\(summary)")
                #expect(try stage.entries().map(\.metadata.fields) == before)
            }
        }
    }
}
