import LinkEmulator
import Synchronization
import Testing
import Wire

@testable import CurlHTTP

/// Bodies that take longer than a transfer may.
@Suite(.timeLimit(.minutes(5))) struct SlowBodyTests {
    /// The end of a transfer with a time-out of 2 s, over a link on which the body takes `seconds`, and the times that it was late.
    private func get(
        _ seconds: Int, status: String = "200 OK"
    ) async throws -> (result: Result<TransferResponse, TransferError>, late: Int) {
        let late = Mutex(0)
        var result: Result<TransferResponse, TransferError>?
        let body = [UInt8](repeating: 7, count: 60_000)
        try await withScriptedServer({ _ in httpResponse(status, [], body) }) { server in
            let link = LinkModel(roundTrip: .milliseconds(1), bitsPerSecond: 8 * body.count / seconds)
            let relay = try await LinkRelay.start(link, port: server.port)
            try await withClient({ $0.timeout = .seconds(2) }) { client in
                var request = TransferRequest(url: try HTTPURL("http://127.0.0.1:\(relay.port)/1"))
                request.onConnection = { event in
                    if event == .overdue { late.withLock { $0 += 1 } }
                    return true
                }
                do throws(TransferError) {
                    result = .success(try await client.response(for: request))
                } catch {
                    result = .failure(error)
                }
            }
            await relay.stop()
        }
        return (try #require(result), late.withLock { $0 })
    }

    @Test func `a body that arrives goes on beyond the time-out, and says so`() async throws {
        let (result, late) = try await get(5)
        let body = try result.get().body
        #expect(body.count == 60_000 && (1...3).contains(late))
    }

    @Test func `a body that four times the time-out would not suffice for ends with it`() async throws {
        let (result, late) = try await get(20)
        guard case .failure(let error) = result else {
            Issue.record("it arrived")
            return
        }
        #expect(error.kind == .timeout && error.isPartial && late == 0)
        #expect((1_900_000...4_000_000).contains(error.microseconds))
    }
}
