import Foundation
import OriginServer
import Testing
import Wire

@testable import CoverGallery
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct AlbumRoutesTests {
    private struct Library: Decodable {
        struct Row: Decodable {
            var id, title: String
            var hasCover: Bool
            var problem, cause, cover, titleKey, artistKey: String?
        }
        var version: String
        var albums: [Row]
        var undo, redo: String?
        var edit: Int?
    }

    private func library(_ stage: GalleryStage) async throws -> Library {
        try JSONDecoder().decode(Library.self, from: Data(try await stage.ask("GET", "/api/library").body))
    }

    @Test func `the library has an entity tag that changes with it; a conditional request is answered 304`()
        async throws
    {
        try await withGallery { stage in
            let first = try await stage.ask("GET", "/api/library")
            let tag = try #require(first.fields["etag"])
            #expect(try await stage.ask("GET", "/api/library", ["If-None-Match": tag]).status == 304)
            try await stage.library.albums.delete(stage.library.albums.all()[0].id)
            #expect(try await stage.ask("GET", "/api/library", ["If-None-Match": tag]).status == 200)
        }
    }

    @Test func `pages get names without their articles to order by`() async throws {
        try await withGallery(albums: { _ in
            [Album(title: "The Tide", artist: "Harbour Lights"), Album(title: "Tide", artist: "The Harbour Lights")]
        }) { stage in
            let albums = try await library(stage).albums
            #expect(albums.map(\.titleKey) == ["Tide", nil] && albums.map(\.artistKey) == [nil, "Harbour Lights"])
        }
    }

    @Test func `adding, deleting, undo and redo change the library file and describe the edit`() async throws {
        try await withGallery { stage in
            let added = try await stage.ask(
                "POST", "/api/albums", json: #"{"album": {"title": " New ", "year": "2001"}, "index": 2}"#)
            #expect(added.status == 201 && added.text.contains("\"index\":2") && added.text.contains("Added “New”"))
            #expect(try await library(stage).albums[2].title == "New")
            #expect(try await library(stage).undo == "Add “New”")
            let id = try await library(stage).albums[0].id
            #expect(try await stage.ask("DELETE", "/api/albums/\(id)").text.contains("Deleted “T0”"))
            #expect(try await stage.ask("DELETE", "/api/albums/\(id)").status == 404)
            let undone = try await stage.ask("POST", "/api/undo", json: "{}")
            #expect(undone.text.contains("\"id\":\"\(id)\""))
            #expect(try await library(stage).redo == "Delete “T0”")
            #expect(try await stage.ask("POST", "/api/redo", json: "{}").status == 200)
            #expect(try await stage.ask("POST", "/api/redo", json: "{}").status == 409)
            #expect(try await stage.library.albums.all().map(\.title) == ["T1", "New", "T2", "T3", "T4", "T5"])
        }
    }

    private struct Answer: Decodable {
        var message: String
        var edit: Int?
    }

    @Test func `an undo that names an edit is answered 409 if something else came after it`() async throws {
        try await withGallery { stage in
            func edit(_ method: String, _ path: String, _ json: String) async throws -> (status: Int, answer: Answer?) {
                let reply = try await stage.ask(method, path, json: json)
                return (reply.status, try? JSONDecoder().decode(Answer.self, from: Data(reply.body)))
            }
            let ids = try await stage.ids
            let deleted = try #require(try await edit("DELETE", "/api/albums/\(ids[0])", "{}").answer?.edit)
            #expect(try await library(stage).edit == deleted)
            // Any program that edits the library.
            try await stage.library.albums.edit(ids[5]) { $0.title = "Other" }
            #expect(try await library(stage).edit == deleted + 1)
            let refused = try await stage.ask("POST", "/api/undo", json: "{\"edit\": \(deleted)}")
            #expect(refused.status == 409 && refused.text.contains("something else was edited since"))
            #expect(try await library(stage).albums.map(\.title) == ["T1", "T2", "T3", "T4", "Other"])
            let undone = try await edit("POST", "/api/undo", "{\"edit\": \(deleted + 1)}")
            #expect(undone.status == 200 && undone.answer?.message == "Undone: Edit “Other”")
            let redone = try await edit("POST", "/api/redo", "{\"edit\": \(deleted + 2)}")
            #expect(redone.status == 200 && redone.answer?.message == "Redone: Edit “Other”")
            #expect(
                try await edit("PATCH", "/api/albums/\(ids[5])", #"{"album": {"title": "Other"}}"#).answer?.edit == nil)
            #expect(try await edit("POST", "/api/undo", #"{"edit": "x"}"#).status == 400)
        }
    }

    @Test func `an edited album keeps its position and its other fields, and undo restores it`() async throws {
        try await withGallery { stage in
            let (id, before) = (try await stage.ids[2], try await library(stage))
            let change = #"{"album": {"title": " Two ", "coverUrl": "http://a.example/2"}}"#
            let edited = try await stage.ask("PATCH", "/api/albums/\(id)", json: change)
            #expect(edited.status == 200 && edited.text.contains("Edited “Two”") && edited.text.contains(id))
            let after = try await library(stage)
            #expect(after.albums.map(\.title) == ["T0", "T1", "Two", "T3", "T4", "T5"])
            #expect(after.undo == "Edit “Two”" && after.albums.map(\.id) == before.albums.map(\.id))
            let others = zip(before.albums, after.albums).filter { $0.cover != $1.cover }
            #expect(others.map(\.0.id) == [id], "only that album has another cover tag")
            let fields = try await stage.ask("GET", "/api/albums/\(id)").text
            #expect(fields.contains(#""title":"Two","artist":"","genre":"","year":"","coverUrl":"http://a.example/2""#))
            let undone = try await stage.ask("POST", "/api/undo", json: "{}")
            #expect(undone.text.contains("\"id\":\"\(id)\""))
            #expect(try await library(stage).albums.map(\.cover) == before.albums.map(\.cover))
        }
    }

    @Test func `an invalid edit says why and changes nothing`() async throws {
        try await withGallery { stage in
            let id = try await stage.ids[0]
            let refused = try await stage.ask("PATCH", "/api/albums/\(id)", json: #"{"album": {"year": "99"}}"#)
            #expect(refused.status == 422 && refused.text.contains("\"field\":\"year\""))
            let same = try await stage.ask("PATCH", "/api/albums/\(id)", json: #"{"album": {"title": "T0"}}"#)
            #expect(same.status == 200 && same.text.contains("Nothing was changed"))
            #expect(try await stage.ask("PATCH", "/api/albums/none", json: #"{"album": {}}"#).status == 404)
            #expect(try await stage.ask("GET", "/api/albums/none").status == 404)
            #expect(try await library(stage).undo == nil)
        }
    }

    @Test(arguments: [
        (#"{"title": ""}"#, "title"), (#"{"title": "A", "year": "99"}"#, "year"),
        (#"{"title": "A", "coverUrl": "ftp://a/b"}"#, "coverUrl"),
        (#"{"title": "A", "coverUrl": "http://u:p@a/"}"#, "coverUrl"),
    ])
    func `an invalid album is refused with the name of the field`(album: String, field: String) async throws {
        try await withGallery { stage in
            let reply = try await stage.ask("POST", "/api/albums", json: "{\"album\": \(album)}")
            #expect(reply.status == 422)
            #expect(reply.text.contains("\"field\":\"\(field)\""), "\(reply.text)")
            #expect(!reply.text.contains("u:p"))
        }
    }

    @Test func `invalid or oversized JSON is a client error`() async throws {
        try await withGallery { stage in
            for body in ["", "[", "{}", "{\"album\": 5}", String(repeating: "x", count: 200_000)] {
                let status = try await stage.ask("POST", "/api/albums", json: body).status
                #expect((400...499).contains(status))
            }
            #expect(try await stage.ask("GET", "/api/state").status == 200)
        }
    }

    @Test func `an album without a usable URL says so, and ids may have any characters`() async throws {
        let albums = [Album(id: "a/b c?é", title: "Odd"), Album(title: "No", coverURL: "ftp://x")]
        try await withGallery(albums: { _ in albums }) { stage in
            let rows = try await library(stage).albums
            #expect(rows.map(\.hasCover) == [false, false])
            #expect(rows[0].problem == "No cover yet." && rows[0].cause == nil)
            #expect(
                rows[1].problem?.hasPrefix("The cover’s address") == true && rows[1].cause?.hasPrefix("ftp:") == true)
            #expect(try await stage.ask("DELETE", "/api/albums/a%2Fb%20c%3F%C3%A9").status == 200)
        }
    }

    @Test func `each browser gets its own memento, resolved against the current library`() async throws {
        try await withGallery { stage in
            let first = try await stage.ask("GET", "/api/state")
            #expect(first.text.hasPrefix(#"{"memento":null,"covers":{},"albums":[{"id":"#))
            let cookie = String((first.fields["set-cookie"] ?? "").prefix { $0 != ";" })
            let ids = try await stage.ids
            let place = "{\"album\": \"\(ids[3])\", \"index\": 3, \"position\": 3.25, \"sort\": \"title\"}"
            #expect(try await stage.ask("PUT", "/api/memento", ["Cookie": cookie], json: place).status == 204)
            try await stage.library.albums.delete(stage.library.albums.all()[0].id)
            let again = try await stage.ask("GET", "/api/state", ["Cookie": cookie])
            #expect(again.text.contains("\"album\":\"\(ids[3])\",\"index\":2,\"position\":2.25,\"sort\":\"title\""))
            #expect(try await stage.ask("GET", "/api/state").text.hasPrefix("{\"memento\":null"))
            #expect(try await stage.ask("PUT", "/api/memento", json: place).status == 400)
        }
    }

    private struct Opening: Decodable {
        var albums: [Library.Row]?
        var count: Int?
    }

    @Test func `a browser that opens on the first albums gets them with its state`() async throws {
        let albums = (0..<200).map { Album(id: "n\($0)", title: "T\($0)", artist: "The A") }
        try await withGallery(albums: { _ in albums }) { stage in
            func opening(_ place: String?) async throws -> Opening {
                let cookie = ["Cookie": "sleeve-client=client-1"]
                if let place {
                    #expect(try await stage.ask("PUT", "/api/memento", cookie, json: place).status == 204)
                }
                let text = try await stage.ask("GET", "/api/state", cookie).text
                return try JSONDecoder().decode(Opening.self, from: Data(text.utf8))
            }
            let first = try await opening(nil)
            #expect(first.albums?.map(\.id) == albums.prefix(first.albums?.count ?? 0).map(\.id) && first.count == 200)
            #expect(first.albums?.first?.artistKey == "A")
            #expect(try await opening(#"{"album": "n3", "index": 3, "view": "wall"}"#).count == 200)
            let others = [
                #"{"view": "wall", "position": 8}"#, #"{"view": "stage"}"#, #"{"view": "wall", "sort": "title"}"#,
                #"{"album": "n150", "index": 150, "view": "wall"}"#,
            ]
            for place in others { #expect(try await opening(place).albums == nil, "\(place)") }
        }
    }

    @Test(arguments: [Int.max, Int.min, -1, 6])
    func `an absurd index in a memento is clamped`(index: Int) async throws {
        try await withGallery { stage in
            let first = try await stage.ask("GET", "/api/state")
            let cookie = String((first.fields["set-cookie"] ?? "").prefix { $0 != ";" })
            let place = "{\"album\": \"none\", \"index\": \(index), \"position\": 1e308, \"sort\": \"library\"}"
            #expect(try await stage.ask("PUT", "/api/memento", ["Cookie": cookie], json: place).status == 204)
            #expect(try await stage.ask("GET", "/", ["Cookie": cookie]).status == 200)
            let state = try await stage.ask("GET", "/api/state", ["Cookie": cookie])
            #expect(state.text.contains("\"index\":\(index > 0 ? 5 : 0)"), "\(state.text)")
        }
    }

    @Test func `an album's cached cover has its source, its type, its length, its date and its pixels`() async throws {
        try await withGallery { stage in
            let id = try await stage.ids[1]
            #expect(try await stage.ask("GET", "/api/sources/\(id)").text == #"{"source":null}"#)
            try await stage.cover(at: stage.origin.coverURL(1))
            let answer = try await stage.ask("GET", "/api/sources/\(id)").text
            #expect(answer.hasPrefix(#"{"source":"127.0.0.1","type":"image/jpeg","bytes":"#), "\(answer)")
            for name in ["fetched", "width", "height"] { #expect(answer.contains("\"\(name)\":")) }
            #expect(try await stage.ask("GET", "/api/sources/none").text == "{}")
            for (url, name) in [
                ("https://covers.invalid/starter/low-tide.jpg", "a starter album’s cover"),
                ("https://covers.invalid/low-tide.jpg", "your own picture"),
            ] {
                let bytes = Data(CoverImage.jpeg(number: 1))
                _ = try await stage.library.store(bytes, for: try #require(URL(string: url)))
                _ = try await stage.library.albums.edit(id) { $0.coverURL = url }
                let answer = try await stage.ask("GET", "/api/sources/\(id)").text
                #expect(answer.hasPrefix(#"{"source":"\#(name)""#), "\(answer)")
            }
        }
    }

    @Test func `every file of the page is embedded, and the service worker stores all it needs`() async throws {
        let folder =
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../../Sources/Web/CGalleryPage/Page"
        let all = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        #expect(PageFiles.contents.map(\.name).sorted() == all)
        // The form for the token is no file of the page.
        let names = all.filter { $0 != PageFiles.tokenPage }
        try await withGallery { stage in
            for name in names {
                let reply = try await stage.ask("GET", "/\(name)")
                #expect(reply.status == 200)
                let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
                let isCode = [".css", ".js"].contains { name.hasSuffix($0) }
                // The server writes the version into two, the paths of all into the worker, and the modules into two.
                let made = ["service-worker.js", "index.html", "app.js", "tools.js"]
                let isWhole =
                    reply.body == (isCode ? PageFiles.withoutComments(bytes) : bytes) || made.contains(name)
                #expect(isWhole, "\(name)")
                let tag = reply.fields["etag"] ?? ""
                #expect(try await stage.ask("GET", "/\(name)", ["If-None-Match": tag]).status == 304)
            }
            let worker = try await stage.ask("GET", "/service-worker.js").text
            #expect(!worker.contains("\"VERSION\"") && !worker.contains("\"PATHS\""))
            let ownFiles = names.filter { ![".css", ".js", ".html"].contains(where: $0.hasSuffix) }
            for name in ownFiles + ["style.css", "app.js", "tools.js"] {
                let isStored = worker.contains("\"\(name)\"") || worker.contains("/\(name)\"")
                #expect(isStored, "without the server \(name) would be missing")
            }
            #expect(try await stage.ask("GET", "/../Package.swift").status == 404)
            #expect(try await stage.ask("GET", "/").fields["content-type"] == "text/html; charset=utf-8")
        }
    }
}
