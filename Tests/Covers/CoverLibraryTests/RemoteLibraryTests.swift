import Foundation
import Synchronization
import Testing
import Wire

@testable import AlbumLibrary
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct RemoteLibraryTests {
    @Test func `adding, editing, deleting, undo and redo are posted in order`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        try await withAlbums(["A"]) { folder in
            let library = try await folder.library { $0.remote = URL(string: remote.url + "/") }
            try await library.albums.add(Album(title: "B"))
            try await library.albums.add(Album(title: "C"), at: 0)
            try await library.albums.delete(library.albums.all()[2].id)
            try await library.albums.undo()
            try await library.albums.undo()
            try await library.albums.redo()
            try await library.albums.edit(try await library.albums.all()[2].id) {
                ($0.title, $0.year) = ("Bee", "2001")
            }
            try await library.albums.undo()
            let outbox = try await library.albums.sendEdits()
            #expect(outbox.sent == 8 && outbox.waiting == 0 && outbox.problem == nil && outbox.refused == [])
            let expected = ["add B", "add C", "delete B", "add B", "delete C", "add C", "edit Bee", "edit B"]
            #expect(remote.edits == expected)
            await library.close()
        }
    }

    @Test func `while the server is away edits wait on the disk, and are sent once when it is back`() async throws {
        let port = try await freePort()
        let url = "http://127.0.0.1:\(port)"
        try await withAlbums([]) { folder in
            let library = try await folder.library { $0.remote = URL(string: url) }
            for title in ["A", "B"] { try await library.albums.add(Album(title: title)) }
            try await library.albums.edit(try await library.albums.all()[0].id) { $0.title = "C" }
            let outbox = try await library.albums.sendEdits()
            #expect(outbox.sent == 0 && outbox.waiting == 3)
            #expect(outbox.problem?.contains(url) == true)
            await library.close()

            let remote = try RemoteLibrary(port: port)
            defer { remote.stop() }
            let next = try await folder.library { $0.remote = URL(string: url) }
            #expect(try await next.albums.waitingEdits() == 3)
            #expect(try await next.albums.sendEdits().sent == 3)
            #expect(try await next.albums.sendEdits().sent == 0)
            #expect(remote.edits == ["add A", "add B", "edit C"])
            await next.close()
        }
    }

    @Test func `many senders at once send everything once, in order`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        try await withAlbums([]) { folder in
            let libraries = Mutex<[LibraryAPI]>([])
            for _ in 0..<4 {
                let library = try await folder.library { $0.remote = URL(string: remote.url) }
                libraries.withLock { $0.append(library) }
            }
            let all = libraries.withLock { $0 }
            for number in 0..<40 { try await all[number % 4].albums.add(Album(title: "\(number)")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for library in all { group.addTask { _ = try await library.albums.sendEdits() } }
                try await group.waitForAll()
            }
            // The last sender may have returned while another was sending.
            _ = try await all[0].albums.sendEdits()
            #expect(remote.edits == (0..<40).map { "add \($0)" })
            for library in all { await library.close() }
        }
    }

    @Test func `the server does not take a message twice whose response was lost`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        try await withAlbums([]) { folder in
            let library = try await folder.library { $0.remote = URL(string: remote.url) }
            try await library.albums.add(Album(title: "A"))
            let journal = try AlbumJournal(path: folder.state + "/journal.sqlite3")
            let waiting = try #require(try journal.firstMessage(to: remote.url + "/"))
            _ = try await library.albums.sendEdits()
            // As if the process had died between the response and recording it.
            let edit = try await library.albums.all().deleting([0])
            try journal.record(.new(edit), changing: edit, messages: [waiting.message])
            try journal.clearPending()
            #expect(try await library.albums.sendEdits().sent == 1)
            #expect(remote.edits == ["add A"])
            await library.close()
        }
    }

    @Test func `a message that the server refuses for good is reported, and later messages are sent`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        for titles in [["A"], ["A", "B"]] {
            try await withAlbums([]) { folder in
                let library = try await folder.library { $0.remote = URL(string: remote.url) }
                // The second library adds an album that the remote has already.
                for title in titles { try await library.albums.add(Album(id: title, title: title)) }
                let outbox = try await library.albums.sendEdits()
                #expect(outbox.sent == 1 && outbox.waiting == 0)
                #expect(outbox.refused.count == titles.count - 1 && outbox.refused.allSatisfy { $0.contains("409") })
                await library.close()
            }
        }
        #expect(remote.edits == ["add A", "add B"])
    }

    @Test func `deleting an album that the remote library lacks succeeds, and the next edit is sent`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        try await withAlbums(["Unknown there"]) { folder in
            let library = try await folder.library { $0.remote = URL(string: remote.url) }
            try await library.albums.delete(library.albums.all()[0].id)
            try await library.albums.add(Album(title: "A"))
            let outbox = try await library.albums.sendEdits()
            #expect(outbox.sent == 2 && outbox.waiting == 0 && outbox.refused.isEmpty)
            #expect(remote.edits == ["add A"])
            await library.close()
        }
    }

    @Test func `an edit is sent with the whole album, and its refusal names it`() async throws {
        let remote = try RemoteLibrary()
        defer { remote.stop() }
        try await withAlbums([]) { folder in
            try folder.write(#"[{"title": "A", "zeta": 1.50}]"#)
            let library = try await folder.library { $0.remote = URL(string: remote.url) }
            try await library.albums.edit(try await library.albums.all()[0].id) { $0.year = "1971" }
            let journal = try AlbumJournal(path: folder.state + "/journal.sqlite3")
            let message = try #require(try journal.firstMessage(to: remote.url + "/")).message
            #expect(message.path == "/api/editAlbum")
            #expect(message.body.contains(#""year": "1971", "zeta": 1.50"#), "\(message.body)")
            #expect(try await library.albums.sendEdits().refused.first?.hasPrefix("editing “A”: ") == true)
            await library.close()
        }
    }

    @Test func `without a remote library no edit waits for one`() async throws {
        try await withAlbums([]) { folder in
            let library = try await folder.library()
            try await library.albums.add(Album(title: "A"))
            #expect(try await library.albums.sendEdits() == OutboxState())
            await library.close()
            let next = try await folder.library { $0.remote = URL(string: "http://127.0.0.1:9") }
            #expect(try await next.albums.waitingEdits() == 0)
            await next.close()
        }
    }

    @Test func `a remote library with an invalid URL is an error when the library opens`() async throws {
        try await withAlbums([]) { folder in
            await #expect(throws: LibraryError.self) { try await folder.library { $0.remote = URL(string: "ftp://a") } }
        }
    }
}

/// A library file in a temporary folder.
private struct AlbumFolder: Sendable {
    let path: String
    private var file: String { path + "/albums.json" }
    var state: String { file + ".state" }

    func library(_ configure: (inout LibraryConfiguration) -> Void = { _ in }) async throws -> LibraryAPI {
        try await LibraryAPI(configuration: Stage.configuration(path, configure))
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
}

/// Runs `body` with a library file of albums, and removes its folder.
private func withAlbums(_ titles: [String], _ body: (AlbumFolder) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("sleeve-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = AlbumFolder(path: path)
    try folder.write("[" + titles.map { "{\"title\": \"\($0)\"}" }.joined(separator: ",") + "]")
    try await body(folder)
}
