import HTTPTypes
import Testing

@testable import OriginServer

@Suite
struct ArchivePathTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"

    private func status(_ path: String) -> Int? { ArchivePath(path[...])?.response(at: nil).head.status.code }

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
            ArchivePath("/release/\(Self.id)/\(image)")?.response(at: nil).head.headerFields[.location]
        }
        #expect(Set(locations).count == 4 && locations.allSatisfy { $0?.hasPrefix("/covers/") == true })
        let other = ArchivePath("/release/\(Self.id.dropLast())e/front")?.response(at: nil).head.headerFields[.location]
        #expect(other != locations[3])
    }

    @Test func `with the archive's hosts, a cover is two redirects away, on one of 40 storage hosts and the same port`()
        throws
    {
        func location(_ path: String, _ authority: String = "127.0.0.1:8731") -> String? {
            ArchivePath(path[...])?.response(at: ArchiveHosts(isTLS: true, authority: authority)).head.headerFields[
                .location]
        }
        let root = "https://archive.hosts.localhost"
        let path = "/download/\(Self.id)/front-500"
        for (authority, port) in [
            ("localhost:8731", ":8731"), ("[::1]:8731", ":8731"), ("[::1]", ""), ("localhost", ""),
        ] {
            #expect(location("/release/\(Self.id)/front-500", authority) == root + port + path)
        }
        let covers = try (0..<100).map { number in
            let hexadecimal = String(0x10000 + number, radix: 16)
            return try #require(location("/download/\(Self.id.dropLast(5))\(hexadecimal)/front-500"))
        }
        #expect(
            covers[0].hasPrefix("https://ia")
                && covers[0].hasSuffix(".hosts.localhost:8731/covers/65536.jpg?size=30000"))
        #expect(Set(covers.map { $0.split(separator: "/")[1] }).count == 40)
    }
}
