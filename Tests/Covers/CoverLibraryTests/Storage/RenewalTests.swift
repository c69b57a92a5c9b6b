import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes
import Platform
import Testing

@testable import CoverFetch
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct RenewalTests {
    @Test func `a 304 renews the version that was asked about, and none that is there since`() async throws {
        try await withStage { stage in
            let url = stage.url(1)
            try await stage.store(url, [1, 2, 3], fields: "ETag: \"a\"\n", validated: 1_000)
            let entry = try #require(try stage.entries().first)
            func renewal(of digest: Digest, validatedAt: Int64) throws -> Renewal? {
                let version = StoredVersion(conditions: [:], digest: digest, validatedAt: validatedAt)
                let update = StoredResponse(status: 304, fields: [:], requestTime: 2_000, responseTime: 2_000)
                let url = try HTTPURL(url)
                let timings = CoverTimings(submitted: .now, transfer: TransferTimings(), now: .now)
                let download = Download(
                    url: url, target: url, content: .notModified(version, update), timings: timings)
                return download.renewal(of: entry, at: 3_000)
            }
            #expect(try renewal(of: entry.digest, validatedAt: 1_000)?.validatedAt == 2_000)
            #expect(try renewal(of: entry.digest, validatedAt: 999) == nil, "another process has validated it")
            #expect(try renewal(of: Digest(of: [9]), validatedAt: 1_000) == nil, "another process has replaced it")
        }
    }
}
