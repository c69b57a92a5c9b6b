import CoverCache
import Foundation
import HTTPTypes
import OriginServer
import Testing
import Wire

@testable import CoverLibrary

/// What a client has already, or wants of the whole.
@Suite(.timeLimit(.minutes(5))) struct SelectionTests {
    @Test("a client that has the response is told so, from the cache and on a miss (RFC 9111 §4.3.2)")
    func conditions() async throws {
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
            #expect(other.status == 200 && other.body == first.body, "If-None-Match comes before If-Modified-Since")
            let fresh = try await stage.get("/covers/2.jpg", ["If-Modified-Since": modified])
            #expect([200, 304].contains(fresh.status) && fresh.outcome.contains("fwd=uri-miss"))
            #expect(try stage.library.reader.entry(for: stage.origin.coverURL(2)) != nil, "the whole was asked for")
        }
    }

    @Test("parts are cut from the whole (RFC 9110 §14), also on a miss, which stores all of it")
    func ranges() async throws {
        try await withMirror { stage in
            let whole = CoverImage.jpeg(number: 3)
            let part = try await stage.get("/covers/3.jpg", ["Range": "bytes=0-99"])
            #expect(part.status == 206 && part.body == Array(whole[..<100]))
            #expect(part.fields["content-range"] == "bytes 0-99/\(whole.count)")
            #expect(part.cacheStatus == "sleeve; fwd=uri-miss; fwd-status=200; stored")
            let last = try await stage.get("/covers/3.jpg", ["Range": "bytes=-10"])
            #expect(last.status == 206 && last.body == Array(whole.suffix(10)) && last.outcome == "sleeve; hit")
            let beyond = try await stage.get("/covers/3.jpg", ["Range": "bytes=\(whole.count)-"])
            #expect(beyond.status == 416 && beyond.fields["content-range"] == "bytes */\(whole.count)")
            let several = try await stage.get("/covers/3.jpg", ["Range": "bytes=0-1,5-6"])
            #expect(several.status == 200 && several.body == whole)
            #expect(stage.requests(3) == 1)
        }
    }

    @Test("a part is given only while the whole is the one the client has a part of (RFC 9110 §13.1.5)")
    func ifRange() async throws {
        try await withMirror { stage in
            let first = try await stage.get("/covers/4.jpg")
            let tag = try #require(first.fields["etag"]), modified = try #require(first.fields["last-modified"])
            for (condition, status) in [(tag, 206), (modified, 206), ("\"x\"", 200), ("W/\(tag)", 200)] {
                let reply = try await stage.get("/covers/4.jpg", ["Range": "bytes=5-9", "If-Range": condition])
                #expect(reply.status == status, "\(condition)")
            }
        }
    }

    @Test("what the origin alone can judge is asked of it (RFC 9110 §13.1.1)")
    func ifMatch() async throws {
        try await withMirror { stage in
            _ = try await stage.get("/covers/5.jpg")
            let reply = try await stage.get("/covers/5.jpg", ["If-Match": "\"x\""])
            #expect(reply.outcome == "sleeve; fwd=bypass" && stage.requests(5) == 2)
        }
    }
}
