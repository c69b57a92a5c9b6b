import HTTPCaching
import HTTPTypes
import OriginServer
import Testing

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct ResumptionTests {
    @Test("a large body that broke off is resumed: only the rest is transferred again")
    func resumes() async throws {
        try await withStage { stage in
            let url = stage.url(1, "size=600000&fault=truncate&times=1")
            let cover = try await stage.library.cover(at: url)
            #expect(cover.bytes == CoverImage.jpeg(number: 1, aboutBytes: 600_000))
            #expect(stage.origin.requestCount == 2)
            #expect(stage.origin.partialResponseCount == 1)
        }
    }

    @Test("a small body that broke off is transferred again whole")
    func small() async throws {
        try await withStage { stage in
            _ = try await stage.library.cover(at: stage.url(1, "size=20000&fault=truncate&times=1"))
            #expect(stage.origin.requestCount == 2)
            #expect(stage.origin.partialResponseCount == 0)
        }
    }

    @Test(
        "the rest is requested with a strong entity tag only, and not if Accept-Ranges is none",
        arguments: [
            (HTTPFields([.init(name: .eTag, value: "\"a\"")]), true),
            (HTTPFields([.init(name: .eTag, value: "W/\"a\"")]), false),
            (HTTPFields([.init(name: .lastModified, value: "Sun, 06 Nov 1994 08:49:37 GMT")]), false),
            (HTTPFields([.init(name: .eTag, value: "\"a\""), .init(name: .acceptRanges, value: "none")]), false),
        ])
    func conditions(fields: HTTPFields, isRequested: Bool) {
        let rest = StoredResponse(status: 200, fields: fields, requestTime: 0, responseTime: 0).rest(after: 500)
        #expect(rest == (isRequested ? [.range: "bytes=500-", .ifRange: "\"a\""] : nil))
    }
}
