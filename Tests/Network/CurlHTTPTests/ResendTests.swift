import HTTPTypes
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

/// libcurl sends a request again when a reused connection ends before an answer.
@Suite(.timeLimit(.minutes(5))) struct ResendTests {
    /// Closes the connection at each request for `/dies`.
    private static let answer: ScriptedServer.Answer = {
        $0.target == "/dies" ? nil : httpResponse("200 OK", [], Array("good".utf8))
    }

    /// Leaves idle connections behind, and then requests `/dies`.
    private func requestsForDying(
        _ server: ScriptedServer, post: [UInt8]? = nil,
        onConnection: (@Sendable (ConnectionEvent) -> Bool)?
    ) async throws -> Int {
        try await withClient { client in
            try await withThrowingTaskGroup { group in
                for number in 0..<8 { group.addTask { _ = try await client.get(server.url + "/\(number)") } }
                try await group.waitForAll()
            }
            var request = TransferRequest(url: try HTTPURL(server.url + "/dies"), post: post)
            request.onConnection = onConnection
            let error = await #expect(throws: TransferError.self) { try await client.response(for: request) }
            #expect(error?.kind == .broken, "\(error as Any)")
        }
        return server.requests.count { $0.target == "/dies" }
    }

    @Test func `the caller decides about each repetition of a request`() async throws {
        for allowed in 0...2 {
            try await withScriptedServer(Self.answer) { server in
                let left = Mutex(allowed)
                let count = try await requestsForDying(server) { event in
                    guard event == .resending else { return true }
                    return left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                }
                #expect(count <= 1 + allowed)
            }
        }
    }

    @Test func `RFC 9110 section 9.2.2: a POST is not repeated`() async throws {
        try await withScriptedServer(Self.answer) { server in
            let count = try await requestsForDying(server, post: Array("edit".utf8), onConnection: nil)
            #expect(count == 1)
        }
    }
}
