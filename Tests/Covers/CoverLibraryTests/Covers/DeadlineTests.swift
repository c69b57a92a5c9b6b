import CoverFetch
import Foundation
import Logging
import OriginServer
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// How long a call may take.
@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    private func failure(
        _ stage: Stage, _ url: String, _ timeout: Duration?, retries: Int? = nil
    ) async -> CoverFailure? {
        var request = CoverRequest(location: url)
        (request.timeout, request.retries) = (timeout, retries)
        do throws(CoverFailure) {
            _ = try await stage.library.cover(for: request)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["fault=never", "status=503&retry-after=100"])
    func `a request that has expired is an event, with the key of its cover`(query: String) async throws {
        try await withStage { stage in
            let events = stage.library.events()
            let url = stage.url(1, query)
            let ended = await failure(stage, url, .milliseconds(500))
            for await event in events {
                guard case .failed(let failure) = event else { continue }
                #expect(failure.url == url && failure.kind == ended?.kind, "\(failure)")
                break
            }
        }
    }

    @Test func `a call fails when its time is over, whatever it waits for, and no retry that will not be is announced`()
        async throws
    {
        let warnings = Warnings()
        try await withStage {
            $0.logger = Logger(label: "test") { _ in warnings }
        } _: { stage in
            let late = try #require(await failure(stage, stage.url(1, "fault=never"), .milliseconds(200)))
            #expect(late.kind == .timeout && late.isRetryable && late.detail.contains("within"), "\(late)")
            // The server's pause is longer: there is nothing to wait for.
            let refused = try #require(await failure(stage, stage.url(3, "status=503&retry-after=120"), .seconds(110)))
            #expect(refused.status == 503 && refused.gatewayStatus == 503, "\(refused)")
            #expect(refused.retryAfter.map { $0 > .seconds(10) && $0 <= .seconds(120) } == true)
            #expect(warnings.messages.withLock { !$0.contains { $0.contains("trying again") } })
            // A cached cover needs no time of a server.
            let url = stage.url(2)
            _ = try await stage.library.cover(at: url)
            #expect(await failure(stage, url, .zero) == nil)
        }
    }

    @Test func `a request has its own retries`() async throws {
        try await withStage { stage in
            #expect(await failure(stage, stage.url(1, "status=500"), nil, retries: 0)?.status == 500)
            #expect(stage.origin.requestCount == 1)
            #expect(await failure(stage, stage.url(2, "status=500&times=1"), nil, retries: 1) == nil)
        }
    }

    @Test func `the requests of a prefetch have their own time, and count as failed after it`() async throws {
        try await withStage { stage in
            var hasty = CoverRequest(location: stage.url(1, "fault=never"))
            hasty.timeout = .milliseconds(100)
            let (outcomes, summary) = try await stage.library.prefetch([hasty, CoverRequest(location: stage.url(2))])
                .collect()
            #expect(summary.failed == 1 && summary.downloaded == 1 && summary.remaining == 0)
            #expect(outcomes.compactMap(\.failure?.kind) == [.timeout])
        }
    }

    @Test func `an album whose first URL takes all the time is not looked for at the others`() async throws {
        try await withStage { stage in
            var album = Album(title: "A", coverURL: stage.url(1, "fault=never"))
            album.alternateCoverURLs = [stage.url(2)]
            var request = CoverRequest(album: album)
            request.timeout = .milliseconds(200)
            let failure = await #expect(throws: CoverFailure.self) { try await stage.library.cover(for: request) }
            #expect(failure?.kind == .timeout && stage.origin.requestCount(path: "/covers/2.jpg") == 0)
        }
    }

    @Test func `a URL whose server asks for too long a pause leaves the time to the album's others`() async throws {
        try await withStage { stage in
            var album = Album(title: "A", coverURL: stage.url(1, "status=503&retry-after=120"))
            album.alternateCoverURLs = [stage.url(2)]
            var request = CoverRequest(album: album)
            request.timeout = .seconds(110)
            #expect(try await stage.library.cover(for: request).location == stage.url(2))
            let summary = try await stage.library.prefetch([request, request]).summary()
            #expect(summary.failed == 0 && summary.requested == 2)
        }
    }

    @Test func `closing the library ends a call that waits for its retry`() async throws {
        try await withStage { stage in
            let call = Task { await stage.library.failure(stage.url(1, "status=503&retry-after=100")) }
            try await eventually { stage.origin.requestCount == 1 }
            await stage.library.close()
            #expect(await call.value?.kind == .closed)
        }
    }

    @Test func `a refusal says how long the server wants to be left alone`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let failure = await stage.library.failure(stage.url(1, "status=429&retry-after=500"))
            #expect(failure?.retryAfter == .seconds(500) && failure?.isRetryable == true)
            #expect(await stage.library.failure(stage.url(2, "status=404"))?.retryAfter == nil)
        }
    }
}
