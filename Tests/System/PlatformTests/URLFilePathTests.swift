import Foundation
import Testing

@testable import Platform

@Suite struct URLFilePathTests {
    private static let base = URL(filePath: "/srv/music/", directoryHint: .isDirectory)
    private static let file = URL(filePath: "/srv/music", directoryHint: .notDirectory)

    @Test(
        arguments: [
            (URL(filePath: "/a/link/../b c/é/"), "/a/link/../b c/é"),
            (URL(filePath: "covers", relativeTo: base), "/srv/music/covers"),
            (URL(filePath: "link/../covers", relativeTo: base), "/srv/music/link/../covers"),
            (URL(filePath: "covers", relativeTo: URL(filePath: "x/", relativeTo: base)), "/srv/music/x/covers"),
            (URL(filePath: "covers", relativeTo: file), "/srv/covers"),
            (URL(filePath: ".", relativeTo: base), "/srv/music"),
            (URL(filePath: "covers"), FileManager.default.currentDirectoryPath + "/covers"),
            (URL(string: "file:///a%20b/c"), "/a b/c"), (URL(string: "file://localhost/a"), "/a"),
        ] as [(URL?, String)])
    func `a file URL has an absolute path, with its base, and with the parts that links may change`(
        url: URL?, path: String
    ) {
        #expect(url?.filePath == path)
    }

    @Test(arguments: [
        "https://example.org/cache", "sftp://nas/cache", "file://nas/cache", "s3://bucket/cache", "covers",
        "file:covers",
    ])
    func `a URL of no file of this machine has no path`(text: String) throws {
        #expect(try #require(URL(string: text)).filePath == nil)
    }
}
