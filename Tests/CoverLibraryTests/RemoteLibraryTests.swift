import Foundation
import OriginServer
import Synchronization
import Testing

@testable import AlbumLibrary
@testable import CoverLibrary

@Suite(.timeLimit(.minutes(10))) struct RemoteLibraryTests {
    @Test("adding, editing, deleting, undo and redo are posted in order")
    func order() async throws {
        let origin = try await Origin.start()
        try await withShelf(["A"]) { shelf in
            let library = try await shelf.library { $0.remote = origin.url + "/" }
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
            #expect(origin.postedEdits == expected)
            await library.close()
        }
        await origin.stop()
    }

    @Test("while the server is away edits wait on the disk, and are sent once when it is back")
    func away() async throws {
        let first = try await Origin.start()
        let (port, url) = (first.port, first.url)
        await first.stop()
        try await withShelf([]) { shelf in
            let library = try await shelf.library { $0.remote = url }
            for title in ["A", "B"] { try await library.albums.add(Album(title: title)) }
            try await library.albums.edit(try await library.albums.all()[0].id) { $0.title = "C" }
            let outbox = try await library.albums.sendEdits()
            #expect(outbox.sent == 0 && outbox.waiting == 3)
            #expect(outbox.problem?.contains(url) == true)
            await library.close()

            var options = OriginOptions()
            options.port = port
            let origin = try await Origin.start(options)
            let next = try await shelf.library { $0.remote = url }
            #expect(try await next.albums.waitingEdits() == 3)
            #expect(try await next.albums.sendEdits().sent == 3)
            #expect(try await next.albums.sendEdits().sent == 0)
            #expect(origin.postedEdits == ["add A", "add B", "edit C"])
            await next.close()
            await origin.stop()
        }
    }

    @Test("many senders at once send everything once, in order")
    func senders() async throws {
        let origin = try await Origin.start()
        try await withShelf([]) { shelf in
            let libraries = Mutex<[LibraryAPI]>([])
            for _ in 0..<4 {
                let library = try await shelf.library { $0.remote = origin.url }
                libraries.withLock { $0.append(library) }
            }
            let all = libraries.withLock { $0 }
            for number in 0..<40 { try await all[number % 4].albums.add(Album(title: "\(number)")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for library in all { group.addTask { _ = try await library.albums.sendEdits() } }
                try await group.waitForAll()
            }
            // One that came last may have left while another was sending.
            _ = try await all[0].albums.sendEdits()
            #expect(origin.postedEdits == (0..<40).map { "add \($0)" })
            for library in all { await library.close() }
        }
        await origin.stop()
    }

    @Test("a message that was taken, but whose answer was lost, is not taken again")
    func lostAnswer() async throws {
        let origin = try await Origin.start()
        try await withShelf([]) { shelf in
            let library = try await shelf.library { $0.remote = origin.url }
            try await library.albums.add(Album(title: "A"))
            let journal = try AlbumJournal(path: shelf.state + "/journal.sqlite3")
            let waiting = try #require(try journal.firstMessage(to: origin.url + "/"))
            _ = try await library.albums.sendEdits()
            // As if the process had died between the answer and noting it.
            let edit = try await library.albums.all().deleting([0])
            try journal.record(.new(edit), changing: edit, messages: [waiting.message])
            try journal.settle()
            #expect(try await library.albums.sendEdits().sent == 1)
            #expect(origin.postedEdits == ["add A"])
            await library.close()
        }
        await origin.stop()
    }

    @Test("a message the server refuses for good is told and stands in nobody's way")
    func refused() async throws {
        let origin = try await Origin.start()
        for titles in [["A"], ["A", "B"]] {
            try await withShelf([]) { shelf in
                let library = try await shelf.library { $0.remote = origin.url }
                // The second library adds an album that the remote has already.
                for title in titles { try await library.albums.add(Album(id: title, title: title)) }
                let outbox = try await library.albums.sendEdits()
                #expect(outbox.sent == 1 && outbox.waiting == 0)
                #expect(outbox.refused.count == titles.count - 1 && outbox.refused.allSatisfy { $0.contains("409") })
                await library.close()
            }
        }
        #expect(origin.postedEdits == ["add A", "add B"])
        await origin.stop()
    }

    @Test("deleting an album that the remote library does not have is done, and does not hold up the next edit")
    func unknownThere() async throws {
        let origin = try await Origin.start()
        try await withShelf(["Unknown there"]) { shelf in
            let library = try await shelf.library { $0.remote = origin.url }
            try await library.albums.delete(library.albums.all()[0].id)
            try await library.albums.add(Album(title: "A"))
            let outbox = try await library.albums.sendEdits()
            #expect(outbox.sent == 2 && outbox.waiting == 0 && outbox.refused.isEmpty)
            #expect(origin.postedEdits == ["add A"])
            await library.close()
        }
        await origin.stop()
    }

    @Test("an edit is told with the whole album, and its refusal names it")
    func editMessage() async throws {
        let origin = try await Origin.start()
        try await withShelf([]) { shelf in
            try shelf.write(#"[{"title": "A", "zeta": 1.50}]"#)
            let library = try await shelf.library { $0.remote = origin.url }
            try await library.albums.edit(try await library.albums.all()[0].id) { $0.year = "1971" }
            let journal = try AlbumJournal(path: shelf.state + "/journal.sqlite3")
            let message = try #require(try journal.firstMessage(to: origin.url + "/")).message
            #expect(message.path == "/api/editAlbum")
            #expect(message.body.contains(#""year": "1971", "zeta": 1.50"#), "\(message.body)")
            #expect(try await library.albums.sendEdits().refused.first?.hasPrefix("editing “A”: ") == true)
            await library.close()
        }
        await origin.stop()
    }

    @Test("without a remote library nothing is kept for one")
    func none() async throws {
        try await withShelf([]) { shelf in
            let library = try await shelf.library()
            try await library.albums.add(Album(title: "A"))
            #expect(try await library.albums.sendEdits() == OutboxState())
            await library.close()
            let next = try await shelf.library { $0.remote = "http://127.0.0.1:9" }
            #expect(try await next.albums.waitingEdits() == 0)
            await next.close()
        }
    }

    @Test("a remote library whose URL is none is an error at once")
    func badURL() async throws {
        try await withShelf([]) { shelf in
            await #expect(throws: LibraryError.self) { try await shelf.library { $0.remote = "ftp://a" } }
        }
    }
}
