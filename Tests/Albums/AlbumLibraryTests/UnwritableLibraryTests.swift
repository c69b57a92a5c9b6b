import Foundation
import Testing

@testable import AlbumLibrary

@Suite struct UnwritableLibraryTests {
    @Test func `an album of more than 1 MiB can be read again, and an import refuses it`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            var album = Album(title: "Big")
            let text = "\"" + String(repeating: "x", count: 1_000) + "\""
            for index in 0..<1_100 { album.otherFields.append(JSONMember("k\(index)", json: text)) }
            #expect(throws: AlbumProblem.self) { try album.validated(editing: nil) { _ in nil } }
            try await library.add(album)
            library.close()
            let next = shelf.store()
            #expect(try await next.titles == ["A", "Big"])
            try await next.undo()
            #expect(try await next.titles == ["A"])
            next.close()
        }
    }

    @Test func `a step whose file could not be written is not in the history, and what could be redone still can`()
        async throws
    {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            try await library.add(Album(title: "B"))
            try await library.add(Album(title: "C"))
            try await library.undo()
            let journal = try AlbumJournal(path: shelf.state + "/journal.sqlite3")
            let before = try journal.steps()
            let edit = try await library.all().adding([Album(id: "d", title: "D")], at: 2)
            let message = RemoteMessage(remote: "r", key: "k", path: "/api/addAlbum", body: "{}")
            for step in [AlbumJournal.Step.new(edit), .undo, .redo] {
                let record = try journal.record(step, changing: edit, messages: [message])
                try journal.withdraw(record)
            }
            #expect(try journal.pending() == nil && journal.messageCount(to: "r") == 0)
            let after = try journal.steps()
            #expect(after.undo == before.undo && after.redo == before.redo && after.redo != nil)
            #expect(before.undo?.number == 3, "the number of the latest edit is part of both")
            library.close()
        }
    }

    /// In a process that gives up the rights of the superuser, who may write anywhere.
    @Test func `an edit that was interrupted does not hide a library that can only be read`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setgid(54_321) == 0 && setuid(54_321) == 0) }
            try await withShelf(["A"]) { shelf in
                let library = shelf.store()
                let edit = try await library.all().adding([Album(id: "b", title: "B")], at: 1)
                library.close()
                try AlbumJournal(path: shelf.state + "/journal.sqlite3").record(
                    .new(edit), changing: edit, messages: [])
                chmod(shelf.folder, 0o555)
                defer { chmod(shelf.folder, 0o755) }
                let next = shelf.store()
                #expect(try await next.titles == ["A"])
                await #expect(throws: LibraryError.self) { try await next.add(Album(title: "C")) }
                chmod(shelf.folder, 0o755)
                try await next.add(Album(title: "C"))
                #expect(try await next.titles == ["A", "B", "C"])
                next.close()
            }
        }
    }

    @Test func `a link to a missing file leads to that file`() async throws {
        try await withShelf { shelf in
            let real = shelf.folder + "/real.json"
            try FileManager.default.createSymbolicLink(atPath: shelf.file, withDestinationPath: "real.json")
            let library = shelf.store()
            try await library.add(Album(title: "A"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: shelf.file) == "real.json")
            #expect(FileManager.default.fileExists(atPath: real))
            library.close()
        }
    }

    @Test func `a library remembers its remote until it is removed`() async throws {
        try await withShelf { shelf in
            #expect(RememberedRemote.url(of: shelf.file) == nil)
            try RememberedRemote.set("https://a.example", of: shelf.file)
            #expect(RememberedRemote.url(of: shelf.file) == "https://a.example")
            try RememberedRemote.set(nil, of: shelf.file)
            try RememberedRemote.set(nil, of: shelf.file)
            #expect(RememberedRemote.url(of: shelf.file) == nil)
        }
    }
}
