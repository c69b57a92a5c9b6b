import CoverCache
import CoverFetch
import CurlHTTP
import Foundation
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct RefreshTests {
    private static let stale = "cache-control=max-age%3D0"

    @Test
    func `RFC 9111 §4.3: stale covers are requested with their validators; a 304 keeps the bytes and takes no space`()
        async throws
    {
        try await withStage { stage in
            let urls = (1...5).map { stage.url($0, Self.stale) }
            #expect(try await stage.library.prefetch(urls).summary().downloaded == 5)
            let file = stage.file(of: CoverImage.jpeg(number: 1))
            let before = try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
            let old = try stage.entries()

            let (outcomes, summary) = try await stage.library.refresh().collect()
            #expect(summary.revalidated == 5 && summary.requested == 5 && summary.bytes == 0, "\(summary)")
            #expect(summary.downloaded == 0 && summary.failed == 0 && summary.remaining == 0)
            #expect(outcomes.allSatisfy { $0.kind == .revalidated && $0.digest?.count == 64 })
            let now = try stage.entries()
            #expect(now.map(\.digest) == old.map(\.digest))
            #expect(zip(old, now).allSatisfy { $0.validatedAt < $1.validatedAt })
            #expect(now.allSatisfy { $0.metadata.fields.contains("etag: ") })
            #expect(before != nil)
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date == before)
            #expect(try stage.library.cached(urls[0])?.bytes == CoverImage.jpeg(number: 1))
        }
    }

    @Test func `a picture that is cut off replaces none that is whole, and is asked for again`() async throws {
        let (whole, newer) = (CoverImage.png(number: 1), CoverImage.png(number: 2))
        let body = Mutex(whole)
        try await withScriptedServer({ _ in httpResponse("200 OK", ["Cache-Control: max-age=0"], body.withLock { $0 }) }
        ) {
            server in
            try await withStage { stage in
                let url = server.url + "/1.png"
                #expect(try await stage.library.prefetch([url]).summary().downloaded == 1)
                body.withLock { $0 = Array(newer.dropLast(20)) }
                for request in 2...3 {
                    let (outcomes, summary) = try await stage.library.refresh().collect()
                    #expect(summary.failed == 1 && summary.downloaded == 0, "\(summary)")
                    #expect(outcomes.first?.failure?.kind == .truncated)
                    #expect(outcomes.first?.failure?.detail == "the new picture is cut off; the cached one stays")
                    #expect(try stage.library.cached(url)?.bytes == whole)
                    #expect(server.requests.count == request)
                }
                body.withLock { $0 = newer }
                #expect(try await stage.library.refresh().summary().downloaded == 1)
                #expect(try stage.library.cached(url)?.bytes == newer)
            }
        }
    }

    @Test func `a picture that is cut off is stored where its length was kept, and replaced by any other`() async throws
    {
        let half = Array(CoverImage.png(number: 1).dropLast(20))
        let body = Mutex(half)
        try await withScriptedServer({ _ in httpResponse("200 OK", ["Cache-Control: max-age=0"], body.withLock { $0 }) }
        ) {
            server in
            try await withStage { stage in
                let url = server.url + "/1.png"
                let first = try await stage.library.prefetch([url]).summary()
                #expect(first.downloaded == 1)
                #expect(try await stage.library.refresh().summary().downloaded == 1)
                body.withLock { $0 = Array(half.dropLast(1)) }
                #expect(try await stage.library.refresh().summary().failed == 0)
                #expect(try stage.library.cached(url)?.bytes == Array(half.dropLast(1)))
            }
        }
    }

    // MARK: Placeholders

    /// Runs `body` with a library that has covers 1 to `count`, and a function that has the server give one picture in place of some.
    private func withRemovals(
        _ count: Int, _ body: (Stage, [String], (ClosedRange<Int>) -> Void) async throws -> Void
    ) async throws {
        let removed = Mutex(0...0)
        try await withScriptedServer({ request in
            let number = Int(request.target.filter(\.isNumber)) ?? 0
            let isRemoved = removed.withLock { $0.contains(number) }
            return httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.png(number: isRemoved ? 99 : number))
        }) { server in
            try await withStage { stage in
                let urls = (1...count).map { "\(server.url)/\($0).png" }
                #expect(try await stage.library.prefetch(urls).summary().downloaded == count)
                try await body(stage, urls) { numbers in removed.withLock { $0 = numbers } }
            }
        }
    }

    @Test func `one picture in place of three different covers replaces none, and is no news from then on`()
        async throws
    {
        try await withRemovals(8) { stage, urls, remove in
            remove(1...5)
            for night in 0..<3 {
                let (outcomes, summary) = try await stage.library.refresh().collect()
                let failures = outcomes.compactMap(\.failure)
                #expect(failures.count >= 3 && failures.allSatisfy { $0.kind == .placeholder })
                #expect(failures.count + failures.reduce(0) { $0 + ($1.placeholder?.restored ?? 0) } == 5)
                #expect(summary.failed - summary.gone == (night == 0 ? failures.count : 0), "\(night): \(summary)")
                for (number, url) in zip(1..., urls) {
                    #expect(try stage.library.cached(url)?.bytes == CoverImage.png(number: number))
                }
                #expect(try await stage.library.statistics().blobs == 8)
                #expect(try await stage.library.verify().defects == [])
            }
            remove(0...0)
            #expect(try await stage.library.refresh().summary().failed == 0)
        }
    }

    @Test func `a placeholder that comes over several nights is put back, and observers see the former covers arrive`()
        async throws
    {
        try await withRemovals(4) { stage, urls, remove in
            remove(1...2)
            #expect(try await stage.library.refresh().summary().downloaded == 4)
            #expect(try stage.library.cached(urls[0])?.bytes == CoverImage.png(number: 99))
            remove(1...3)
            let events = stage.library.events()
            let (_, summary) = try await stage.library.refresh().collect()
            #expect(summary.failed >= 1, "\(summary)")
            var arrived: [String: String] = [:]
            for await event in events {
                if case .arrived(let outcome) = event { arrived[outcome.url] = outcome.digest }
                if arrived[urls[0]] == Digest(of: CoverImage.png(number: 1)).description, arrived[urls[1]] != nil {
                    break
                }
            }
            for (number, url) in zip(1..., urls) {
                #expect(try stage.library.cached(url)?.bytes == CoverImage.png(number: number))
            }
        }
    }

    @Test func `two albums that get one new picture have it, and a reload takes what the server has`() async throws {
        try await withRemovals(3) { stage, urls, remove in
            remove(1...2)
            let summary = try await stage.library.refresh().summary()
            #expect(summary.failed == 0)
            remove(1...3)
            let request = CoverRequest(location: urls[2], cachePolicy: .reload)
            #expect(try await stage.library.prefetch([request]).summary().downloaded == 1)
            for url in urls { #expect(try stage.library.cached(url)?.bytes == CoverImage.png(number: 99)) }
        }
    }

    @Test func `a prefetch that revalidates, and a request for one cover, keep covers from placeholders`() async throws
    {
        try await withRemovals(4) { stage, urls, remove in
            remove(1...4)
            let requests = urls.map { CoverRequest(location: $0, cachePolicy: .revalidate) }
            let summary = try await stage.library.prefetch(Array(requests.prefix(3))).summary()
            #expect(summary.failed >= 1)
            for (number, url) in zip(1...3, urls) {
                #expect(try stage.library.cached(url)?.bytes == CoverImage.png(number: number))
            }
            await #expect(throws: CoverFailure.self) { try await stage.library.cover(for: requests[3]) }
            #expect(try stage.library.cached(urls[3])?.bytes == CoverImage.png(number: 4))
        }
    }

    private final class Sink: OutcomeSink {
        let continuation: AsyncStream<CoverOutcome>.Continuation
        let isWanted = true
        init(_ continuation: AsyncStream<CoverOutcome>.Continuation) { self.continuation = continuation }
        func take(_ outcome: CoverOutcome, of ask: Ask) { continuation.yield(outcome) }
    }

    @Test func `a cover that is evicted while it is revalidated is downloaded again`() async throws {
        try await withStage { stage in
            let url = stage.url(1, Self.stale)
            #expect(try await stage.library.prefetch([url]).summary().downloaded == 1)
            let entry = try #require(try stage.entries().first)
            try await stage.library.evict(to: 0)
            let (outcomes, continuation) = AsyncStream.makeStream(of: CoverOutcome.self)
            let ask = try Ask(url, sink: Sink(continuation))
            ask.stored = StoredVersion(entry)
            try await stage.library.covers.scheduler().submit([ask])
            let outcome = await outcomes.first { _ in true }
            #expect(outcome?.contentDigest == Digest(of: CoverImage.jpeg(number: 1)))
            #expect(stage.origin.requestCount == 3)
            #expect(try stage.library.cached(url)?.bytes == CoverImage.jpeg(number: 1))
        }
    }

    @Test
    func `a cover that its server confirms, but whose bytes are damaged, is downloaded again, for all that share them`()
        async throws
    {
        try await withStage { stage in
            let urls = (1...3).map { stage.url($0, Self.stale) }
            #expect(try await stage.library.prefetch(urls).summary().downloaded == 3)
            let other = stage.url(9, "same=2")
            #expect(try await stage.library.prefetch([other]).summary().deduplicated == 1)
            let expected = CoverImage.jpeg(number: 2)
            try stage.flip(at: expected.count - 1, of: expected)
            let (outcomes, summary) = try await stage.library.refresh().collect()
            #expect(summary.revalidated == 2 && summary.downloaded == 1 && summary.failed == 0, "\(summary)")
            #expect(outcomes.first { $0.kind == .downloaded }?.url == urls[1])
            #expect(try stage.library.cached(urls[1])?.bytes == expected)
            #expect(try stage.library.cached(other)?.bytes == expected)
        }
    }

    @Test func `an entry whose key is no URL fails, and stops no other`() async throws {
        try await withStage { stage in
            try await stage.store("http://[broken/1.jpg", CoverImage.jpeg(number: 1), fields: "")
            try await stage.store(stage.url(7, Self.stale), CoverImage.jpeg(number: 8), fields: "etag: \"old\"\n")
            let (outcomes, summary) = try await stage.library.refresh().collect()
            #expect(summary.downloaded == 1 && summary.failed == 1, "\(summary)")
            #expect(outcomes.first { $0.kind == .failed }?.url == "http://[broken/1.jpg")
        }
    }

    @Test(arguments: [7, 8])
    func `§4.3.3: a 200 replaces the old cover, or keeps the bytes if they are the same`(old: Int) async throws {
        try await withStage { stage in
            let url = stage.url(7, "cache-control=max-age%3D1000")
            try await stage.store(url, CoverImage.jpeg(number: old), fields: "etag: \"old\"\n")
            let summary = try await stage.library.refresh().summary()
            #expect(summary.downloaded == 1 && summary.revalidated == 0 && summary.deduplicated == (old == 7 ? 1 : 0))
            let entry = try #require(try stage.entries().first)
            #expect((entry.metadata.freshUntil ?? 0) > entry.validatedAt)
            #expect(try stage.library.cached(url)?.bytes == CoverImage.jpeg(number: 7))
            #expect(try await stage.library.statistics().blobs == 1)
        }
    }

    @Test func `a cover whose request fails stays as it is, and comes last in the next run`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let gone = stage.url(1, "status=404&" + Self.stale), good = stage.url(2, Self.stale)
            try await stage.store(good, CoverImage.jpeg(number: 2), fields: "etag: \"b\"\n")
            // Used last, so it is requested first.
            let redirected = "etag: \"a\"\nredirected with: private\nvalidators of: 1f\n"
            try await stage.store(gone, CoverImage.jpeg(number: 1), fields: redirected)
            let first = try await stage.library.refresh(.maximum(1)).summary()
            #expect(first.failed == 1 && first.remaining == 1, "\(first)")
            #expect(try stage.library.cached(gone)?.bytes == CoverImage.jpeg(number: 1))
            let entry = try #require(try stage.entries().first { $0.metadata.key.contains("status") })
            #expect(entry.validatedAt == 1_000, "it was not validated")
            #expect(entry.metadata.fields.hasPrefix(redirected + "tried at: "), "\(entry.metadata.fields)")
            let second = try await stage.library.refresh(.maximum(1)).summary()
            #expect(second.downloaded == 1 && second.remaining == 1)
        }
    }

    /// What hosts without HTTP's conditions answer to them.
    @Test(arguments: ["412 Precondition Failed", "400 Bad Request", "403 Forbidden", "501 Not Implemented"])
    func `§13.1: a server that refuses conditions is asked once more without them`(refusal: String) async throws {
        let requests = Mutex(0)
        let body = "GIF89a\u{1}\0\u{1}\0\0\0\0,\0\0\0\0\u{1}\0\u{1}\0\0\u{2}\u{2}D\u{1}\0;"
        let server = try Listener { head in
            requests.withLock { $0 += 1 }
            let isConditional = head.lowercased().contains("if-none-match")
            return isConditional
                ? "HTTP/1.1 \(refusal)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                : "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        defer { server.stop() }
        try await withStage { stage in
            let url = server.url + "/1.gif"
            try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"1\"\n")
            #expect(try await stage.library.refresh().summary().downloaded == 1)
            #expect(try stage.library.cached(url)?.bytes == Array(body.utf8))
            #expect(requests.withLock { $0 } == 2)
        }
    }

    @Test func `a cover that is gone is a failure once, and no news from then on; it stays cached`() async throws {
        try await withStage {
            $0.retries = 0
        } _: { stage in
            let (gone, good) = (stage.url(1, "status=410&" + Self.stale), stage.url(2, Self.stale))
            try await stage.store(gone, CoverImage.jpeg(number: 1), fields: "etag: \"a\"\n")
            try await stage.store(good, CoverImage.jpeg(number: 2), fields: "etag: \"b\"\n")
            for night in 0..<3 {
                let (outcomes, summary) = try await stage.library.refresh(.all).collect()
                #expect(summary.failed == 1 && summary.gone == (night > 0 ? 1 : 0), "\(night): \(summary)")
                #expect(outcomes.contains { $0.failure?.isGone == (night > 0) && $0.url == gone })
            }
            #expect(try stage.library.cached(gone) != nil)
        }
    }

    // MARK: Covers that are gone

    /// A server that first gives `count` pictures, one for each number in the target, then what `answer` says.
    private func withLinkRot(
        _ count: Int, _ body: (Stage, [String], (@escaping @Sendable (Int) -> [UInt8]?) -> Void) async throws -> Void
    ) async throws {
        let answer = Mutex<@Sendable (Int) -> [UInt8]?> { _ in nil }
        try await withScriptedServer({ request in
            let number = Int(request.target.filter(\.isNumber)) ?? 0
            return answer.withLock { $0 }(number)
                ?? httpResponse("200 OK", ["Cache-Control: max-age=0"], CoverImage.png(number: number))
        }) { server in
            try await withStage {
                $0.retries = 0
            } _: { stage in
                let urls = (1...count).map { "\(server.url)/\($0).png" }
                #expect(try await stage.library.prefetch(urls).summary().downloaded == count)
                try await body(stage, urls) { new in answer.withLock { $0 = new } }
            }
        }
    }

    /// Refreshes, and compares how many covers of each refresh failed and are not gone, and how many are gone.
    private func refresh(_ stage: Stage, _ expected: [[Int]], _ comment: Comment? = nil) async throws {
        for (night, expected) in expected.enumerated() {
            // As a process of its own: it knows of its hosts what the cache does.
            let library = try await stage.another { $0.retries = 0 }
            let summary = try await library.refresh(.all).summary()
            await library.close()
            #expect([summary.failed - summary.gone, summary.gone] == expected, comment ?? "\(night): \(summary)")
        }
    }

    private static let page = httpResponse("200 OK", ["Content-Type: text/html"], Array("<!doctype html>".utf8))
    private static func refusal(_ status: String) -> [UInt8] { httpResponse(status, ["Content-Type: text/html"]) }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden", "451 Unavailable For Legal Reasons", "page", "no-store"])
    func `a cover that a server refuses for good is gone with the third refresh, which names it, until it is back`(
        answer: String
    ) async throws {
        try await withLinkRot(1) { stage, urls, serve in
            serve { _ in
                switch answer {
                case "page": Self.page
                case "no-store": httpResponse("200 OK", ["Cache-Control: no-store"], CoverImage.png(number: 9))
                default: Self.refusal(answer)
                }
            }
            var named: [Bool] = []
            for night in 1...4 {
                let (outcomes, summary) = try await stage.library.refresh(.all).collect()
                #expect(summary.failed == 1 && summary.gone == (night < 3 ? 0 : 1), "\(night): \(summary)")
                named.append(try #require(outcomes.first?.failure).isNewlyGone)
                #expect(try stage.library.cached(urls[0])?.bytes == CoverImage.png(number: 1))
                let loss = try #require(try await stage.library.history(of: urls).first?.cached?.loss)
                #expect(loss.isGone == (night >= 3) && loss.status == Int(answer.prefix(3)), "\(loss)")
            }
            #expect(named == [false, false, true, false])
            serve { _ in nil }
            try await refresh(stage, [[0, 0]])
            #expect(try await stage.library.history(of: urls).first?.cached?.loss == nil)
            serve { _ in Self.refusal("403 Forbidden") }
            try await refresh(stage, [[1, 0]], "the count starts again")
        }
    }

    @Test func `final answers count whichever they are, and a temporary failure neither counts nor takes any back`()
        async throws
    {
        try await withLinkRot(1) { stage, _, serve in
            let answers = [Self.refusal("403 Forbidden"), Self.refusal("503 Service Unavailable"), Self.page]
            for answer in answers {
                serve { _ in answer }
                try await refresh(stage, [[1, 0]])
            }
            serve { _ in httpResponse("403 Forbidden", ["Retry-After: 300"]) }
            try await refresh(stage, [[1, 0]])
            serve { _ in Self.refusal("401 Unauthorized") }
            try await refresh(stage, [[0, 1]])
            serve { _ in Self.refusal("503 Service Unavailable") }
            try await refresh(stage, [[0, 1]])
        }
    }

    @Test func `covers that few are walled among others are gone, and a host that refuses all has banned the client`()
        async throws
    {
        try await withLinkRot(20) { stage, urls, serve in
            serve { $0 <= 2 ? Self.refusal("403 Forbidden") : nil }
            try await refresh(stage, [[2, 0], [2, 0], [0, 2]])
            serve { _ in Self.refusal("403 Forbidden") }
            try await refresh(stage, Array(repeating: [18, 2], count: 4))
            serve { $0 <= 9 ? Self.refusal("403 Forbidden") : nil }
            try await refresh(stage, [[7, 2], [7, 2], [0, 9]], "a ban counts for nothing")
            for (number, url) in zip(1..., urls) {
                let cover = try stage.library.cached(url)
                #expect(cover?.bytes == CoverImage.png(number: number))
            }
        }
    }

    @Test func `one page in place of everything counts for nothing, and a page among covers does`() async throws {
        try await withLinkRot(3) { stage, _, serve in
            serve { _ in Self.page }
            try await refresh(stage, Array(repeating: [3, 0], count: 4))
            serve { $0 == 1 ? Self.page : nil }
            try await refresh(stage, [[1, 0], [1, 0], [0, 1]])
        }
    }

    @Test
    func `refreshes of what is stale count a final answer once a night, and an expired signature as none of a ban`()
        async throws
    {
        try await withScriptedServer { request in
            let body = "<Error><Message>Request has expired</Message></Error>"
            return request.target.contains("walled")
                ? httpResponse("403 Forbidden")
                : httpResponse("403 Forbidden", [], request.target.contains("body") ? Array(body.utf8) : [])
        } _: { server in
            try await withStage {
                $0.retries = 0
            } _: { stage in
                let now = WallClock.milliseconds(), hour = Int64(3_600_000)
                for (number, hours) in ([1, 15, 17] as [Int64]).enumerated() {
                    let time = now - hours * hour
                    try await stage.store(
                        server.url + "/walled/\(hours).png", CoverImage.png(number: number),
                        fields: "tried at: \(time) \(time - 99 * hour) 2 2 401 \(time)\n")
                }
                for _ in 1...4 {
                    let (outcomes, summary) = try await stage.library.refresh().collect()
                    #expect(summary.failed == 3 && summary.gone == 1, "\(summary)")
                    #expect(outcomes.first { $0.failure?.isGone == true }?.url.hasSuffix("/17.png") == true)
                }
                // With the three, eleven of a host that gives nothing else.
                for number in 1...20 {
                    let target =
                        number < 11 ? "body/\(number).png" : "\(number).png?Expires=1700000000&Signature=\(number)"
                    try await stage.store("\(server.url)/\(target)", CoverImage.png(number: number), fields: "")
                }
                for gone in [3, 3, 23] {
                    let (outcomes, summary) = try await stage.library.refresh(.all).collect()
                    #expect(summary.failed == 23 && summary.gone == gone, "\(summary)")
                    let expired = outcomes.compactMap(\.failure).count { $0.detail.contains("signature has expired") }
                    #expect(expired == 20)
                }
            }
        }
    }

    @Test func `a run keeps its budget, and the next run continues`() async throws {
        try await withStage { stage in
            let urls = (1...10).map { stage.url($0, "cache-control=max-age%3D1000") }
            for url in urls { try await stage.store(url, CoverImage.jpeg(number: 30), fields: "etag: \"old\"\n") }
            let requests = stage.origin.requestCount
            #expect(try await stage.library.refresh(.maximum(4)).summary().remaining == 6)
            #expect(stage.origin.requestCount - requests == 4)
            #expect(try await stage.library.refresh(.maximum(4)).summary().remaining == 2)
            #expect(try await stage.library.refresh(.maximum(4)).summary().requested == 2)
            #expect(try await stage.library.refresh(.maximum(4)).summary().requested == 0)
        }
    }

    @Test func `covers beyond the budget of bytes or time are left for the next run`() async throws {
        try await withStage {
            $0.perHost = 1
        } _: { stage in
            // Only the first is answered.
            let urls = (1...10).map { stage.url($0, $0 == 1 ? "" : "hold=1") }
            for url in urls { try await stage.store(url, CoverImage.jpeg(number: 30), fields: "etag: \"old\"\n") }
            var request = RefreshRequest()
            request.maximumBytes = 1
            let first = try await stage.library.refresh(request).summary()
            #expect(first.downloaded == 1 && first.requested == 1 && first.failed == 0, "\(first)")
            #expect(first.remaining == 9)

            request.maximumBytes = nil
            request.maximumTime = .milliseconds(50)
            let second = try await stage.library.refresh(request).summary()
            #expect(second.remaining == 9 && second.requested == 0 && !second.isCancelled, "\(second)")
        }
    }

    @Test func `a cancelled refresh ends at once, and leaves unanswered covers for the next run`() async throws {
        try await withStage { stage in
            try await stage.store(stage.url(1, "hold=1"), CoverImage.jpeg(number: 1), fields: "etag: \"old\"\n")
            let requests = stage.origin.requestCount
            let run = Task { try await stage.library.refresh().summary() }
            try await eventually { stage.origin.requestCount > requests }
            run.cancel()
            let summary = try await run.value
            #expect(summary.isCancelled && summary.requested == 0 && summary.failed == 0 && summary.remaining == 1)
        }
    }

    @Test func `a refresh throws when its library closes, as long as a cover has no outcome`() async throws {
        try await withStage { stage in
            try await stage.store(stage.url(1, "hold=1"), CoverImage.jpeg(number: 1), fields: "etag: \"old\"\n")
            let requests = stage.origin.requestCount
            let run = Task { try await stage.library.refresh().summary() }
            try await eventually { stage.origin.requestCount > requests }
            await stage.library.close()
            await #expect(throws: LibraryError.closed) { try await run.value }
        }
    }

    @Test func `§4.3.4: a 304 with another entity tag is not used; the cover is requested without conditions`()
        async throws
    {
        try await withStage { stage in
            try await withListener(answer: "HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\nConnection: close\r\n\r\n")
            {
                listener in
                let url = listener.url + "/1.jpg"
                try await stage.store(url, CoverImage.jpeg(number: 1), fields: "etag: \"mine\"\n")
                let summary = try await stage.library.refresh().summary()
                #expect(summary.failed == 1)
                var heads: [String] = []
                for await head in listener.requests {
                    heads.append(head)
                    if heads.count == 2 { break }
                }
                #expect(heads[0].contains("If-None-Match: \"mine\"") && !heads[1].contains("If-None-Match"))
                #expect(try stage.library.cached(url) != nil)
            }
        }
    }

    @Test func `§5.2.2.5: a no-store response is returned, and not cached`() async throws {
        try await withStage { stage in
            let url = stage.url(1, "cache-control=no-store")
            let summary = try await stage.library.prefetch([url]).summary()
            #expect(summary.failed == 1 && summary.downloaded == 0)
            let cover = try await stage.library.cover(at: url)
            #expect(cover.bytes == CoverImage.jpeg(number: 1) && cover.mediaType == "image/jpeg")
            #expect(try stage.library.cached(url) == nil)
            #expect(try await stage.library.statistics().entries == 0)
        }
    }

    @Test func `offline, a refresh throws`() async throws {
        try await withStage {
            $0.isOffline = true
        } _: { stage in
            await #expect(throws: LibraryError.self) { try await stage.library.refresh().summary() }
        }
    }
}

extension RefreshRequest {
    fileprivate static var all: RefreshRequest {
        var request = RefreshRequest()
        request.scope = .all
        return request
    }

    fileprivate static func maximum(_ requests: Int) -> RefreshRequest {
        var request = RefreshRequest()
        request.maximumRequests = requests
        return request
    }
}
