import Foundation
import Testing

@testable import AlbumLibrary

/// Text that is not UTF-8 is never repaired and written back.
@Suite struct UTF8Tests {
    private func list(_ text: String, name: String, keeps: Bool = false) throws -> (
        elements: [ListElement], notice: ListProblem?
    ) {
        let file = try ListFile(Data(text.unicodeScalars.map { UInt8($0.value) }), name: name)
        let reader = try AlbumListReader(path: file.path, ListOptions(keepsOtherFields: keeps))
        return (try reader.elements(), reader.notice)
    }

    @Test(arguments: [
        ("x.csv", "title,url\nBj\u{F6}rk,https://a/1\nB,https://a/2\n", 2),
        (
            "x.json",
            "[\n{\"title\": \"Bj\u{F6}rk\", \"coverUrl\": \"https://a/1\"},\n{\"title\": \"B\", \"coverUrl\": \"https://a/2\"}]",
            2
        ),
        (
            "x.jsonl",
            "{\"title\": \"Bj\u{F6}rk\", \"coverUrl\": \"https://a/1\"}\n{\"title\": \"B\", \"coverUrl\": \"https://a/2\"}",
            1
        ),
    ])
    func `a title in Latin-1 is no reason to leave out a cover, and one not to import the album`(
        name: String, text: String, line: Int
    ) throws {
        let covers = try list(text, name: name)
        #expect(covers.elements.count == 2)
        for element in covers.elements { if case .problem(let problem) = element { Issue.record("\(problem)") } }
        #expect(covers.notice?.location.line == line && covers.notice?.message.contains("byte 0xF6") == true)
        let imported = try list(text, name: name, keeps: true).elements
        guard case .problem(let problem) = imported[0], case .item = imported[1] else {
            Issue.record("\(imported)")
            return
        }
        #expect(problem.location.line == line && problem.message.contains("iconv") && problem.album == nil)
    }

    @Test(arguments: [
        ("list", "https://a/\u{E9}\nhttps://a/2\n"), ("x.csv", "t,url\n,https://a/\u{E9}\n,https://a/2\n"),
        ("x.json", "[\"https://a/\u{E9}\", \"https://a/2\"]"),
    ])
    func `a URL that is not UTF-8 is skipped, and the next is read`(name: String, text: String) throws {
        let elements = try list(text, name: name).elements
        guard elements.count == 2, case .problem(let problem) = elements[0], case .item(let item) = elements[1] else {
            Issue.record("\(elements)")
            return
        }
        #expect(problem.message.contains("is not UTF-8") && item.url == "https://a/2")
    }

    @Test func `a header that would be repaired is refused for an import, and a comment is ignored`() throws {
        #expect(throws: ListProblem.self) { try list("title,K\u{FC}nstler\nA,B\n", name: "x.csv", keeps: true) }
        #expect(try list("#EXTINF:1,Bj\u{F6}rk\nhttps://a/1\n", name: "x.txt").notice == nil)
    }

    @Test func `a library file that is not UTF-8 is refused with its line and stays as it is`() async throws {
        try await withShelf { shelf in
            let bytes = Data("[\n{\"title\": \"Bj".utf8) + [0xF6] + Data("rk\"}]\n".utf8)
            try bytes.write(to: URL(fileURLWithPath: shelf.file))
            let library = shelf.store(savingTimeout: 0)
            let error = await #expect(throws: LibraryError.self) { try await library.add(Album(title: "B")) }
            #expect(
                error?.message.contains("albums.json:2:14: the text is not UTF-8") == true, "\(error?.message ?? "")")
            #expect(FileManager.default.contents(atPath: shelf.file) == bytes)
            library.close()
        }
    }

    @Test(
        arguments: [
            ([0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xC3, 0xA9], nil), ([0xC3], 0),
            ([0x41, 0xC3, 0x41], 1),
            ([0xED, 0xA0, 0x80], 0), ([0xC0, 0xAF], 0), ([0xF0, 0x9F, 0x98, 0x80, 0xFF], 4), ([], nil),
        ] as [([UInt8], Int?)])
    func `the first byte that is not UTF-8 is found`(bytes: [UInt8], offset: Int?) {
        #expect(bytes.withUnsafeBytes { UTF8Check.firstInvalidOffset($0) } == offset)
    }
}
