import Dispatch
import Foundation
import Synchronization
import Testing

@testable import AlbumLibrary

@Suite struct AlbumListReaderTests {
    private func problem(_ text: String, name: String = "list", format: ListFormat? = nil) -> String? {
        #expect(throws: ListProblem.self) { try list(text, name: name, ListOptions(format: format)) }?.message
    }

    @Test(
        arguments: [
            ("list", "https://a/1\nhttps://a/2\n"),
            ("list.txt", "\n\n  https://a/1\r\nhttps://a/2"),
            ("list", "#EXTM3U, url\nhttps://a/1\nhttps://a/2\n"),
            ("list", " \n[\"https://a/1\",\n{\"coverUrl\": \"https://a/2\"}]"),
            ("list", "{\"coverUrl\": \"https://a/1\"}\n{\"coverUrl\": \"https://a/2\"}\n"),
            ("list.json", "[\"https://a/1\", \"https://a/2\"]"),
            ("list.JSON", "{\"coverUrl\": \"https://a/1\"}\n{\"coverUrl\": \"https://a/2\"}\n"),
            ("list.jsonl", "\"https://a/1\"\n\"https://a/2\"\n"),
            ("list.ndjson", "[\"https://a/1\",\n\"https://a/2\"]\n"),
            ("list", "title,coverUrl\na,https://a/1\nb,https://a/2\n"),
            ("list", "title\tCOVER\na,\thttps://a/1\nb,\thttps://a/2\n"),
            ("list.csv", "title;url\na,b;https://a/1\nc;https://a/2\n"),
            ("list.csv", "url\nhttps://a/1\nhttps://a/2\n"),
            ("list.tsv", "\"title\"\t\"image\"\n\"a\"\thttps://a/1\nb\thttps://a/2"),
        ])
    func `the format is recognised, with or without a byte order mark`(name: String, text: String) throws {
        #expect(try list(text, name: name).urls == ["https://a/1", "https://a/2"])
        #expect(try list("\u{FEFF}" + text, name: name).urls == ["https://a/1", "https://a/2"])
    }

    @Test func `a first URL with a comma in it makes no CSV`() throws {
        #expect(try list("https://a/1,url\nhttps://a/2").urls == ["https://a/1,url", "https://a/2"])
    }

    @Test(arguments: ["title,artist\nA,B\n", "Title;Artist;Year\nA;B;1999\n", "title\tartist\nA\tB\n"])
    func `a list of titles is CSV, and has no covers`(text: String) {
        #expect(problem(text)?.hasPrefix("no column holds the cover's URL") == true)
    }

    @Test func `the requested format wins`() throws {
        #expect(try list("title,url\na,b", name: "list.csv", ListOptions(format: .urls)).urls == ["title,url", "a,b"])
        #expect(try list("\"https://a/1\"\n", name: "list.txt", ListOptions(format: .jsonl)).urls == ["https://a/1"])
        #expect(problem("https://a/1\n", format: .json) == "malformed JSON: expected '[', found 'h'")
    }

    @Test(arguments: ["", "\n \r\n\t\n", "\u{FEFF}\n"], [nil, .json, .csv] as [ListFormat?])
    func `an empty file is a problem`(text: String, format: ListFormat?) {
        #expect(problem(text, format: format) == "is empty; \(DetectedFormat.expected)")
    }

    @Test func `an empty array, a header alone, and comments alone are lists of nothing`() throws {
        #expect(try list("[]").isEmpty)
        #expect(try list("title,url\n").isEmpty)
        #expect(try list("# nothing yet\n").isEmpty)
    }

    @Test func `a file that is not text is refused with advice`() throws {
        #expect(problem("https://a/1\n", name: "list.json")?.hasPrefix("is not JSON: it begins with 'h'") == true)
        let utf16 = #expect(throws: ListProblem.self) { try ListFile([0xFF, 0xFE, 0x68, 0x00]).elements() }
        #expect(utf16?.message == "is UTF-16; save it as UTF-8")
        let gzip = #expect(throws: ListProblem.self) { try ListFile([0x1F, 0x8B, 0x08, 0x00]).elements() }
        #expect(gzip?.message.contains("gunzip") == true)
        let png = #expect(throws: ListProblem.self) {
            try ListFile([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]).elements()
        }
        #expect(png?.message == "is a binary file; \(DetectedFormat.expected)")
        #expect(problem("title,url\nA,\u{0}\n", format: .csv) == png?.message)
    }

    @Test func `a missing file and a directory are named`() throws {
        let missing = #expect(throws: ListProblem.self) { try AlbumListReader(path: "/nowhere/albums.json") }
        #expect(missing?.description == "/nowhere/albums.json: cannot be opened: No such file or directory")
        let folder = #expect(throws: ListProblem.self) { try AlbumListReader(path: "/tmp") }
        #expect(folder?.description.hasPrefix("/tmp: is a directory; \(DetectedFormat.expected)") == true)
    }

    @Test func `elements before malformed JSON come first, the error once, then the end`() throws {
        let file = try ListFile("[\"https://a/1\", \"https://a/2\" }".utf8, name: "albums.json")
        let reader = try AlbumListReader(path: file.path)
        #expect(try reader.next()?.count == 2)
        let error = #expect(throws: ListProblem.self) { try reader.next() }
        #expect(error?.location == ListLocation(file: file.path, line: 1, column: 31))
        #expect(try reader.next() == nil)
    }

    @Test func `a line in a pipe is read before the pipe ends`() throws {
        let folder = try ListFile([], name: "unused")
        let path = folder.path + ".fifo"
        try #require(mkfifo(path, 0o600) == 0)
        // Open for both, so that neither side waits for the other to open.
        let writer = open(path, O_RDWR | O_CLOEXEC)
        try #require(writer >= 0)
        // Closing ends the list, so a reader that waits for more fails this test instead of hanging it.
        defer { close(writer) }

        let urls = Mutex<[String]>([])
        let isRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            guard let reader = try? AlbumListReader(path: path) else { return }
            while let elements = try? reader.next() {
                for case .item(let item) in elements {
                    urls.withLock { $0.append(item.url) }
                    isRead.signal()
                }
            }
        }
        for line in ["https://a/1\n", "https://a/2\n"] {
            _ = line.withCString { write(writer, $0, line.utf8.count) }
            try #require(isRead.wait(timeout: .now() + 20) == .success)
            #expect(urls.withLock { $0.last } == String(line.dropLast()))
        }
    }

    @Test func `a list larger than a chunk is read whole and in order`() throws {
        let expected = (0..<20_000).map { "https://covers.example/\($0).jpg" }
        #expect(try list(expected.joined(separator: "\n")).urls == expected)
        #expect(try list("[\"" + expected.joined(separator: "\",\"") + "\"]").urls == expected)
        #expect(try list("title,url\n,\"" + expected.joined(separator: "\"\n,\"") + "\"").urls == expected)
    }
}
