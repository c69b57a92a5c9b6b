import OriginServer
import Testing
import Wire

@Suite(.timeLimit(.minutes(10)))
struct FaultTests {
    private let cover = CoverImage.jpeg(number: 5)

    @Test(arguments: [nil, 20_000_000])
    func `truncate sends exactly half of the announced bytes, also beyond the socket's buffer`(size: Int?) async throws
    {
        let cover = size.map { CoverImage.jpeg(number: 5, aboutBytes: $0) } ?? cover
        try await withOrigin { origin in
            let query = size.map { "&size=\($0)" } ?? ""
            let reply = try await origin.fetch("/covers/5.jpg?fault=truncate" + query)
            #expect(reply.fields["content-length"] == "\(cover.count)" && reply.ending == .closed)
            #expect(reply.body.elementsEqual(cover.prefix(cover.count / 2)))
        }
    }

    @Test func `wrong-length announces 1,000 bytes too many, excess half of them`() async throws {
        try await withOrigin { origin in
            let more = try await origin.fetch("/covers/5.jpg?fault=wrong-length")
            #expect(more.fields["content-length"] == "\(cover.count + 1000)")
            #expect(more.body == cover)
            #expect(more.ending == .closed)
            let excess = try await origin.fetch("/covers/5.jpg?fault=excess")
            #expect(excess.fields["content-length"] == "\(cover.count / 2)")
        }
    }

    @Test func `reset sends RST, close sends FIN`() async throws {
        try await withOrigin { origin in
            let reset = try await origin.fetch("/covers/5.jpg?fault=reset")
            #expect(reset.ending == .reset)
            let closed = try await origin.fetch("/covers/5.jpg?fault=close")
            #expect(closed.ending == .closed)
        }
    }

    @Test func `html, json and empty have status 200`() async throws {
        try await withOrigin { origin in
            let html = try await origin.fetch("/covers/5.jpg?fault=html")
            #expect(html.status == 200 && html.text.hasPrefix("<!DOCTYPE html>"))
            let json = try await origin.fetch("/covers/5.jpg?fault=json")
            #expect(json.status == 200 && json.fields["content-type"] == "application/json")
            let empty = try await origin.fetch("/covers/5.jpg?fault=empty")
            #expect(empty.status == 200 && empty.body.isEmpty && empty.ending == .complete)
        }
    }

    @Test func `endless sends bytes until the client disconnects`() async throws {
        try await withOrigin { origin in
            let port = origin.port
            let body = try await onThread {
                let wire = try Wire(port: port)
                try wire.send(request("/covers/5.jpg?fault=endless"))
                return try wire.drain(most: 5_000_000).body
            }
            #expect(body.count >= 5_000_000)
            try await eventually { origin.openConnectionCount == 0 }
        }
    }

    @Test func `redirects count down to the cover, and a loop does not end`() async throws {
        try await withOrigin { origin in
            var target = "/covers/5.jpg?a=1&redirect=2&redirect-status=307"
            for _ in 0..<2 {
                let reply = try await origin.fetch(target)
                #expect(reply.status == 307)
                target = try #require(reply.fields["location"])
            }
            #expect(target == "/covers/5.jpg?a=1&redirect=0&redirect-status=307")
            #expect(try await origin.fetch(target).body == cover)
            let loop = try await origin.fetch("/covers/5.jpg?fault=loop")
            #expect(loop.status == 302 && loop.fields["location"] == "/covers/5.jpg?fault=loop")
            let away = try await origin.fetch("/covers/5.jpg?to=http%3A%2F%2Fexample.com%2Fx")
            #expect(away.fields["location"] == "http://example.com/x")
        }
    }

    @Test func `a status has Retry-After, and times= limits its number`() async throws {
        try await withOrigin { origin in
            let target = "/covers/5.jpg?status=503&retry-after=2&times=2"
            for _ in 0..<2 {
                let reply = try await origin.fetch(target)
                #expect(reply.status == 503 && reply.fields["retry-after"] == "2")
            }
            #expect(try await origin.fetch(target).body == cover)
            #expect(try await origin.fetch("/covers/6.jpg?status=404").status == 404)
            #expect(try await origin.fetch("/covers/6.jpg?status=204").body.isEmpty)
        }
    }

    @Test func `faultEvery makes every third request fail`() async throws {
        var options = OriginOptions()
        try options.setFault("503")
        options.faultEvery = 3
        try await withOrigin(options) { origin in
            var statuses: [Int] = []
            for number in 0..<6 { statuses.append(try await origin.fetch("/covers/\(number).jpg").status) }
            #expect(statuses == [200, 200, 503, 200, 200, 503])
        }
        #expect(throws: OriginError.self) { try options.setFault("burn") }
    }

    @Test func `delay and rate slow a response`() async throws {
        try await withOrigin { origin in
            let clock = ContinuousClock()
            let delayed = try await clock.measure { _ = try await origin.fetch("/covers/5.jpg?delay=150") }
            #expect(delayed >= .milliseconds(150))
            let slow = try await clock.measure {
                let reply = try await origin.fetch("/covers/5.jpg?size=20000&rate=100000")
                #expect(reply.body.count == 20_000)
            }
            #expect(slow >= .milliseconds(200))
        }
    }

    @Test func `size, cache-control, chunked and same change the response`() async throws {
        try await withOrigin { origin in
            #expect(try await origin.fetch("/covers/5.jpg?size=100000").body.count == 100_000)
            #expect(try await origin.fetch("/covers/5.png?size=9000").body.count == 9000)
            #expect(try await origin.fetch("/covers/5.jpg?cache-control=").fields["cache-control"] == nil)
            let none = try await origin.fetch("/covers/5.jpg?cache-control=no-store,%20max-age%3D0")
            #expect(none.fields["cache-control"] == "no-store, max-age=0")
            let chunked = try await origin.fetch("/covers/5.jpg?chunked=1")
            #expect(chunked.fields["content-length"] == nil && chunked.body == cover)
            let same = try await origin.fetch("/covers/9.jpg?same=5")
            #expect(same.body == cover)
            #expect(try await origin.fetch("/covers/5.jpg").fields["etag"] == same.fields["etag"])
        }
    }

    @Test(arguments: [
        "size=x", "size=-1", "size=999999999999", "delay=soon", "rate=0", "status=99", "status=", "fault=burn",
        "redirect=1.5", "redirect-status=200", "chunked=yes", "times=-1", "to=%zz", "to=a%0d%0aX:1", "same=one",
    ])
    func `an invalid value gets 400 and the reason`(query: String) async throws {
        try await withOrigin { origin in
            let reply = try await origin.fetch("/covers/5.jpg?\(query)")
            #expect(reply.status == 400)
            #expect(reply.text.hasPrefix(query.split(separator: "=")[0] + "="))
        }
    }
}
