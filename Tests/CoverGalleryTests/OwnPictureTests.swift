import Foundation
import OriginServer
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

    @Test func `a picture is stored, pinned, and an album shows it without a server`() async throws {
        try await withGallery { stage in
            let picture = try await picture(stage)
            let reply = try await send(picture, binary, to: stage)
            #expect(reply.status == 201, "\(reply.text)")
            let address = try JSONDecoder().decode(Stored.self, from: Data(reply.body)).coverUrl
            #expect(address.wholeMatch(of: /https:\/\/covers\.invalid\/[0-9a-f]{64}/) != nil)
            #expect(try await stage.library.statistics().pinned == 1)
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
            #expect(try await stage.library.statistics().entries == 0)
        }
    }

    @Test func `a picture above the size limit is refused with the limit`() async throws {
        try await withGallery(library: { $0.maximumSize = 2 << 20 }) { stage in
            let large = try await picture(stage) + [UInt8](repeating: 0, count: 3 << 20)
            let reply = try await send(large, binary, to: stage)
            #expect(reply.status == 413 && reply.text.contains("larger than 2048 KiB"), "\(reply.status) \(reply.text)")
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
        }
    }

    @Test func `a picture that is gone from the cache is not called a server that cannot be reached`() async throws {
        let address = OwnPicture.address(of: Data("gone".utf8))
        try await withGallery(albums: { _ in [Album(title: "A", coverURL: address)] }) { stage in
            let id = try await stage.ids[0]
            let page = try await stage.events("page-0000")
            let shown = #"{"page": "page-0000", "view": ["\#(id)"]}"#
            var text = try await stage.ask("POST", "/api/covers", json: shown).text
            if !text.contains("failure") {
                text = try await onThread { try page.receive(until: "choose it again") }
            }
            #expect(text.contains("Your own picture is no longer in Sleeve’s cache"), "\(text)")
            #expect(!text.contains("covers.invalid"), "\(text)")
        }
    }
}
