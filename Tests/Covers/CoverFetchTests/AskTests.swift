import CurlHTTP
import HTTPTypes
import Platform
import Testing

@testable import CoverFetch

@Suite struct AskTests {
    private static let first = "http://a.example/p/1"
    private let caller = Caller()

    /// Three sizes of one picture, and another address. The second to last is no URL.
    private func ask() throws -> Ask {
        let locations = [
            Self.first, "http://a.example/p/2", "http://a.example/p/3", "none", "http://b.example/4",
        ]
        let ask = try Ask(locations[0], alternatives: Array(locations.dropFirst()), sink: caller)
        ask.findSizes { $0.contains("/p/") ? "p" : nil }
        return ask
    }

    private func failed(_ status: Int) -> CoverOutcome {
        CoverOutcome(failed: CoverFailure(.status, url: "", detail: "status \(status)", status: status))
    }

    @Test
    func `an ask goes on to its addresses in order, and ends with one failure that names each, and alike sizes once`()
        throws
    {
        let ask = try ask()
        for place in ["p/2", "p/3", "/4"] {
            #expect(!ask.complete(failed(404)) && ask.url.string.hasSuffix(place))
            #expect(ask.mayBeAbsent && caller.results.isEmpty)
        }
        #expect(ask.complete(failed(404)) && !ask.hasAlternatives)
        let failure = try #require(caller.result?.failure)
        #expect(caller.results.count == 1 && failure.url == Self.first && failure.status == 404)
        #expect(failure.detail.ranges(of: "status 404").count == 2, "\(failure.detail)")
        #expect(failure.detail.contains("http://b.example/4") && failure.detail.contains("none"))
    }

    @Test func `after a temporary failure of one size the others are left out, after another they are not absent`()
        throws
    {
        let temporary = try ask()
        #expect(!temporary.complete(failed(503)) && temporary.url.string == "http://b.example/4")
        let mixed = try ask()
        #expect(!mixed.complete(failed(403)) && mixed.location.hasSuffix("p/2") && !mixed.mayBeAbsent)
    }

    @Test(arguments: [CoverFailure.Kind.cancelled, .closed, .cache, .offline])
    func `a failure that no other address would mend is final`(kind: CoverFailure.Kind) throws {
        let ask = try ask()
        #expect(ask.complete(CoverOutcome(failed: CoverFailure(kind, url: "", detail: "end"))))
        #expect(caller.result?.failure?.kind == kind && ask.location == Self.first)
    }

    @Test func `an ask whose time is over tries no other address; the shortest time that it was given counts`() throws {
        let ask = try ask()
        for time in [Duration.seconds(60), .seconds(5), .seconds(600)] { ask.wait(atMost: time) }
        ask.expire()
        #expect(ask.location == Self.first && caller.result?.failure?.kind == .timeout)
        #expect(caller.result?.failure?.detail.contains("5.0 seconds") == true)
    }

    @Test func `an ask whose time is over in flight names the attempt before; one that has time left goes on`() throws {
        let late = try ask()
        late.wait(atMost: .seconds(5))
        late.expire(after: failed(503).failure, isInFlight: true)
        #expect(
            caller.result?.failure?.kind == .timeout && caller.result?.failure?.detail.contains("status 503") == true)
        let ask = try ask()
        ask.wait(atMost: .seconds(600))
        #expect(!ask.giveUp(after: try #require(failed(404).failure)) && ask.location.hasSuffix("p/2"))
    }

    @Test func `an ask that begins at another address tries the others after it, in order`() throws {
        let ask = try ask()
        ask.begin(at: "http://b.example/4", try HTTPURL("http://b.example/4"))
        for place in ["p/1", "p/2", "p/3"] {
            #expect(!ask.complete(failed(404)) && ask.url.string.hasSuffix(place))
        }
        #expect(ask.complete(CoverOutcome(.downloaded, url: "http://a.example/p/3")))
        #expect(caller.results.map(\.url) == ["http://a.example/p/3"])
    }

    @Test func `what is known of the addresses after the first counts when it is their turn`() throws {
        let missing = try ask()
        for place in ["http://a.example/p/2", "http://b.example/4"] {
            missing.learn(Ask.Known(answer: failed(410)), of: place)
        }
        missing.learn(Ask.Known(negativeTimeToLive: 7), of: "http://a.example/p/3")
        #expect(!missing.complete(failed(404)) && missing.location.hasSuffix("p/3"))
        #expect(missing.negativeTimeToLive == 7 && missing.mayHaveFailed)
        #expect(missing.complete(failed(404)) && caller.result?.failure?.detail.contains("status 410") == true)

        let stored = try ask()
        let version = StoredVersion(conditions: [.ifNoneMatch: "\"1\""], digest: Digest(of: []), validatedAt: 1)
        stored.learn(Ask.Known(stored: version), of: "http://b.example/4")
        #expect(!stored.complete(failed(404)) && stored.location == "http://b.example/4", "a stored one comes first")
        #expect(stored.stored === version)
    }
}
