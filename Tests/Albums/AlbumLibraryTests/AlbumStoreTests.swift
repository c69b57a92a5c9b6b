import Foundation
import Synchronization
import Testing

@testable import AlbumLibrary

@Suite(.timeLimit(.minutes(10))) struct AlbumStoreTests {
    @Test func `a library that was never written is empty, reading it creates nothing, and an edit begins it`()
        async throws
    {
        try await withShelf { shelf in
            let library = shelf.store()
            #expect(try await library.all().isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: shelf.folder) == [])
            try await library.add(Album(title: "Mine"))
            #expect(try await library.titles == ["Mine"])
            #expect(try await library.undo() != nil)
            #expect(try await library.titles == [] && shelf.text == "[\n]\n")
            library.close()
        }
    }

    @Test func `without a library file every call throws, and nothing is created`() async throws {
        try await withShelf { shelf in
            let library = shelf.store("")
            await #expect(throws: LibraryError.self) { try await library.all() }
            await #expect(throws: LibraryError.self) { try await library.add(Album(title: "A")) }
            #expect(!FileManager.default.fileExists(atPath: ".state"))
            library.close()
            await #expect(throws: LibraryError.closed) { try await library.undo() }
        }
    }

    @Test func `an edit is in the file when the call returns, and in the next program`() async throws {
        try await withShelf(["A", "B", "C"]) { shelf in
            let library = shelf.store()
            let added = try await library.add(Album(title: "New"), at: 1)
            #expect(try shelf.text.contains("\"New\""))
            #expect(try await library.titles == ["A", "New", "B", "C"])
            #expect(try await library.delete(at: 0)?.title == "A")
            #expect(try await library.delete(at: 17) == nil)
            library.close()
            let next = shelf.store()
            #expect(try await next.titles == ["New", "B", "C"])
            #expect(try await next.all().first == added)
            next.close()
        }
    }

    @Test func `undo and redo walk the whole history, also in the next program, and restore the same albums`()
        async throws
    {
        try await withShelf(["A", "B", "C"]) { shelf in
            let library = shelf.store()
            for number in 0..<50 { try await library.add(Album(title: "N\(number)"), at: number % 3) }
            try await library.delete([try await library.all()[5].id, try await library.all()[9].id])
            let after = try await library.all()
            library.close()
            let next = shelf.store()
            for _ in 0..<51 { #expect(try await next.undo() != nil) }
            #expect(try await next.undo() == nil)
            #expect(try await next.titles == ["A", "B", "C"])
            #expect(try await next.history().redo?.title == "Add “N0”")
            while try await next.redo() != nil {}
            #expect(try await next.all() == after)
            next.close()
        }
    }

    @Test func `a new step discards the steps that could be redone`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            try await library.add(Album(title: "B"))
            try await library.undo()
            try await library.add(Album(title: "C"))
            #expect(try await library.redo() == nil)
            #expect(try await library.titles == ["A", "C"])
            library.close()
        }
    }

    @Test func `an undo or a redo for an edit after which another one came is refused, and changes nothing`()
        async throws
    {
        try await withShelf(["A", "B", "C"]) { shelf in
            let (library, other) = (shelf.store(), shelf.store())
            let deleted = try #require(try await library.delete([library.all()[0].id])).number
            let added = try #require(try await other.insert(Album(title: "D"), at: nil)).number
            await #expect(throws: LibraryError.editedSince) { try await library.undo(deleted) }
            #expect(try await other.undo(added)?.number == added + 1)
            // The other program's undo came after the deletion, too.
            await #expect(throws: LibraryError.editedSince) { try await library.undo(deleted) }
            await #expect(throws: LibraryError.editedSince) { try await library.redo(deleted) }
            #expect(try await library.titles == ["B", "C"])
            #expect(try await library.history().redo?.number == added + 1)
            #expect(try await library.redo(added + 1) != nil)
            #expect(try await library.undo() != nil)
            #expect(try await library.undo(added + 3) != nil)
            // A new edit has the number of a step that was undone.
            let again = try #require(try await library.insert(Album(title: "E"), at: nil)).number
            await #expect(throws: LibraryError.editedSince) { try await other.undo(deleted) }
            #expect(try await other.undo(again) != nil)
            #expect(try await library.titles == ["A", "B", "C"])
            library.close()
            other.close()
        }
    }

    @Test func `each edit of a fill has another number, though all are one step`() async throws {
        try await withShelf(["A", "B"]) { shelf in
            let library = shelf.store()
            var numbers: [Int] = []
            for former in try await library.all() {
                var album = former
                album.year = "1971"
                numbers.append(try #require(try await library.edit([(former, album)], run: "fill 1")).number)
            }
            await #expect(throws: LibraryError.editedSince) { try await library.undo(numbers[0]) }
            #expect(try await library.undo(numbers[1])?.changes.count == 2)
            library.close()
        }
    }

    @Test func `unknown fields are kept byte for byte and in order, through edits, undo and redo`() async throws {
        try await withShelf { shelf in
            try shelf.write(
                """
                [{"title": "A", "zeta": 1.50, "alpha": {"b":[1e400,  null,
                    true], "a": "ü\\n\\u00fc\\/"}, "year": 1999}, {"title": "B"}]
                """)
            let kept = """
                    "zeta": 1.50,
                    "alpha": {"b":[1e400,  null,
                    true], "a": "ü\\n\\u00fc\\/"}
                """
            let library = shelf.store()
            try await library.add(Album(title: "C"))
            #expect(try shelf.text.contains(kept))
            try await library.delete(at: 0)
            #expect(try !shelf.text.contains("zeta"))
            try await library.undo()
            #expect(try shelf.text.contains(kept))
            #expect(try await !library.all()[0].json.contains("\n"))
            library.close()
        }
    }

    @Test func `an id stays the same when others come and go, and is written down by the first edit`() async throws {
        try await withShelf(["A", "A", "B"]) { shelf in
            let library = shelf.store()
            let ids = try await library.all().map(\.id)
            #expect(Set(ids).count == 3)
            try await library.add(Album(title: "A"), at: 0)
            #expect(try await library.all().dropFirst().map(\.id) == ids)
            #expect(try await Set(library.all().map(\.id)).count == 4)
            for id in ids { #expect(try shelf.text.contains("\"id\": \"\(id)\"")) }
            library.close()
        }
    }

    @Test(arguments: ["", "[{\"title\": ", "[{\"title\": 5}]"])
    func `a damaged file is set aside and the last good one used`(text: String) async throws {
        try await withShelf(["A", "B"]) { shelf in
            let library = shelf.store(savingTimeout: 0)
            try await library.add(Album(title: "C"))
            try shelf.write(text)
            #expect(try await library.titles == ["A", "B", "C"])
            let aside = try FileManager.default.contentsOfDirectory(atPath: shelf.state).filter {
                $0.hasPrefix("damaged")
            }
            #expect(aside.count == 1)
            #expect(try String(contentsOfFile: shelf.state + "/" + (aside.first ?? ""), encoding: .utf8) == text)
            #expect(try await library.undo() != nil)
            #expect(try await library.titles == ["A", "B"])
            library.close()
        }
    }

    @Test func `a damaged file without a last good copy is left alone, and the error has line and column`() async throws
    {
        try await withShelf { shelf in
            try shelf.write("[\n{\"title\": \"A\"},\n{\"title\" \"B\"}]")
            let library = shelf.store()
            let error = await #expect(throws: LibraryError.self) { try await library.all() }
            #expect(error?.message.contains("albums.json:3:") == true)
            #expect(try shelf.text.contains("\"B\""))
            library.close()
        }
    }

    @Test func `an edit keeps what a text editor has written into the file since it was read`() async throws {
        try await withShelf(["A", "B"]) { shelf in
            let changes = Mutex(0)
            let library = shelf.store { changes.withLock { $0 += 1 } }
            #expect(try await library.titles == ["A", "B"])
            #expect(changes.withLock { $0 } == 0)
            try shelf.write(#"[{"title": "B"}, {"title": "By hand"}]"#)
            try await library.add(Album(title: "C"))
            #expect(try await library.titles == ["B", "By hand", "C"])
            #expect(changes.withLock { $0 } > 0, "observers must be notified")
            library.close()
        }
    }

    @Test func `a step that was recorded by a process that died is in the library of the next one`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            let edit = try await library.all().adding([Album(id: "new", title: "B")], at: 1)
            library.close()
            // As `edit` does before it replaces the file.
            let journal = try AlbumJournal(path: shelf.state + "/journal.sqlite3")
            try journal.record(.new(edit), changing: edit, messages: [])
            let next = shelf.store()
            #expect(try await next.titles == ["A", "B"])
            #expect(try journal.pending() == nil)
            #expect(try await next.undo() != nil)
            #expect(try await next.titles == ["A"])
            next.close()
        }
    }

    @Test func `a damaged history is moved aside; the albums stay and can be edited`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            try await library.add(Album(title: "B"))
            library.close()
            try Data(repeating: 0x55, count: 9_000).write(to: URL(fileURLWithPath: shelf.state + "/journal.sqlite3"))
            let next = shelf.store()
            #expect(try await next.titles == ["A", "B"])
            try await next.add(Album(title: "C"))
            #expect(try await next.history().undo?.title == "Add “C”")
            next.close()
        }
    }

    @Test func `a library in a read-only directory can be read; an edit fails with the reason`() async throws {
        // Root may write everywhere, so the state's folder is made impossible by a file of its name.
        try await withShelf(["A"]) { shelf in
            try Data().write(to: URL(fileURLWithPath: shelf.state))
            let library = shelf.store()
            #expect(try await library.titles == ["A"])
            let error = await #expect(throws: LibraryError.self) { try await library.add(Album(title: "B")) }
            #expect(error?.message.contains(shelf.state) == true)
            #expect(try await library.titles == ["A"])
            library.close()
        }
    }

    @Test func `a link to a library file stays a link, and its permissions stay`() async throws {
        try await withShelf { shelf in
            let real = shelf.folder + "/real.json"
            try Data("[]".utf8).write(to: URL(fileURLWithPath: real))
            #expect(chmod(real, 0o640) == 0)
            try FileManager.default.createSymbolicLink(atPath: shelf.file, withDestinationPath: real)
            let library = shelf.store()
            try await library.add(Album(title: "A"))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: shelf.file) == real)
            #expect(try FileManager.default.attributesOfItem(atPath: real)[.posixPermissions] as? Int == 0o640)
            library.close()
        }
    }

    @Test func `a library reached by a link and by its own path has one lock and one history`() async throws {
        try await withShelf(["A"]) { shelf in
            try FileManager.default.createSymbolicLink(
                atPath: shelf.folder + "/link.json", withDestinationPath: shelf.file)
            let library = shelf.store()
            let other = shelf.store(shelf.folder + "/link.json")
            try await library.add(Album(title: "B"))
            #expect(try await other.undo()?.changes.first?.album.title == "B")
            #expect(!FileManager.default.fileExists(atPath: shelf.folder + "/link.json.state"))
            library.close()
            other.close()
        }
    }

    @Test func `undoing a step whose album is already deleted changes nothing and says so`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            try await library.add(Album(title: "B"))
            try shelf.write("[{\"title\": \"By hand\"}]")
            let undone = try await library.undo()
            #expect(undone?.changes == [] && undone?.message(.undo) == "Nothing changed: it was deleted already")
            #expect(try await library.titles == ["By hand"])
            #expect(try await library.undo() == nil)
            library.close()
        }
    }

    @Test func `ten libraries that edit one file at the same time lose no edit and no step of the history`()
        async throws
    {
        try await withShelf([]) { shelf in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<10 {
                    group.addTask {
                        let library = shelf.store()
                        for number in 0..<12 { try await library.add(Album(title: "\(writer)-\(number)")) }
                        library.close()
                    }
                }
                try await group.waitForAll()
            }
            let library = shelf.store()
            let titles = try await library.titles
            #expect(titles.count == 120)
            #expect(Set(titles).count == 120)
            for _ in 0..<120 { try await library.undo() }
            #expect(try await library.titles == [])
            library.close()
        }
    }

    @Test func `undo and redo keep fields that were edited by hand`() async throws {
        try await withShelf(["A"]) { shelf in
            let library = shelf.store()
            try await library.add(Album(title: "N", artist: "typo"))
            try shelf.write(
                shelf.text.replacing("typo", with: "Corrected").replacing("\"N\"", with: "\"N\", \"rating\": 5"))
            try await library.undo()
            #expect(try await library.titles == ["A"])
            try await library.redo()
            #expect(try shelf.text.contains("Corrected") && shelf.text.contains("\"rating\": 5"))

            try await library.delete(at: 1)
            try await library.undo()
            try shelf.write(shelf.text.replacing("Corrected", with: "Again"))
            try await library.redo()
            try await library.undo()
            #expect(try shelf.text.contains("Again"))
            library.close()
        }
    }

    @Test(arguments: ["/dev/null", "/tmp"])
    func `a device or a directory is refused as a library file`(path: String) async throws {
        try await withShelf([]) { shelf in
            let library = shelf.store(path)
            await #expect(throws: LibraryError.self) { try await library.all() }
            #expect(!FileManager.default.fileExists(atPath: path + ".state"))
            library.close()
        }
    }

    @Test func `temporary files of a killed process are removed when the library is next used`() async throws {
        try await withShelf(["A"]) { shelf in
            try FileManager.default.createDirectory(atPath: shelf.state, withIntermediateDirectories: true)
            let litter = [shelf.state, shelf.folder].map { $0 + "/.sleeve-999999999-1.part" }
            for path in litter { try Data().write(to: URL(fileURLWithPath: path)) }
            let library = shelf.store()
            try await library.add(Album(title: "B"))
            for path in litter { #expect(!FileManager.default.fileExists(atPath: path)) }
            library.close()
        }
    }

    @Test func `an import skips albums that the library has, and one undo reverts it`() async throws {
        try await withShelf(["A", "B"]) { shelf in
            let library = shelf.store()
            let edit = try await library.add([Album(title: "B"), Album(title: "C"), Album(title: "D")])
            #expect(edit?.changes.map(\.album.title) == ["C", "D"])
            #expect(try await library.add([Album(title: "D")]) == nil)
            try await library.undo()
            #expect(try await library.titles == ["A", "B"])
            library.close()
        }
    }
}
