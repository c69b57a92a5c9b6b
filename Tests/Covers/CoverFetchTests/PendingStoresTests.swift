import CurlHTTP
import HTTPTypes
import Platform
import Testing

@testable import CoverFetch

@Suite struct PendingStoresTests {
    @Test func `all asks of a key are completed once, those that joined as such; then the key is free`() throws {
        let (pending, caller) = (PendingStores(), Caller())
        let url = try HTTPURL("http://a.example/1")
        #expect(!pending.join(caller.ask(url)))
        pending.add(url.string, [caller.ask(url), caller.ask(url)], SentRequest())
        #expect(pending.join(caller.ask(url)))
        #expect(!pending.join(caller.ask(try HTTPURL("http://a.example/2"))))
        _ = pending.complete([CoverOutcome(.downloaded, url: url.string)])
        #expect(caller.results.map(\.isJoined) == [false, true, true])
        #expect(caller.results.allSatisfy { $0.kind == .downloaded && $0.url == url.string })
        #expect(!pending.join(caller.ask(url)))
        _ = pending.complete([CoverOutcome(.downloaded, url: url.string)])
        #expect(caller.results.count == 3)
    }

    @Test func `an ask whose look-up was before a cover was stored joins its end, and a later one does not`() throws {
        let (pending, caller) = (PendingStores(), Caller())
        func ask(_ number: Int, _ stores: Int?) throws -> Ask {
            caller.ask(try HTTPURL("http://a.example/\(number)")) { $0.storesBeforeLookUp = stores }
        }
        func store(_ number: Int) throws {
            let url = try HTTPURL("http://a.example/\(number)")
            var outcome = CoverOutcome(.downloaded, url: url.string)
            outcome.contentDigest = Digest(of: [])
            pending.add(url.string, [], SentRequest())
            _ = pending.complete([outcome])
        }
        let stores = pending.stores
        try store(1)
        #expect(pending.join(try ask(1, stores)))
        #expect(caller.results.map(\.isJoined) == [true])
        #expect(!pending.join(try ask(1, pending.stores)))
        #expect(!pending.join(try ask(1, nil)), "it wants its server asked")
        #expect(!pending.join(try ask(2, stores)))
        // The last ones are remembered, also those that were stored twice.
        try store(1)
        for number in 2...4_096 { try store(number) }
        #expect(pending.join(try ask(1, stores)))
        for number in 4_097...4_098 { try store(number) }
        #expect(!pending.join(try ask(1, stores)) && caller.results.count == 2)
    }

    @Test func `asks of a lost cover are taken back, and not completed`() throws {
        let (pending, caller) = (PendingStores(), Caller())
        let url = try HTTPURL("http://a.example/1")
        pending.add(url.string, [caller.ask(url)], SentRequest())
        #expect(pending.join(caller.ask(url)))
        #expect(pending.takeBack([url.string, "http://a.example/2"]).map(\.url) == [url, url])
        #expect(pending.takeBack([url.string]).isEmpty && caller.results.isEmpty)
    }

    @Test
    func `a suspect has no outcome before it is requested again, and one that has ended is named with its outcome`()
        throws
    {
        let (pending, caller) = (PendingStores(), Caller())
        let urls = try (1...4).map { try HTTPURL("http://a.example/\($0)") }
        func outcome(_ url: HTTPURL) -> CoverOutcome {
            var outcome = CoverOutcome(.downloaded, url: url.string)
            outcome.contentDigest = Digest(of: Array(url.string.utf8))
            return outcome
        }
        func add(_ url: HTTPURL) { pending.add(url.string, [caller.ask(url)], SentRequest()) }
        for url in urls.prefix(3) { add(url) }
        let stores = pending.stores
        _ = pending.complete([outcome(urls[0])])
        var failure = CoverFailure(.status, url: urls[1].string, detail: "")
        failure.status = 404
        _ = pending.complete([CoverOutcome(failed: failure)])
        #expect(caller.results.count == 2)
        let covers = (urls + urls).map { RequestedCover($0) }
        let suspects = pending.suspect(UnaskedAnswer(origins: ["http://a.example"], covers: covers, openedAt: 7))
        #expect(suspects.pending == 1 && suspects.hosts == ["a.example"] && suspects.openedAt == 7)
        #expect(suspects.suspects.map(\.cover.url) == [urls[0], urls[1], urls[3]])
        #expect(suspects.suspects.map(\.outcome?.kind) == [.downloaded, .failed, nil])
        // An ask that was looked up before does not get the outcome that is in doubt.
        #expect(!pending.join(caller.ask(urls[0]) { $0.storesBeforeLookUp = stores }))
        #expect(pending.suspects(among: urls.map(outcome)) == [urls[2].string])
        #expect(pending.takeBack([urls[2].string]).map(\.url) == [urls[2]])
        #expect(pending.suspects(among: urls.map(outcome)).isEmpty && caller.results.count == 2)
        add(urls[2])
        _ = pending.complete([outcome(urls[2])])
        #expect(caller.results.last?.kind == .downloaded)
    }

