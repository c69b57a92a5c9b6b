import AlbumLibrary
import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct OwnPictureTests {
    private struct Stored: Decodable { var coverUrl: String }

    private let binary = ["Content-Type": "application/octet-stream"]

    /// Sends bytes as a picture.
    private func send(_ bytes: [UInt8], _ fields: [String: String], to stage: GalleryStage) async throws -> Reply {
        try await onThread {
            let wire = try Wire(port: stage.port)
            let lines = fields.map { "\($0): \($1)\r\n" }.joined() + "Content-Length: \(bytes.count)\r\n"
            try wire.send("POST /api/pictures HTTP/1.1\r\nHost: \(stage.host)\r\n\(lines)\r\n")
            try wire.send(bytes)
            return try wire.reply()
        }
    }

    private func picture(_ stage: GalleryStage, _ number: Int = 40) async throws -> [UInt8] {
        Array(try await stage.cover(at: stage.origin.coverURL(number)).data)
    }

    /// The paths of the files in the folder of own pictures, below it.
    private func files(_ stage: GalleryStage) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: stage.folder + "/pictures")) ?? []).sorted()
    }

    /// Sends a picture. - Returns: its address.
    private func address(of picture: [UInt8], on stage: GalleryStage) async throws -> String {
        let reply = try await send(picture, binary, to: stage)
        #expect(reply.status == 201, "\(reply.text)")
        return try JSONDecoder().decode(Stored.self, from: Data(reply.body)).coverUrl
    }

    @Test func `a picture is kept beside the library, and an album shows it without a server`() async throws {
        try await withGallery { stage in
            let picture = try await picture(stage)
            let address = try await address(of: picture, on: stage)
            #expect(address.wholeMatch(of: /https:\/\/covers\.invalid\/[0-9a-f]{64}/) != nil)
            #expect(try await stage.library.statistics().pinned == 0)
            let file = stage.folder + "/pictures/\(address.suffix(64)).jpg"
            #expect(FileManager.default.contents(atPath: file).map { Array($0) } == picture)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let id = try await stage.ids[1]
            let change = #"{"album": {"coverUrl": "\#(address)"}}"#
            #expect(try await stage.ask("PATCH", "/api/albums/\(id)", json: change).status == 200)
            let shown = #"{"page": "page-0000", "view": ["\#(id)"]}"#
            let state = #"{"covers":{"\#(id)":{"digest":"\#(address.suffix(64))"}}}"#
            #expect(try await stage.ask("POST", "/api/covers", json: shown).text == state)
            #expect(try await stage.ask("GET", "/covers/\(address.suffix(64))").body == picture)
            #expect(try await stage.ask("POST", "/api/undo", json: "{}").status == 200)
            #expect(try await stage.library.albums.all()[1].coverURL == stage.origin.coverURL(1))
            #expect(try await stage.ask("POST", "/api/redo", json: "{}").status == 200)
            #expect(try await stage.ask("POST", "/api/covers", json: shown).text == state)
        }
    }

    @Test func `the same picture has the same address, another has another`() async throws {
        try await withGallery { stage in
            let one = try await picture(stage), other = try await picture(stage, 41)
            let replies = [
                try await send(one, binary, to: stage), try await send(one, binary, to: stage),
                try await send(other, binary, to: stage),
            ]
            #expect(replies.allSatisfy { $0.status == 201 })
            #expect(replies[0].text == replies[1].text && replies[0].text != replies[2].text)
        }
    }

    @Test(arguments: ["", "no picture", "<html><body>404</body></html>", #"{"a": 1}"#])
    func `bytes that are no picture are refused and not stored`(text: String) async throws {
        try await withGallery { stage in
            let reply = try await send(Array(text.utf8), binary, to: stage)
            #expect(reply.status == 422 && reply.text.contains("isn’t a picture"), "\(reply.status) \(reply.text)")
            #expect(try await stage.library.statistics().entries == 0 && files(stage).isEmpty)
        }
    }

    @Test func `a picture above the size limit is refused with the limit`() async throws {
        try await withGallery(library: { $0.maximumSize = 2 << 20 }) { stage in
            let large = try await picture(stage) + [UInt8](repeating: 0, count: 3 << 20)
            let reply = try await send(large, binary, to: stage)
            #expect(reply.status == 413 && reply.text.contains("larger than 2048 KiB"), "\(reply.status) \(reply.text)")
            #expect(files(stage).isEmpty)
        }
    }

    @Test func `a chunked picture above the size limit is refused, too, and one that breaks off is not kept`()
        async throws
    {
        try await withGallery(library: { $0.maximumSize = 2 << 20 }) { stage in
            let head =
                "POST /api/pictures HTTP/1.1\r\nHost: \(stage.host)\r\nContent-Type: application/octet-stream\r\n"
            let wire = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(head + "Transfer-Encoding: chunked\r\n\r\n")
                for _ in 0..<3 { try wire.send("100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n") }
                return wire
            }
            #expect(try await onThread { try wire.reply().status } == 413)
            let picture = try await picture(stage)
            let broken = try await onThread {
                let wire = try Wire(port: stage.port)
                try wire.send(head + "Content-Length: \(picture.count + 1)\r\n\r\n")
                try wire.send(picture)
                return wire
            }
            try await onThread { try broken.endSending() }
            #expect(try await onThread { try broken.drain().body }.isEmpty)
            #expect(files(stage).isEmpty)
        }
    }

    @Test func `a picture that the cache has lost is there again, for pages, calls, exports and prefetches`()
        async throws
    {
        try await withGallery { stage in
            let picture = try await picture(stage)
            let address = try await address(of: picture, on: stage)
            let id = try await stage.ids[1]
            // The first of two addresses is the one that counts.
            _ = try await stage.library.albums.edit(id) { album in
                album.alternateCoverURLs = [stage.origin.coverURL(2)]
                album.coverURL = address
            }
            let album = try #require(try await stage.library.albums.all().first { $0.id == id })
            _ = try await stage.cover(at: stage.origin.coverURL(2))
            func lose() async throws {
                let key = try #require(URL(string: address))
                let lost = try await stage.library.remove(.requests([CoverRequest(url: key)]))
                #expect(lost.entries == 1)
            }
            let digest = String(address.suffix(64))
            try await lose()
            let shown = #"{"page": "page-0000", "view": ["\#(id)"]}"#
            #expect(try await stage.ask("POST", "/api/covers", json: shown).text.contains(digest))
            #expect(try await stage.ask("GET", "/covers/\(digest)").body == picture)
            try await lose()
            #expect(try await stage.library.cover(for: CoverRequest(album: album)).digest == digest)
            try await lose()
            #expect(try await stage.library.coverFiles(of: [album])[0]?.digest.description == digest)
            try await lose()
            let summary = try await stage.library.prefetch([CoverRequest(location: address)]).summary()
            #expect(summary.fresh == 1 && summary.failed == 0)
            // Other bytes of the same length.
            let file = try #require(try await stage.library.coverFile(for: address))
            try Data(repeating: 0, count: picture.count).write(to: URL(filePath: file))
            #expect(try await stage.cover(at: address).digest == digest)
        }
    }

    @Test func `pictures that no album has ever had are removed after a day, unless another library may have them`()
        async throws
    {
        try await withGallery { stage in
            let used = try await address(of: picture(stage), on: stage)
            let unused = try await address(of: picture(stage, 41), on: stage)
            let id = try await stage.ids[1]
            _ = try await stage.library.albums.edit(id) { $0.coverURL = used }
            // The history still names it.
            _ = try await stage.library.albums.delete([id])
            let (now, day) = (WallClock.milliseconds() / 1_000, Int64(86_400))
            await stage.library.albums.removeUnusedPictures(now: now + day - 60)
            #expect(files(stage).count == 2)
            let other = stage.folder + "/other.json.state"
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
            await stage.library.albums.removeUnusedPictures(now: now + day + 60)
            #expect(files(stage).count == 2)
            try FileManager.default.removeItem(atPath: other)
            // That of a library whose state is elsewhere, or lost.
            let foreign = "\(Digest(of: [1])).jpg"
            for name in ["holiday.jpg", foreign] {
                try Data().write(to: URL(filePath: stage.folder + "/pictures/\(name)"))
            }
            await stage.library.albums.removeUnusedPictures(now: now + day + 60)
            #expect(files(stage) == ["\(used.suffix(64)).jpg", "holiday.jpg", foreign].sorted(), "\(unused)")
        }
    }

    @Test func `pages of other sites, and media types that they may send unasked, are refused`() async throws {
        try await withGallery { stage in
            let picture = try await picture(stage)
            let foreign = ["Origin": "http://evil.example"].merging(binary) { $1 }
            #expect(try await send(picture, foreign, to: stage).status == 403)
            for type in ["text/plain", "multipart/form-data", "application/json"] {
                #expect(try await send(picture, ["Content-Type": type], to: stage).status == 415)
            }
            #expect(try await stage.library.statistics().entries == 1, "that of the origin")
            #expect(files(stage).isEmpty)
        }
    }

    @Test func `a picture that is gone is not called a server that cannot be reached`() async throws {
        let address = OwnPictures.address(of: Digest(of: "gone".utf8))
        try await withGallery(albums: { _ in [Album(title: "A", coverURL: address)] }) { stage in
            let id = try await stage.ids[0]
            let page = try await stage.events("page-0000")
            let shown = #"{"page": "page-0000", "view": ["\#(id)"]}"#
            var text = try await stage.ask("POST", "/api/covers", json: shown).text
            if !text.contains("failure") {
                text = try await onThread { try page.receive(until: "choose it again") }
            }
            #expect(text.contains("Your own picture is no longer there"), "\(text)")
            #expect(!text.contains("covers.invalid"), "\(text)")
        }
    }
}
