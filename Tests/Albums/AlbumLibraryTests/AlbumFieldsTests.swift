import Foundation
import Testing

@testable import AlbumLibrary

/// Changing fields of an album that stays where it is.
@Suite(.timeLimit(.minutes(10))) struct AlbumFieldsTests {
    private let file =
        #"[{"title": "A"}, {"title": "B", "zeta": 1.50, "year": 1999, "coverUrls": ["http://a/2"]}, {"title": "C"}]"#

    private func withThree(_ body: (Shelf) async throws -> Void) async throws {
        try await withShelf { shelf in
            try shelf.write(file)
            try await body(shelf)
        }
    }

    @Test func `an edited album keeps its index, its id and every field that the edit leaves alone`() async throws {
        try await withThree { shelf in
            let library = shelf.store()
            let former = try await library.all()[1]
            let edit = try await library.edit(former.id) { album in
                album.title = "Bee"
                album.coverURL = "http://a/1"
                album.id = "another"
            }
            #expect(edit?.title == "Edit “Bee”" && edit?.message == "Edited “Bee”")
            let album = try await library.all()[1]
            #expect(album.id == former.id && album.title == "Bee" && album.coverURL == "http://a/1")
            #expect(album.year == "1999" && album.otherFields == former.otherFields)
            #expect(try shelf.text.contains("\"zeta\": 1.50"))
            #expect(try await library.titles == ["A", "Bee", "C"])
            library.close()
        }
    }

    @Test func `an edit of nothing but the cover says so`() async throws {
        try await withThree { shelf in
            let library = shelf.store()
            let id = try await library.all()[1].id
            let cover = try await library.edit(id) { $0.coverURL = "http://a/1" }
            #expect(cover?.title == "Change the cover of “B”" && cover?.message == "Edited “B”")
            let more = try await library.edit(id) { ($0.coverURL, $0.genre) = ("http://a/2", "Jazz") }
            #expect(more?.title == "Edit “B”")
            library.close()
        }
    }

    @Test func `undo and redo of an edit work in the next program, one step each`() async throws {
        try await withThree { shelf in
            let library = shelf.store()
            let before = try await library.all()
            try await library.edit(before[1].id) { ($0.title, $0.genre, $0.alternateCoverURLs) = ("Bee", "Folk", []) }
            let after = try await library.all()
            library.close()
            let next = shelf.store()
            #expect(try await next.undo()?.message == "Edited “B”")
            #expect(try await next.all() == before)
            #expect(try await next.undo() == nil)
            next.close()
            let last = shelf.store()
            #expect(try await last.redo() != nil)
            #expect(try await last.all() == after)
            last.close()
        }
    }

    @Test func `undoing an edit leaves fields that were changed since`() async throws {
        try await withThree { shelf in
            let library = shelf.store()
            try await library.edit(try await library.all()[1].id) { $0.year = "2001" }
            try shelf.write(try shelf.text.replacingOccurrences(of: "1.50", with: "2.75"))
            try await library.undo()
            let album = try await library.all()[1]
            #expect(album.year == "1999" && album.otherFields.contains(JSONMember("zeta", json: "2.75")))
            library.close()
        }
    }

    @Test func `two programs that edit different fields of an album simultaneously lose neither`() async throws {
        try await withThree { shelf in
            let (one, other) = (shelf.store(), shelf.store())
            let former = try await one.all()[1]
            try await other.edit(former.id) { $0.genre = "Jazz" }
            var album = former
            album.year = "2002"
            // As if it had been read before the other program's edit.
            try await shelf.store().take(.edit([(former, album)]))
            let edited = try await one.all()[1]
            #expect(edited.genre == "Jazz" && edited.year == "2002")
            one.close()
            other.close()
        }
    }

    @Test func `an edit that changes nothing, or whose album is deleted, is not a step`() async throws {
        try await withThree { shelf in
            let library = shelf.store()
            let id = try await library.all()[0].id
            #expect(try await library.edit(id) { $0.title = "A" } == nil)
            #expect(try await library.edit("no such id") { $0.title = "Z" } == nil)
            #expect(try await library.history().undo == nil)
            library.close()
        }
    }

    @Test func `an edit that a process recorded before it died is made by the next one, and can be undone`()
        async throws
    {
        try await withThree { shelf in
            let library = shelf.store()
            let former = try await library.all()[1]
            library.close()
            var album = former
            album.title = "Bee"
            let edit = AlbumEdit(
                kind: .edit, changes: [.init(album: album, index: 1, precedingID: nil, former: former)])
            let journal = try AlbumJournal(path: shelf.state + "/journal.sqlite3")
            try journal.record(.new(edit), changing: edit, messages: [])
            let next = shelf.store()
            #expect(try await next.titles == ["A", "Bee", "C"])
            try await next.undo()
            #expect(try await next.titles == ["A", "B", "C"])
            next.close()
        }
    }

    @Test func `a step written before albums could be edited is read`() throws {
        let text =
            #"{"kind":"delete","changes":[{"album":"{\"id\":\"x\",\"title\":\"A\"}","index":2,"precedingID":"y"}]}"#
        let edit = try JSONDecoder().decode(AlbumEdit.self, from: Data(text.utf8))
        #expect(edit.title == "Delete “A”" && edit.changes[0].index == 2 && edit.changes[0].former == nil)
    }
}
