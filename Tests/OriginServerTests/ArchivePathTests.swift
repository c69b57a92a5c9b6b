import HTTPTypes
import Testing

@testable import OriginServer

@Suite
struct ArchivePathTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    private func status(_ path: String) -> Int? { ArchivePath(path[...])?.response.head.status.code }

    @Test
    func `an id with a cover gets 307, one without gets 404, and an invalid id gets 400, as the archive documents`() {
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

    @Test func `each size and each id leads to another cover`() throws {
        let locations = ["front-250", "front-500", "front-1200", "front"].map { image in
            ArchivePath("/release/\(Self.id)/\(image)")?.response.head.headerFields[.location]
        }
        #expect(Set(locations).count == 4 && locations.allSatisfy { $0?.hasPrefix("/covers/") == true })
        let other = ArchivePath("/release/\(Self.id.dropLast())e/front")?.response.head.headerFields[.location]
        #expect(other != locations[3])
    }
}
