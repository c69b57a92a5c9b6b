import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary
@testable import CoverMirror

/// Conditional requests and ranges.
@Suite(.timeLimit(.minutes(5))) struct PreconditionTests {
    @Test func `a conditional request gets 304, from the cache and on a miss (RFC 9111 §4.3.2)`() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/1.jpg")
            let tag = try #require(first.fields["etag"]), modified = try #require(first.fields["last-modified"])
            for fields in [
                ["If-None-Match": tag], ["If-None-Match": "\"x\", W/\(tag)"], ["If-None-Match": "*"],
                ["If-Modified-Since": modified],
            ] {
                let reply = try await stage.get("/covers/1.jpg", fields)
                #expect(reply.status == 304 && reply.body.isEmpty && reply.outcome == "sleeve; hit", "\(fields)")
                #expect(reply.fields["etag"] == tag && reply.fields["content-type"] == nil)
            }
            let other = try await stage.get("/covers/1.jpg", ["If-None-Match": "\"x\"", "If-Modified-Since": modified])
            #expect(
                other.status == 200 && other.body == first.body, "If-None-Match takes precedence over If-Modified-Since"
            )
            let fresh = try await stage.get("/covers/2.jpg", ["If-Modified-Since": modified])
            #expect([200, 304].contains(fresh.status) && fresh.outcome.contains("fwd=uri-miss"))
            #expect(try stage.entry("/covers/2.jpg") != nil, "the complete response was fetched")
        }
    }

    @Test func `a range is served from the complete response (RFC 9110 §14), which a miss stores`() async throws {
        try await withMirror { stage in
            let complete = CoverImage.jpeg(number: 3)
            let part = try await stage.get("/covers/3.jpg", ["Range": "bytes=0-99"])
            #expect(part.status == 206 && part.body == Array(complete[..<100]))
            #expect(part.fields["content-range"] == "bytes 0-99/\(complete.count)")
            #expect(part.cacheStatus == "sleeve; fwd=uri-miss; fwd-status=200; stored")
            let last = try await stage.get("/covers/3.jpg", ["Range": "bytes=-10"])
            #expect(last.status == 206 && last.body == Array(complete.suffix(10)) && last.outcome == "sleeve; hit")
            let beyond = try await stage.get("/covers/3.jpg", ["Range": "bytes=\(complete.count)-"])
            #expect(beyond.status == 416 && beyond.fields["content-range"] == "bytes */\(complete.count)")
            let several = try await stage.get("/covers/3.jpg", ["Range": "bytes=0-1,5-6"])
            #expect(several.status == 200 && several.body == complete)
            #expect(stage.requestCount(3) == 1)
        }
    }

    @Test func `If-Range: a part is served only if the validator matches (RFC 9110 §13.1.5)`() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/4.jpg")
            let tag = try #require(first.fields["etag"]), modified = try #require(first.fields["last-modified"])
            for (condition, status) in [(tag, 206), (modified, 206), ("\"x\"", 200), ("W/\(tag)", 200)] {
                let reply = try await stage.get("/covers/4.jpg", ["Range": "bytes=5-9", "If-Range": condition])
                #expect(reply.status == status, "\(condition)")
            }
        }
    }

    @Test func `a request with If-Match is forwarded (RFC 9110 §13.1.1)`() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/5.jpg")
            let reply = try await stage.get("/covers/5.jpg", ["If-Match": "\"x\""])
            #expect(reply.outcome == "sleeve; fwd=bypass" && stage.requestCount(5) == 2)
        }
    }
}