    @Test func `a refusal answers the asks whose fields were sent, and a stored cover answers all`() throws {
        let (pending, sent, other) = (PendingStores(), Caller(), Caller())
        let url = try HTTPURL("http://a.example/1")
        let fields: HTTPFields = [.authorization: "Bearer sent"]
        func ask(_ caller: Caller, _ fields: HTTPFields) -> Ask {
            caller.ask(url) { $0.ownFields = fields.isEmpty ? nil : (fields, String(url.origin)) }
        }
        for (status, isRefusal) in [(401, true), (nil, false)] {
            pending.add(url.string, [ask(sent, fields), ask(other, [:])], SentRequest(fields: fields))
            #expect(pending.join(ask(other, [.authorization: "Bearer other"])))
            let failure = CoverFailure(isRefusal ? .status : .timeout, url: url.string, detail: "", status: status)
            let unanswered = pending.complete([CoverOutcome(failed: failure)])
            #expect(
                unanswered.map { $0.headerFields[.authorization] } == (isRefusal ? [nil, "Bearer other"] : []))
        }
        #expect(sent.results.count == 2 && other.results.count == 2)
    }

    @Test func `an answer to one address with a key answers no ask at another; that no server answers is true of all`()
        throws
    {
        let (pending, caller) = (PendingStores(), Caller())
        let urls = try ["?t=1", "?t=2", "?t=3", ""].map { try HTTPURL("http://a.example/1" + $0, ignoring: ["t"]) }
        func unanswered(by failure: CoverFailure) -> [HTTPURL] {
            pending.add(urls[0].string, urls.map { caller.ask($0) }, SentRequest(addresses: urls[..<2].map(\.address)))
            return pending.complete([CoverOutcome(failed: failure)]).map(\.url)
        }
        let key = urls[3].string
        #expect(unanswered(by: CoverFailure(.status, url: key, detail: "", status: 403)) == Array(urls[2...]))
        #expect(caller.results.count == 2)
        #expect(unanswered(by: CoverFailure(.connect, url: key, detail: "")) == [])
        #expect(unanswered(by: CoverFailure(.status, url: key, detail: "", status: 429)) == [])
        pending.add(key, urls.map { caller.ask($0) }, SentRequest())
        let refused = CoverFailure(.status, url: key, detail: "", status: 404)
        #expect(pending.complete([CoverOutcome(failed: refused)]).map(\.url) == Array(urls[..<3]))
    }

    @Test func `an address that one ask refuses is no answer for another that does not`() throws {
        let (pending, open, closed) = (PendingStores(), Caller(), Caller())
        let url = try HTTPURL("http://a.example/1")
        let closedAsk = closed.ask(url) { $0.deniesPrivateAddresses = true }
        pending.add(url.string, [closedAsk, open.ask(url)], SentRequest(deniesPrivateAddresses: true))
        let failure = CoverFailure(.refusedAddress, url: url.string, detail: "")
        #expect(pending.complete([CoverOutcome(failed: failure)]).map(\.deniesPrivateAddresses) == [false])
        #expect(closed.results.count == 1 && open.results.isEmpty)
        pending.add(url.string, [open.ask(url)], SentRequest())
        #expect(pending.complete([CoverOutcome(failed: failure)]).isEmpty && open.results.count == 1)
    }
}
