#if os(Linux)
    import Foundation
    import OriginServer
    import SleeveStage
    import Testing

    extension CacheCommandTests {
        /// What someone else has done to a cache's files.
        @Suite struct StoreDamageTests {
            @Test func `a missing, cut or changed file is a miss, and is downloaded again`() async throws {
                try await withStage { stage in
                    let urls = stage.urls(0..<4)
                    try await stage.fill(urls)
                    let files = (0..<4).map { URL(filePath: stage.coverFile(digest(cover($0)))) }
                    try FileManager.default.removeItem(at: files[0])
                    try Data(cover(1).dropLast(100)).write(to: files[1])
                    try Data(cover(2).map { $0 ^ 1 }).write(to: files[2])
                    for (number, url) in urls.enumerated() {
                        let result = try await stage.run("get", "--offline", url)
                        #expect(result.status == (number == 3 ? 0 : 3), "\(result)")
                        #expect(result.output == (number == 3 ? cover(3) : []))
                    }
                    try await stage.fill(urls)
                    #expect(stage.origin.requestCount == 7)
                    #expect(try await stage.run("cache", "verify").status == 0)
                    #expect(try await stage.litter().isEmpty)
                }
            }
        }
    }
#endif
