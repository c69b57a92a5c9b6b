import CoverCache
import CoverPack
import Foundation
import OriginServer
import Platform
import Testing

@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct UnpackTests {
    @Test func `a pack brings the fields that a cache keeps, and no other`() async throws {
        try await withStage { source in
            let kept = "etag: \"1\"\ncache-control: max-age=60\n"
            let fields = kept + "set-cookie: a=b\nx-secret: c\nunknown note: d\n"
            let elsewhere = fields + "request URL: http://other.example/?password=x\n"
            try await source.store(source.url(1), CoverImage.jpeg(number: 1), fields: elsewhere, validated: 1_000)
            let pack = URL(filePath: source.folder + "/covers.pack")
            #expect(try await source.library.pack(to: pack).covers == 1)
            try await withStage { target in
                #expect(try await target.library.unpack(pack).stored == 1)
                let lines = try target.entries().flatMap { $0.metadata.fields.split(separator: "\n") }
                #expect(lines.map { $0.lowercased() }.sorted() == ["cache-control: max-age=60", "etag: \"1\""])
            }
        }
    }

    @Test func `a pack carries pins, of covers that are stored and of those that are kept; a dry run pins nothing`()
        async throws
    {
        try await withStage { source in
            for number in 1...3 {
                try await source.store(
                    source.url(number), CoverImage.jpeg(number: number), fields: "", validated: 1_000)
            }
            let pinned = [1, 2].map { CoverRequest(location: source.url($0)) }
            #expect(try await source.library.pin(.requests(pinned)).changed == 2)
            let pack = URL(filePath: source.folder + "/covers.pack")
            #expect(try await source.library.pack(to: pack).covers == 3)
            try await withStage { target in
                try await target.store(source.url(1), CoverImage.jpeg(number: 1), fields: "", validated: 1_000)
                let descriptor = open(pack.path(), O_RDONLY)
                defer { close(descriptor) }
                let reader = try LibraryAPI.pack(in: descriptor, name: "pack")
                _ = try await target.library.unpack(reader, dryRun: true, onFailure: { _ in })
                #expect(try target.entries().allSatisfy { !$0.isPinned })
                let summary = try await target.library.unpack(pack)
                #expect(summary.stored == 2 && summary.kept == 1)
                #expect(
                    try target.entries().filter(\.isPinned).map(\.metadata.key).sorted()
                        == [1, 2].map { source.url($0) })
            }
        }
    }

    @Test(arguments: [true, false])
    func `a cover that was validated with a clock ahead counts as the older one`(isPackAhead: Bool) async throws {
        let now = WallClock.milliseconds()
        let (ahead, past) = (now + 9 * 365 * 86_400_000, now - 86_400_000)
        try await withStage { source in
            let url = source.url(1)
            try await source.store(url, CoverImage.jpeg(number: 1), fields: "", validated: isPackAhead ? ahead : past)
            let pack = URL(filePath: source.folder + "/covers.pack")
            #expect(try await source.library.pack(to: pack).covers == 1)
            try await withStage { target in
                try await target.store(
                    url, CoverImage.jpeg(number: 2), fields: "", validated: isPackAhead ? past : ahead)
                let summary = try await target.library.unpack(pack)
                #expect(summary.kept == (isPackAhead ? 1 : 0) && summary.stored == (isPackAhead ? 0 : 1))
                #expect(try target.library.cached(url)?.bytes == CoverImage.jpeg(number: isPackAhead ? 2 : 1))
            }
        }
    }
}
