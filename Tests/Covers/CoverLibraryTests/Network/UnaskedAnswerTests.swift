import CurlHTTP
import Foundation
import OriginServer
import Platform
import Synchronization
import Testing
import Wire

@testable import CoverLibrary

/// Covers that came over a connection on which each answer is the one before.
@Suite(.timeLimit(.minutes(5))) struct UnaskedAnswerTests {
    /// A server that sends the first response of its first connection twice. It arrives with the second, and each further one is late by one;
    /// what is left over at last arrives with the last.
    private final class ShiftedServer: Sendable {
        private struct State {
            var isShifted = false
            var former: [UInt8]?
        }
        private let count: Int
        private let state = Mutex(State())
        private let answers = Mutex(0)
        /// The right answer to a request.
        let answer: @Sendable (ScriptedServer.Request) -> [UInt8]

        /// - Parameter count: of the requests that the first connection gets.
        init(_ count: Int, _ answer: @escaping @Sendable (ScriptedServer.Request) -> [UInt8]) {
            (self.count, self.answer) = (count, answer)
        }

        /// Shifts the answers of `connection`.
        func bytes(for request: ScriptedServer.Request, shifting connection: Int) -> [UInt8] {
            let own = answer(request)
            guard request.connection == connection else { return own }
            let number = answers.withLock { number in
                number += 1
                return number
            }
            return state.withLock { state in
                defer { state.former = own }
                return (state.former ?? own) + (number == count ? own : [])
            }
        }
    }

    private static func number(_ request: ScriptedServer.Request) -> Int {
        Int(request.target.filter(\.isNumber)) ?? 0
    }

    private static func picture(_ request: ScriptedServer.Request) -> [UInt8] {
        httpResponse("200 OK", ["Cache-Control: max-age=3600"], CoverImage.png(number: number(request)))
    }

    private func check(
        _ server: ScriptedServer, _ stage: Stage, missing: Set<Int> = [], _ location: SourceLocation = #_sourceLocation
    ) throws {
        for number in 1...20 {
            let bytes = try stage.library.cached(server.url + "/\(number)")?.bytes
            let expected = missing.contains(number) ? nil : CoverImage.png(number: number)
            #expect(bytes == expected, "\(number)", sourceLocation: location)
        }
    }

    private func urls(_ server: ScriptedServer) -> [String] { (1...20).map { server.url + "/\($0)" } }

    @Test func `covers of a shifted connection are fetched again before the run ends`() async throws {
        let shifted = ShiftedServer(20, Self.picture)
        try await withScriptedServer({ shifted.bytes(for: $0, shifting: 0) }) { server in
            try await withStage {
                $0.perHost = 1
            } _: { stage in
                let (outcomes, summary) = try await stage.library.prefetch(urls(server)).collect()
                #expect(summary.downloaded == 20 && summary.requested == 20 && summary.failed == 0, "\(summary)")
                try check(server, stage)
                // The last outcome of each is the right one.
                let digests = Dictionary(outcomes.map { ($0.url, $0.digest) }) { $1 }
                for number in 1...20 {
                    let digest = Digest(of: CoverImage.png(number: number)).description
                    #expect(digests[server.url + "/\(number)"] == digest)
                }
                // The first answer of the connection is its own.
                #expect(server.requests.count == 39 && server.requests.count { $0.target == "/1" } == 1)
                #expect(Set(server.requests.dropFirst(20).map(\.connection)).count == 19)
            }
        }
    }

    @Test func `one that cannot be fetched again is missing, and counts as failed`() async throws {
        let shifted = ShiftedServer(20) { request in
            let isGone = request.connection > 0 && Self.number(request) > 15
            return isGone ? httpResponse("404 Not Found") : Self.picture(request)
        }
        try await withScriptedServer({ shifted.bytes(for: $0, shifting: 0) }) { server in
            try await withStage {
                $0.perHost = 1
            } _: { stage in
                let summary = try await stage.library.prefetch(urls(server)).summary()
                #expect(summary.downloaded == 15 && summary.failed == 5 && summary.requested == 20, "\(summary)")
                try check(server, stage, missing: Set(16...20))
            }
        }
    }

    @Test func `the redirects and the failures of a shifted connection are another's as well`() async throws {
        // Redirects that are another's lead several covers to one target, which is requested once.
        let shifted = ShiftedServer(8) { request in
            let number = Self.number(request)
            // What follows an empty body in one read is dropped, and the connection goes on.
            if number.isMultiple(of: 5) { return httpResponse("404 Not Found", [], Array("gone".utf8)) }
            let isTarget = request.target.hasPrefix("/t")
            return isTarget
                ? Self.picture(request) : httpResponse("302 Found", ["Location: /t/\(number)"], Array("moved".utf8))
        }
        try await withScriptedServer({ shifted.bytes(for: $0, shifting: 0) }) { server in
            try await withStage {
                $0.perHost = 1
            } _: { stage in
                let summary = try await stage.library.prefetch(urls(server)).summary()
                #expect(summary.downloaded == 16 && summary.failed == 4 && summary.requested == 20, "\(summary)")
                try check(server, stage, missing: [5, 10, 15, 20])
            }
        }
    }

    @Test func `covers that shared the answer of a shifted connection are fetched again, too`() async throws {
        let asked = Mutex(0), allAsked = DispatchSemaphore(value: 0)
        try await withScriptedServer({ request in
            guard request.connection == 0, request.target == "/t/7" else { return Self.picture(request) }
            // The others have been led there by then.
            allAsked.wait()
            return httpResponse("200 OK", [], CoverImage.png(number: 1)) + Self.picture(request)
        }) { targets in
            let redirects = try ScriptedServer { _ in
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                if count == 4 { allAsked.signal() }
                return httpResponse("302 Found", ["Location: \(targets.url)/t/7"], Array("moved".utf8))
            }
            defer { redirects.stop() }
            try await withStage { stage in
                _ = try await stage.library.cover(at: targets.url + "/1")
                let urls = (1...4).map { "\(redirects.url)/\($0)" }
                let summary = try await stage.library.prefetch(urls).summary()
                #expect(summary.failed == 0 && summary.requested == 4, "\(summary)")
                for url in urls {
                    let bytes = try stage.library.cached(url)?.bytes
                    #expect(bytes == CoverImage.png(number: 7))
                }
            }
        }
    }

    @Test func `entries that a shifted connection confirms stay, and are asked for again`() async throws {
        let shifted = ShiftedServer(20) { request in
            let (number, isConditional) = (Self.number(request), request.field("If-Modified-Since") != nil)
            // What is left over is found behind a body.
            if isConditional, number != 19 { return Array("HTTP/1.1 304 Not Modified\r\n\r\n".utf8) }
            return httpResponse(
                "200 OK", ["Cache-Control: max-age=0", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
                CoverImage.png(number: number))
        }
        try await withScriptedServer({ shifted.bytes(for: $0, shifting: 1) }) { server in
            try await withStage {
                $0.perHost = 1
            } _: { stage in
                for url in urls(server) { _ = try await stage.library.cover(at: url) }
                await stage.library.close()
                let library = try await stage.another { $0.perHost = 1 }
                let summary = try await library.refresh().summary()
                await library.close()
                #expect(summary.requested == 20 && summary.failed == 0, "\(summary)")
                #expect(summary.downloaded + summary.revalidated == 20, "\(summary)")
                #expect(server.requests.count { $0.connection > 1 } == 19)
                let reader = try await stage.another()
                for number in 1...20 {
                    let cover = try reader.cached(server.url + "/\(number)")
                    #expect(cover?.bytes == CoverImage.png(number: number), "\(number)")
                }
                await reader.close()
            }
        }
    }
}
