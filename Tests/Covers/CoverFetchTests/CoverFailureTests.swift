import Foundation
import Testing

@testable import CoverFetch
@testable import CurlHTTP

@Suite struct CoverFailureTests {
    @Test(
        arguments: [
            (
                .connect, "Failed to connect to a.example port 443 after 2 ms: Connection refused",
                "can't reach a.example: connection refused"
            ),
            (
                .timeout, "Failed to connect to a.example port 443 after 15000 ms: Timeout was reached",
                "can't reach a.example: timeout was reached"
            ),
            (
                .broken, "Recv failure: Connection reset by peer",
                "the server broke the connection: connection reset by peer"
            ),
            (.nameResolution, "Could not resolve host: a.example", "can't find a.example: the name has no address"),
            (
                .tls, "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number",
                "a.example answers without TLS; try http://"
            ),
            (
                .tls, "SSL certificate problem: self-signed certificate",
                "the certificate of a.example is not trusted: self-signed certificate"
            ),
        ] as [(TransferError.Kind, String, String)])
    func `a failed transfer is told in words for people`(kind: TransferError.Kind, message: String, words: String) {
        let failure = CoverFailure(TransferError(kind, url: "https://a.example/1", detail: message))
        #expect(failure.detail == words)
    }

    @Test(arguments: CoverFailure.Kind.allCases)
    func `a program knows of each kind whether a later request may succeed`(kind: CoverFailure.Kind) {
        let failure = CoverFailure(kind, url: "https://a.example/1", detail: "why")
        let retryable: Set<CoverFailure.Kind> = [
            .nameResolution, .connect, .broken, .timeout, .truncated, .overQuota, .outOfResources, .notTried,
        ]
        #expect(failure.isRetryable == retryable.contains(kind))
    }

    @Test(arguments: [(404, false), (403, false), (429, true), (500, true), (503, true), (425, true)])
    func `a status is retryable if the server may answer otherwise later`(status: Int, isRetryable: Bool) {
        #expect(CoverFailure(.status, url: "", detail: "", status: status).isRetryable == isRetryable)
    }

    @Test func `a server that passes covers on has a status for each failure, as the article on errors lists them`() {
        let statuses: [CoverFailure.Kind: Int] = [
            .badURL: 400, .badSize: 400, .refusedAddress: 403, .notCached: 404, .cache: 500, .timeout: 504,
            .offline: 504,
            .notTried: 503, .overQuota: 503, .cancelled: 503, .closed: 503, .outOfResources: 503,
        ]
        for kind in CoverFailure.Kind.allCases {
            #expect(CoverFailure(kind, url: "", detail: "").gatewayStatus == statuses[kind] ?? 502, "\(kind)")
        }
        for (status, expected) in [(404, 404), (410, 404), (403, 502), (429, 502), (500, 502)] {
            #expect(CoverFailure(.status, url: "", detail: "", status: status).gatewayStatus == expected)
        }
        var refused = CoverFailure(.status, url: "", detail: "", status: 429)
        refused.retryAfter = .seconds(1)
        #expect(refused.gatewayStatus == 503)
        refused.status = 404
        #expect(refused.gatewayStatus == 503 && refused.isRetryable, "it says not yet")
    }

    @Test func `a failure survives being encoded, and describes itself as other errors do`() throws {
        var failure = CoverFailure(.notTried, url: "https://a.example/1", detail: "why", status: 503, line: 7)
        failure.retryAfter = .milliseconds(1_500)
        failure.rememberedUntil = Date(timeIntervalSince1970: 1_000)
        let copy = try JSONDecoder().decode(CoverFailure.self, from: JSONEncoder().encode(failure))
        #expect(copy == failure)
        #expect((failure as any Error).localizedDescription == failure.message)
    }

    @Test func `what a later version encodes can be decoded: a kind that is not known is unknown, or a failure`() throws
    {
        let failure = CoverFailure(.tls, url: "https://a.example/1", detail: "why")
        var text = String(decoding: try JSONEncoder().encode(CoverOutcome(failed: failure)), as: UTF8.self)
        text.replace("\"tls\"", with: "\"later\"")
        let outcome = try JSONDecoder().decode(CoverOutcome.self, from: Data(text.utf8))
        #expect(outcome.failure?.kind == .unknown && outcome.failure?.detail == "why" && outcome.kind == .failed)
        text.replace("\"failed\"", with: "\"later\", \"more\": 1")
        #expect(try JSONDecoder().decode(CoverOutcome.self, from: Data(text.utf8)) == outcome)
    }

    @Test func `an outcome survives being encoded, with its failure or its digest`() throws {
        var stored = CoverOutcome(.downloaded, url: "https://a.example/1", line: 2)
        (stored.bytes, stored.duration, stored.isDuplicate) = (10, .milliseconds(20), true)
        stored.digest = String(repeating: "ab", count: 32)
        let failed = CoverOutcome(failed: CoverFailure(.timeout, url: "https://a.example/2", detail: "why"))
        for outcome in [stored, failed] {
            let data = try JSONEncoder().encode(outcome)
            #expect(try JSONDecoder().decode(CoverOutcome.self, from: data) == outcome)
        }
    }
}
