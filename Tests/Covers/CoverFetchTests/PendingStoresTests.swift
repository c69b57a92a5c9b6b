import CurlHTTP
import HTTPTypes
import Platform
import Testing

@testable import CoverFetch

@Suite struct PendingStoresTests {
    @Test func `all requests of a key are completed once, those that joined as such; then the key is free`() throws {
        let (pending, caller) = (PendingStores(nil), Caller())
        let url = try HTTPURL("http://a.example/1")
        #expect(!pending.join(url.string, caller.request))
        pending.add(url, [caller.request, caller.request], SentRequest(), lease: nil)
        #expect(pending.join(url.string, caller.request))
        #expect(!pending.join("http://a.example/2", caller.request))
        _ = pending.complete([CoverOutcome(.downloaded, url: url.string)])
        #expect(caller.results.map(\.isJoined) == [false, true, true])
        #expect(caller.results.allSatisfy { $0.kind == .downloaded && $0.url == url.string })
        #expect(!pending.join(url.string, caller.request))
        _ = pending.complete([CoverOutcome(.downloaded, url: url.string)])
        #expect(caller.results.count == 3)
    }

    @Test func `a request whose look-up was before a cover was stored joins its end, and a later one does not`() throws
    {
        let (pending, caller) = (PendingStores(nil), Caller())
        func request(_ mark: Int?) -> FetchRequest {
            var request = caller.request
            request.mark = mark
            return request
        }
        func store(_ number: Int) throws {
            let url = try HTTPURL("http://a.example/\(number)")
            var outcome = CoverOutcome(.downloaded, url: url.string)
            outcome.contentDigest = Digest(of: [])
            pending.add(url, [], SentRequest(), lease: nil)
            _ = pending.complete([outcome])
        }
        let mark = pending.mark
        try store(1)
        #expect(pending.join("http://a.example/1", request(mark)))
        #expect(caller.results.map(\.isJoined) == [true])
        #expect(!pending.join("http://a.example/1", request(pending.mark)))
        #expect(!pending.join("http://a.example/1", request(nil)), "it wants its server asked")
        #expect(!pending.join("http://a.example/2", request(mark)))
        // The last ones are remembered, also those that were stored twice.
        try store(1)
        for number in 2...4_096 { try store(number) }
        #expect(pending.join("http://a.example/1", request(mark)))
        for number in 4_097...4_098 { try store(number) }
        #expect(!pending.join("http://a.example/1", request(mark)) && caller.results.count == 2)
    }

    @Test func `requests of a lost cover are taken back, and not completed`() throws {
        let (pending, caller) = (PendingStores(nil), Caller())
        let url = try HTTPURL("http://a.example/1")
        pending.add(url, [caller.request], SentRequest(), lease: nil)
        #expect(pending.join(url.string, caller.request))
        #expect(pending.takeBack([url.string, "http://a.example/2"]).map(\.url) == [url, url])
        #expect(pending.takeBack([url.string]).isEmpty && caller.results.isEmpty)
    }

    @Test func `a refusal answers the requests whose fields were sent, and a stored cover answers all`() throws {
        let (pending, sent, other) = (PendingStores(nil), Caller(), Caller())
        let url = try HTTPURL("http://a.example/1")
        let fields: HTTPFields = [.authorization: "Bearer sent"]
        func request(_ caller: Caller, _ fields: HTTPFields) -> FetchRequest {
            var request = caller.request
            request.headerFields = fields
            return request
        }
        for (status, isRefusal) in [(401, true), (nil, false)] {
            let requests = [request(sent, fields), request(other, [:])]
            pending.add(url, requests, SentRequest(fields: fields), lease: nil)
            #expect(pending.join(url.string, request(other, [.authorization: "Bearer other"])))
            let failure = CoverFailure(isRefusal ? .status : .timeout, url: url.string, detail: "", status: status)
            let unanswered = pending.complete([CoverOutcome(failed: failure)])
            #expect(
                unanswered.map { $0.request.headerFields[.authorization] } == (isRefusal ? [nil, "Bearer other"] : []))
        }
        #expect(sent.results.count == 2 && other.results.count == 2)
    }

    @Test func `an address that one request refuses is no answer for another that does not`() throws {
        let (pending, open, closed) = (PendingStores(nil), Caller(), Caller())
        let url = try HTTPURL("http://a.example/1")
        var request = closed.request
        request.deniesPrivateAddresses = true
        pending.add(url, [request, open.request], SentRequest(deniesPrivateAddresses: true), lease: nil)
        let failure = CoverFailure(.refusedAddress, url: url.string, detail: "")
        #expect(pending.complete([CoverOutcome(failed: failure)]).map(\.request.deniesPrivateAddresses) == [false])
        #expect(closed.results.count == 1 && open.results.isEmpty)
        pending.add(url, [open.request], SentRequest(), lease: nil)
        #expect(pending.complete([CoverOutcome(failed: failure)]).isEmpty && open.results.count == 1)
    }
}
