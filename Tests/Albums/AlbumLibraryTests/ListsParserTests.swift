import Testing

@testable import AlbumLibrary

/// The result of a parser.
struct ParsedList: Equatable {
    var elements: [ListElement] = []
    /// The error at its end.
    var thrown: ListProblem?

    /// Feeds `bytes` in chunks of `chunk` bytes.
    init(_ parser: some ListParser, _ bytes: some Collection<UInt8>, chunk: Int = .max) {
        var buffer = ListBuffer(parser)
        let bytes = Array(bytes)
        do throws(ListProblem) {
            var start = 0
            while start < bytes.count {
                let end = chunk < bytes.count - start ? start + chunk : bytes.count
                try bytes.withBytes { (all) throws(ListProblem) in
                    try buffer.feed(UnsafeRawBufferPointer(rebasing: all[start..<end]), into: &elements)
                }
                start = end
            }
            try buffer.feed(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, into: &elements)
        } catch {
            thrown = error
        }
    }

    init(_ parser: some ListParser, _ text: String, chunk: Int = .max) {
        self.init(parser, text.utf8, chunk: chunk)
    }

    var urls: [String] {
        elements.compactMap { if case .item(let item) = $0 { item.url } else { nil } }
    }
    var albums: [Album] {
        elements.compactMap { if case .item(let item) = $0 { item.album } else { nil } }
    }
    var lines: [Int] {
        elements.compactMap { if case .item(let item) = $0 { item.line } else { nil } }
    }
    /// As a person reads them.
    var problems: [String] {
        elements.compactMap { if case .problem(let problem) = $0 { problem.description } else { nil } }
    }
}

/// The four formats as values that are fed.
enum AnyListParser: String, CaseIterable {
    case urls, jsonl, json, csv

    func parse(_ bytes: some Collection<UInt8>, chunk: Int = .max) -> ParsedList {
        switch self {
        case .urls: ParsedList(URLListParser(file: "f"), bytes, chunk: chunk)
        case .jsonl: ParsedList(JSONListParser(file: "f", hasLines: true), bytes, chunk: chunk)
        case .json: ParsedList(JSONListParser(file: "f", hasLines: false), bytes, chunk: chunk)
        case .csv: ParsedList(CSVParser(file: "f", separator: Byte.comma), bytes, chunk: chunk)
        }
    }
}

@Suite struct AlbumListParserTests {
    /// Everything that crosses a chunk's edge: escapes, quotes, line ends, nesting, long elements, errors.
    private static let samples: [(AnyListParser, String)] = [
        (.urls, "https://a/1\r\n\r\n  # comment\n\t https://a/2 \n\nhttps://a/ü"),
        (.urls, "https://a/1\n" + String(repeating: "x", count: ListLimit.element + 1) + "\nhttps://a/2\n"),
        (
            .json,
            "[ {\"title\": \"a\\\"}]\\\\\", \"x\": [1, {\"y\": \"]\"}], \"coverUrl\":\r\n\"https://a/1\"} ,\n\"https://a/2\",3, null]\n"
        ),
        (.json, #"[{"coverUrl":"https://a/\u00e9\ud83d\ude00"},{"title":"none"},{"title":1,"coverUrl":"u"}]"#),
        (.json, "[\"a\",\n{\"b\": tru}, \"c\"]"),
        (.json, "[\"a\",\n{\"b\": \"c\n\"}]"),
        (.json, "[\"a\" \"b\"]"), (.json, "[\"a\"] x"), (.json, "[\"a\", ]"), (.json, "[\"a\", {\"b\": [1"),
        (.json, "[]"),
        (.json, "[{\"title\":\"" + String(repeating: "é", count: ListLimit.element) + "\"}, \"b\", 1e999]"),
        (.jsonl, "{\"coverUrl\": \"https://a/1\"}\r\n\n{\"title\": }\n \"https://a/2\" \n[1]\n{\"title\": \"none\"}"),
        (
            .csv,
            "\n\"ti\"\"tle\",title,\"cover\nUrl\",coverUrl\r\n1,\"a \"\"b\"\"\",\"x\ny\",https://a/1\r\n\r\n,\"c\r\",,\n,\"d\"e,,https://a/2"
        ),
        (.csv, "title,url\na,https://a/1\n\"b,https://a/2\nc,https://a/3"),
        (.csv, "title,url\n" + String(repeating: "\"x\n\"\"", count: ListLimit.element / 3) + "\nb,https://a/2"),
        (.csv, "title,url\n" + String(repeating: ",", count: ListLimit.element + 9) + "\nb,https://a/2"),
    ]

    @Test(arguments: samples.indices)
    func `the elements do not depend on where chunks are cut`(index: Int) {
        let (parser, text) = Self.samples[index]
        let whole = parser.parse(text.utf8)
        #expect(!whole.elements.isEmpty || whole.thrown != nil || text == "[]")
        // Long samples in chunks of one size only: they take seconds without optimization.
        for chunk in text.utf8.count < 1000 ? [1, 2, 3, 5, 7, 64] : [4096 + 1] {
            #expect(parser.parse(text.utf8, chunk: chunk) == whole)
        }
    }

    @Test func `a list of URLs has its lines, trimmed, without comments`() {
        let list = AnyListParser.urls.parse("#EXTM3U\r\n https://a/1 \r\n\n#x\n\thttps://a/2".utf8)
        #expect(list.urls == ["https://a/1", "https://a/2"])
        #expect(list.lines == [2, 5])
        #expect(list.problems.isEmpty && list.thrown == nil && list.albums.isEmpty)
    }

    @Test(arguments: AnyListParser.allCases)
    func `an element over 1 MiB is skipped, and the next is read`(parser: AnyListParser) {
        let long = String(repeating: "x", count: ListLimit.element + 1)
        let text =
            switch parser {
            case .urls: "https://a/1\n\(long)\nhttps://a/2\n"
            case .jsonl: "\"https://a/1\"\n\"\(long)\"\n\"https://a/2\"\n"
            case .json: "[\"https://a/1\",\n\"\(long)\",\n\"https://a/2\"]"
            case .csv: "title,url\n,https://a/1\n\(long),x\n,https://a/2\n"
            }
        let list = parser.parse(text.utf8, chunk: ListLimit.chunk)
        #expect(list.urls == ["https://a/1", "https://a/2"])
        #expect(list.problems.count == 1)
        #expect(list.problems.first?.hasSuffix("is longer than 1 MiB; skipped") == true)
        #expect(list.thrown == nil)
    }

    @Test(arguments: [AnyListParser.urls, .jsonl, .json])
    func `an element of exactly 1 MiB is read`(parser: AnyListParser) {
        let url = "https://a/" + String(repeating: "x", count: ListLimit.element - 12)
        let text =
            switch parser {
            case .urls: "\(url)xx\nhttps://a/2"
            case .jsonl: "\"\(url)\"\n\"https://a/2\""
            default: "[\"\(url)\",\"https://a/2\"]"
            }
        #expect(parser.parse(text.utf8, chunk: ListLimit.chunk).urls.count == 2)
    }
}
