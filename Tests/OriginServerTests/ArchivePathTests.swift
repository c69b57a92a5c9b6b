import HTTPTypes
import Testing

@testable import OriginServer

@Suite struct ArchivePathTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    private func status(_ path: String) -> Int? { ArchivePath(path[...])?.answer.head.status.code }

    @Test("as the archive documents: 307 where there is a cover, 404 where there is none, 400 for what is no id")
    func statuses() {
        for image in ["front", "front-250", "front-500", "front-1200"] {
            #expect(status("/release/\(Self.id)/\(image)") == 307)
            #expect(status("/release-group/\(Self.id)/\(image)") == 307)
        }
        #expect(status("/release/\(Self.id.dropLast(3))404/front-500") == 404)
        #expect(status("/release/\(Self.id)/front-600") == 404)
        #expect(status("/release/\(Self.id.uppercased())/front-500") == 400)
        #expect(status("/release/76df3287/front-500") == 400)
        #expect(status("/covers/1.jpg") == nil)
    }

    @Test("a cover is larger in a larger size, and another for another id")
    func places() throws {
        let places = ["front-250", "front-500", "front-1200", "front"].map { image in
            ArchivePath("/release/\(Self.id)/\(image)")?.answer.head.headerFields[.location]
        }
        #expect(Set(places).count == 4 && places.allSatisfy { $0?.hasPrefix("/covers/") == true })
        let other = ArchivePath("/release/\(Self.id.dropLast())e/front")?.answer.head.headerFields[.location]
        #expect(other != places[3])
    }
}
