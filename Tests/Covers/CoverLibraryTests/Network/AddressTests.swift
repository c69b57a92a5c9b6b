import CoverFetch
import Foundation
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// Addresses that differ in what their key leaves out, such as an old signature and a new one.
@Suite(.timeLimit(.minutes(5))) struct AddressTests {
    private final class Asked: Sendable {
        let tokens = Mutex<[String]>([])
        var all: [String] { tokens.withLock { $0 } }
    }

    /// A server of one cover, for those who have the token `good`.
    private func withServer(
        _ refusal: (status: String, body: String), _ body: (Listener, Asked) async throws -> Void
    ) async throws {
        let asked = Asked()
        let listener = try Listener { head in
            let parts = head.split(separator: " ")[1].split(separator: "=")
            let token = parts.count > 1 ? String(parts[1]) : ""
            asked.tokens.withLock { $0.append(token) }
            let image = "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='300'/>"
            let (status, body) = token == "good" ? ("200 OK", image) : refusal
            return "HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
        defer { listener.stop() }
        try await body(listener, asked)
    }

    /// Prefetches a list: its lines are read together.
    private func prefetch(_ urls: [String], _ stage: Stage) throws -> CoverOutcomes<LibraryError> {
        let list = URL(filePath: stage.folder + "/list.txt")
        try Data(urls.map { $0 + "\n" }.joined().utf8).write(to: list)
        return stage.library.prefetch(list: list)
    }

    private static let refusals = [
        ("403 Forbidden", ""), ("404 Not Found", ""), ("410 Gone", ""), ("200 OK", "<html>sign in</html>"),
        ("500 Internal Server Error", ""),
    ]
    private static let orders = [["old", "good"], ["good", "old"], ["old", "older", "good"], ["", "old", "good"]]

    @Test(arguments: refusals, orders)
    func `of several addresses with one key each is requested until one brings the cover, for all`(
        refusal: (String, String), order: [String]
    ) async throws {
        try await withStage {
            $0.ignoredParameters = ["token"]
            $0.retries = 0
        } _: { stage in
            try await withServer(refusal) { server, asked in
                let urls = order.map { server.url + "/1.svg" + ($0.isEmpty ? "" : "?token=\($0)") }
                let (outcomes, summary) = try await prefetch(urls, stage).collect()
                #expect(summary.downloaded == 1 && summary.joined == urls.count - 1, "\(outcomes)")
                #expect(Set(outcomes.map(\.url)) == Set(urls))
                #expect(asked.all == Array(order.prefix { $0 != "good" }) + ["good"])
            }
        }
    }

    @Test(arguments: refusals)
    func `where all addresses with one key are refused, each is requested once`(refusal: (String, String)) async throws
    {
        try await withStage {
            $0.ignoredParameters = ["token"]
            $0.retries = 0
        } _: { stage in
            try await withServer(refusal) { server, asked in
                let urls = ["a", "b", "a", "c", "b"].map { server.url + "/1.svg?token=\($0)" }
                let summary = try await prefetch(urls, stage).summary()
                #expect(summary.failed == 5)
                #expect(asked.all == ["a", "b", "c"])
            }
        }
    }

    @Test(arguments: refusals)
    func `an address whose line is read after another has failed is requested, and one that has failed is not again`(
        refusal: (String, String)
    ) async throws {
        try await withStage {
            $0.ignoredParameters = ["token"]
            $0.retries = 0
        } _: { stage in
            try await withServer(refusal) { server, asked in
                var rest = ["older", "old", "good", "older"][...]
                let (list, lines) = AsyncStream.makeStream(of: CoverRequest.self)
                func read(_ token: String) { lines.yield(CoverRequest(location: server.url + "/1.svg?token=\(token)")) }
                read("old")
                var outcomes: [CoverOutcome] = []
                for try await outcome in stage.library.prefetch(list) {
                    outcomes.append(outcome)
                    if let next = rest.popFirst() { read(next) } else { lines.finish() }
                }
                #expect(outcomes.map { $0.failure == nil } == [false, false, false, true, true], "\(outcomes)")
                #expect(asked.all == ["old", "older", "good"])
            }
        }
    }

    @Test func `an address is not requested of a host that another one could not reach, or that asks for a pause`()
        async throws
    {
        try await withStage {
            $0.ignoredParameters = ["token"]
            $0.retries = 0
        } _: { stage in
            let dead = "http://127.0.0.1:\(try closedPort())/1.svg?token="
            #expect(try await prefetch([dead + "a", dead + "b"], stage).summary().failed == 2)
            try await withServer(("429 Too Many Requests", "")) { server, asked in
                let urls = ["a", "b"].map { server.url + "/1.svg?token=\($0)" }
                let summary = try await prefetch(urls, stage).summary()
                #expect(summary.failed == 2)
                #expect(asked.all == ["a"])
            }
        }
    }

    @Test func `calls for one cover with different tokens that share a transfer each have their address requested`()
        async throws
    {
        try await withStage {
            $0.ignoredParameters = ["token"]
        } _: { stage in
            try await withServer(("403 Forbidden", "")) { server, asked in
                async let old = stage.library.cover(at: server.url + "/1.svg?token=old")
                async let good = stage.library.cover(at: server.url + "/1.svg?token=good")
                let cover = try await good
                #expect(cover.mediaType == "image/svg+xml")
                // It shared the transfer, or had failed before.
                _ = try? await old
                #expect(Set(asked.all).contains("good") && asked.all.count <= 2)
            }
        }
    }
}
