import Foundation
import Testing

@testable import AlbumLibrary

@Suite(.timeLimit(.minutes(5))) struct FolderChangesTests {
    /// Each waits without a limit of its own: there is no other way to its end than the report.
    @Test func `a file that another program writes, renames or deletes is reported`() async throws {
        try await withShelf(["A"]) { shelf in
            var changes = await shelf.store().fileChanges().makeAsyncIterator()
            let acts: [() throws -> Void] = [
                { try Data("[]".utf8).write(to: URL(filePath: shelf.file)) },
                { try Data("[]".utf8).write(to: URL(filePath: shelf.file), options: .atomic) },
                { try FileManager.default.moveItem(atPath: shelf.file, toPath: shelf.folder + "/other") },
                { try FileManager.default.removeItem(atPath: shelf.folder + "/other") },
            ]
            for act in acts {
                try act()
                #expect(await changes.next() != nil)
            }
        }
    }

    @Test func `a link's file is watched where it is`() async throws {
        try await withShelf(["A"]) { shelf in
            let links = shelf.folder + "/links"
            try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(atPath: links + "/mine", withDestinationPath: shelf.file)
            var changes = await shelf.store(links + "/mine").fileChanges().makeAsyncIterator()
            try shelf.write("[]")
            #expect(await changes.next() != nil)
        }
    }

    @Test func `a folder that is not there is not watched`() async throws {
        for await _ in FolderChanges.stream(of: "/nowhere/at/all") { Issue.record("it is not there") }
    }
}
