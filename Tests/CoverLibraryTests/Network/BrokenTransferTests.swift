import OriginServer
import Testing

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(5))) struct BrokenTransferTests {
    @Test(arguments: [20_000, 600_000])
    func `a body that broke off is transferred again whole: two versions are never mixed`(size: Int) async throws {
        try await withStage { stage in
            let cover = try await stage.library.cover(at: stage.url(1, "size=\(size)&fault=truncate&times=1"))
            #expect(cover.bytes == CoverImage.jpeg(number: 1, aboutBytes: size))
            #expect(stage.origin.requestCount == 2)
        }
    }
}
