import Foundation
import OriginServer
import Platform
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

/// Cover files that people have beside their music.
@Suite(.timeLimit(.minutes(10))) struct CoverFileTests {
    /// A gallery of one album without an address, whose file is not there yet.
    private func withAlbum(_ body: (GalleryStage, _ path: String, _ picture: [UInt8]) async throws -> Void) async throws
    {
        let folder = FileManager.default.temporaryDirectory.path + "/sleeve-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/50% cover.jpg"
        try await withGallery(albums: { _ in
            var album = Album(title: "A")
            album.coverFilePath = Array(path.utf8)
            return [album]
        }) { stage in
            // Other bytes than those that are cached now.
            let cover = try await stage.cover(at: stage.origin.coverURL(0) + "?size=120000")
            try await body(stage, path, Array(cover.data) + Array("own".utf8))
        }
    }

    @Test func `a file that a fill has written is shown where an album has no address, or a dead one`() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/sleeve-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withGallery(
            library: {
                $0.writtenCovers = { ids in
                    Dictionary(
                        uniqueKeysWithValues: ids.intersection(["dead", "none", "gone"]).map {
                            ($0, Array("\(folder)/\($0).jpg".utf8))
                        })
                }
            },
            albums: { origin in
                [
                    Album(id: "dead", title: "A", coverURL: origin.coverURL(0) + "?status=404"),
                    Album(id: "none", title: "B"),
                    Album(id: "gone", title: "C"), Album(id: "live", title: "D", coverURL: origin.coverURL(1)),
                ]
            }
        ) { stage in
            let picture = try await stage.cover(at: stage.origin.coverURL(2)).data
            for id in ["dead", "none"] { try write(Array(picture), to: "\(folder)/\(id).jpg") }
            let digest = Digest(of: picture).description
            let events = try await stage.events("page-0000")
            let shown = try await stage.ask(
                "POST", "/api/covers", json: #"{"page": "page-0000", "view": ["dead", "none", "gone"]}"#
            ).text
            #expect(
                shown.contains(#""none":{"digest":"\#(digest)"}"#) && shown.contains(#""dead":{"waiting":true}"#),
                "\(shown)")
            #expect(shown.contains("No cover yet"), "its file is gone")
            let told = try await onThread { try events.receive(until: #""id":"dead""#) }
            #expect(told.contains(#"event: cover"#) && told.contains(digest), "\(told)")
            #expect(try await stage.ask("GET", "/covers/\(digest)").status == 200)
            #expect(try await stage.ask("GET", "/api/sources/none").text.contains("a file beside the music"))
            let uncovered = try await stage.ask("GET", "/api/filters/uncovered").text
            #expect(
                uncovered.contains("gone") && !uncovered.contains("none") && !uncovered.contains("dead"), "\(uncovered)"
            )
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

    private func state(_ stage: GalleryStage) async throws -> String {
        let id = try await stage.ids[0]
        let shown = try await stage.ask("POST", "/api/covers", json: #"{"page": "page-0000", "view": ["\#(id)"]}"#)
        return shown.text.replacing(id, with: "ID")
    }

    @Test func `a page shows the file as it is now, in sizes, too, and the cache has nothing of it`() async throws {
        try await withAlbum { stage, path, picture in
            try write(picture, to: path)
            let digest = Digest(of: picture).description
            #expect(try await state(stage) == #"{"covers":{"ID":{"digest":"\#(digest)"}}}"#)
            #expect(try await stage.ask("GET", "/api/library").text.contains(#""hasCover":true"#))
            let reply = try await stage.ask("GET", "/covers/\(digest)")
            #expect(reply.status == 200 && reply.body == picture && reply.fields["etag"] == "\"\(digest)\"")
            let again = try await stage.ask("GET", "/covers/\(digest)", ["If-None-Match": "\"\(digest)\""])
            #expect(again.status == 304)
            let small = try await stage.ask("GET", "/covers/\(digest)?w=150")
            #expect(small.status == 200 && small.body.count < picture.count)
            #expect(small.fields["etag"] == "\"\(digest)-150\"")
            #expect(try await stage.library.statistics().entries == 1, "the origin's")
            // Another file of that name.
            let other = picture + Array("more".utf8)
            try write(other, to: path)
            let next = Digest(of: other).description
            #expect(try await stage.ask("GET", "/covers/\(digest)").status == 404)
            #expect(try await state(stage) == #"{"covers":{"ID":{"digest":"\#(next)"}}}"#)
            #expect(try await stage.ask("GET", "/covers/\(next)").body == other)
            for filter in ["uncovered", "failed"] {
                #expect(try await stage.ask("GET", "/api/filters/\(filter)").text == #"{"albums":{}}"#)
            }
        }
    }

    @Test(arguments: ["nothing", "text", "FIFO", "link", "folder", "large"])
    func `what is no picture in a file of its own is no cover`(kind: String) async throws {
        try await withAlbum { stage, path, picture in
            switch kind {
            case "text": try write(Array("secret".utf8), to: path)
            case "FIFO": #expect(mkfifo(path, 0o600) == 0)
            case "link":
                try write(picture, to: path + ".other")
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path + ".other")
            case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            case "large":
                try write(picture, to: path)
                #expect(truncate(path, 65 << 20) == 0)
            default: break
            }
            let state = try await state(stage)
            #expect(state.contains("No cover yet"), "\(state)")
            for digest in [Digest(of: picture), Digest(of: "secret".utf8)] {
                #expect(try await stage.ask("GET", "/covers/\(digest)").status == 404)
            }
        }
    }

    @Test func `an address that a person gives to the album is what a page shows from then on`() async throws {
        try await withAlbum { stage, path, picture in
            try write(picture, to: path)
            _ = try await state(stage)
            let id = try await stage.ids[0]
            let url = stage.origin.coverURL(0) + "?size=120000"
            let change = #"{"album": {"coverUrl": "\#(url)"}}"#
            #expect(try await stage.ask("PATCH", "/api/albums/\(id)", json: change).status == 200)
            #expect(try await stage.library.albums.all()[0].coverFile == nil)
            let digest = Digest(of: picture.dropLast(3)).description
            #expect(try await state(stage) == #"{"covers":{"ID":{"digest":"\#(digest)"}}}"#)
            #expect(try await stage.ask("POST", "/api/undo", json: "{}").status == 200)
            #expect(try await stage.library.albums.all()[0].coverFilePath == Array(path.utf8))
        }
    }

    @Test func `a page cannot name a file`() async throws {
        try await withAlbum { stage, path, _ in
            let id = try await stage.ids[0]
            let change = ##"{"album": {"title": "B", "coverFile": "/etc/hostname", "cover_file": "/etc/passwd"}}"##
            #expect(try await stage.ask("PATCH", "/api/albums/\(id)", json: change).status == 200)
            #expect(try await stage.ask("POST", "/api/albums", json: change).status == 201)
            #expect(try await stage.library.albums.all().map(\.coverFilePath) == [Array(path.utf8), nil])
        }
    }
}
