import HTTPTypes
import Testing

@testable import OriginServer

@Suite
struct ArchivePathTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    @Test
    func `an id with a cover gets 307, one without gets 404, and an invalid id gets 400, as the archive documents`() {
        func status(_ path: String) -> Int? { ArchivePath(path[...])?.response.status.code }
        #expect(status("/release/\(Self.id.dropLast(3))404/front-500") == 404)
        #expect(status("/release/\(Self.id)/front-600") == 404)
        #expect(status("/release/\(Self.id.uppercased())/front-500") == 400)
        #expect(status("/release/76df3287/front-500") == 400)
        #expect(status("/covers/1.jpg") == nil)
    }

    @Test func `each size and each id leads to another cover`() throws {
        func location(_ path: String) -> String? {
            guard let head = ArchivePath(path[...])?.response, head.status.code == 307 else { return nil }
            return head.headers[.location]
        }
        for kind in ["release", "release-group"] {
            let paths = ["front-250", "front-500", "front-1200", "front"].map { "/\(kind)/\(Self.id)/\($0)" }
            let locations = (paths + ["/\(kind)/\(Self.id.dropLast())e/front"]).map(location)
            #expect(Set(locations).count == 5 && locations.allSatisfy { $0?.hasPrefix("/covers/") == true })
        }
    }
}
