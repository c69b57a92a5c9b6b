import Foundation
import Logging
import Synchronization
import Testing
import Wire

@testable import AlbumLibrary

/// Edits of a library file that other programs write at the same time, and the steps that a run's edits are.
@Suite(.timeLimit(.minutes(10))) struct SharedFileTests {
    @Test func `what an editor saves while an edit is written is kept`() async throws {
        try await withShelf((0..<2_000).map { "Album \($0)" }) { shelf in
            let store = shelf.store()
            try await store.save()
            let mine = "[{\"title\": \"By hand\"}]"
            // The editor saves when the edit's new file is there, which has not yet the library's name.
            let isSaved = Mutex(false)
            let edited = Thread {
                while true {
                    let names = (try? FileManager.default.contentsOfDirectory(atPath: shelf.folder)) ?? []
                    if names.contains(where: { !$0.hasPrefix("albums.json") }) { break }
                }
                try? shelf.write(mine)
                isSaved.withLock { $0 = true }
            }
            edited.start()
            while !isSaved.withLock({ $0 }) { _ = try await store.add(Album(title: "New")) }
            #expect(try await store.add(Album(title: "Last")).title == "Last")
            let titles = try await store.titles
            #expect(titles.first == "By hand" && titles.last == "Last" && titles.count < 2_000, "\(titles.prefix(3))")
            #expect(titles.dropFirst().allSatisfy { $0 == "New" || $0 == "Last" })
            store.close()
        }
    }

    @Test func `an edit waits for a file that an editor is still saving`() async throws {
        try await withShelf(["A"]) { shelf in
            let store = shelf.store(savingTimeout: .infinity)
            try await store.take(.add([Album(title: "B")], at: nil, skipsKnown: false))
            try shelf.write("[{\"title\": \"Sav")
            // The rest comes while the edit waits, which it does with the lock held.
            async let edited = store.take(.add([Album(title: "C")], at: nil, skipsKnown: false))
            let lock = open(shelf.state + "/lock", O_RDWR)
            defer { close(lock) }
            try await eventually {
                let isTaken = flock(lock, LOCK_EX | LOCK_NB) != 0
                flock(lock, LOCK_UN)
                return isTaken
            }
            try shelf.write("[{\"title\": \"Saved\"}]")
            _ = try await edited
            #expect(try await store.current().albums.map(\.title) == ["Saved", "C"])
        }
    }

    @Test func `while an editor is saving the file, the albums read before it are returned, and nothing is moved`()
        async throws
    {
        try await withShelf(["A"]) { shelf in
            let store = shelf.store(savingTimeout: .infinity)
            #expect(try await store.titles == ["A"])
            for half in ["", "[{\"title\": \"Sav"] {
                try shelf.write(half)
                #expect(try await store.titles == ["A"])
                #expect(try shelf.text == half)
            }
            try shelf.write("[{\"title\": \"Saved\"}]")
            #expect(try await store.titles == ["Saved"])
            store.close()
        }
    }

    @Test func `an edit gives up on a file that is never the same, and takes its step back`() async throws {
        try await withShelf(["A"]) { shelf in
            let store = shelf.store()
            var number = 0
            try await store.save()
            let file = LibraryFile(path: shelf.file, logger: Logger(label: "test"), savingTimeout: 0)
            #expect(throws: LibraryError.self) {
                try file.retrying {
                    let revision = file.revision
                    number += 1
                    try shelf.write("[{\"title\": \"\(number)\"}]")
                    try file.write([], try file.openState(), ifStill: revision)
                }
            }
            #expect(try await store.titles == ["20"])
            store.close()
        }
    }

    @Test func `the edits of a run are one step, which leaves what others have edited in between`() async throws {
        try await withShelf(["A", "B"]) { shelf in
            let library = shelf.store()
            func edit(_ index: Int, run: String?, _ change: (inout Album) -> Void) async throws {
                let former = try await library.all()[index]
                var album = former
                change(&album)
                try await library.edit([(former, album)], run: run)
            }
            try await edit(0, run: "fill 1") { $0.coverURL = "https://a/1" }
            let text = try shelf.text
            try shelf.write(text.replacing("\"title\": \"A\"", with: "\"title\": \"By hand\""))
            try await edit(0, run: "fill 1") { $0.year = "1971" }
            try await edit(1, run: "fill 1") { $0.coverURL = "https://a/2" }
            #expect(try await library.undo()?.changes.count == 2)
            var albums = try await library.all()
            #expect(
                albums.map(\.title) == ["By hand", "B"] && albums.allSatisfy { $0.coverURL == nil && $0.year.isEmpty })
            #expect(try await library.history().undo == nil)
            try await library.redo()
            // A step in between ends it, and so does another run.
            try await edit(0, run: nil) { $0.genre = "Folk" }
            try await edit(0, run: "fill 1") { $0.year = "1972" }
            try await edit(0, run: "fill 2") { $0.year = "1973" }
            var years: [String] = []
            while try await library.undo() != nil {
                albums = try await library.all()
                years.append(albums[0].year + albums[0].genre)
            }
            #expect(years == ["1972Folk", "1971Folk", "1971", ""])
            // A step that was taken back takes no more, nor does the one before it.
            try await edit(0, run: nil) { $0.genre = "Folk" }
            try await edit(0, run: "fill 3") { $0.year = "1974" }
            try await library.undo()
            try await edit(0, run: "fill 3") { $0.year = "1975" }
            try await library.undo()
            albums = try await library.all()
            #expect(albums[0].genre == "Folk" && albums[0].year.isEmpty)
            library.close()
        }
    }
}
