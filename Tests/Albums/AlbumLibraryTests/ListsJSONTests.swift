import Foundation
import Testing

@testable import AlbumLibrary

@Suite struct AlbumListJSONTests {
    private func array(_ text: String) -> ParsedList { AnyListParser.json.parse(text.utf8) }
    private func lines(_ text: String) -> ParsedList { AnyListParser.jsonl.parse(text.utf8) }

    @Test func `an array holds albums and bare URLs, with the line each begins on`() {
        let list = array(
            """
            [
              {"title": "Nothing", "artist": "Sting", "genre": "Pop", "cover_url": " https://a/1 ", "year": 1999,
               "more": {"x": [true, null, -1.5e3]}},
              "https://a/2"
            ]

            """)
        #expect(list.urls == ["https://a/1", "https://a/2"])
        #expect(list.lines == [2, 4])
        #expect(
            list.albums == [
                Album(title: "Nothing", artist: "Sting", genre: "Pop", coverURL: "https://a/1", year: "1999")
            ])
        #expect(list.problems.isEmpty && list.thrown == nil)
    }

    @Test(arguments: [
        (
            "[{\"title\": \"a\",\n   \"artist\" \"b\"}]",
            "f:2:13: malformed JSON: expected ':' after the key, found '\"'"
        ),
        ("[{\"title\": \"a\",}]", "f:1:16: malformed JSON: expected a key in quotes, found '}'"),
        ("[\n  {\"year\": 01}]", "f:2:13: malformed JSON: expected ',' or '}', found '1'"),
        ("[{\"x\": tru}]", "f:1:8: malformed JSON: expected a value, found 't'"),
        ("[{\"x\": 1.}]", "f:1:10: malformed JSON: expected a digit, found '}'"),
        ("[{\"x\": [1}]", "f:1:10: malformed JSON: expected ',' or ']', found '}'"),
        ("[{\"x\": \"\\q\"}]", "f:1:9: malformed JSON: a string contains an unknown escape"),
        ("[\"\\u12g4\"]", "f:1:7: malformed JSON: expected four hexadecimal digits after \\u, found 'g'"),
        ("[{\"x\": \"a\tb\"}]", "f:1:10: malformed JSON: a string contains byte 0x09, which must be escaped"),
        ("[{\"a\": \"b\n\"}]", "f:1:8: malformed JSON: the string that begins here is not closed on its line"),
        ("[\"a\"\n\"b\"]", "f:2:1: malformed JSON: expected ',' or ']' after an element, found '\"'"),
        ("[\"a\",]", "f:1:6: malformed JSON: expected an element, found ']'"),
        ("[,]", "f:1:2: malformed JSON: expected an element, found ','"),
        ("[\"a\"]]", "f:1:6: malformed JSON: expected nothing after the array, found ']'"),
        (
            "[\"a\",\n{\"b\": [1}",
            "f:2:1: malformed JSON: the element that begins here is not closed; the file ends inside it"
        ),
        ("[\"a\", \"b", "f:1:7: malformed JSON: the string that begins here is not closed"),
        ("[\"a\",\n", "f:2:1: malformed JSON: the array is not closed: expected ']', found the end of the file"),
        (
            "{\"albums\": [{\"coverUrl\": \"u\"}",
            "f:1:1: malformed JSON: expected '[', found '{'"
        ),
        ("x", "f:1:1: malformed JSON: expected '[', found 'x'"),
        ("[tru]", "f:1:2: malformed JSON: expected a value, found 't'"),
        ("[\u{1}]", "f:1:2: malformed JSON: expected an element, found byte 0x01"),
    ])
    func `malformed JSON is thrown with its line and column`(text: String, expected: String) {
        let list = array(text)
        #expect(list.thrown?.description == expected)
        #expect(list.problems.isEmpty)
    }

    @Test(
        arguments: [
            ("{\"title\": \"Low\"}", "f:1:2: album 'Low' has no cover URL; skipped", nil),
            ("{\"title\": \"Low\", \"coverUrl\": null}", "f:1:2: album 'Low' has no cover URL; skipped", nil),
            ("{\"title\": \"L\\now\", \"coverUrl\": \"  \"}", "f:1:2: album 'L ow' has no cover URL; skipped", nil),
            (
                "{\"title\": 3, \"coverUrl\": \"u\"}",
                "f:1:2: album '': 'title' is a number, expected a string; skipped", "u"
            ),
            (
                "{\"title\": \"Low\", \"coverUrl\": []}",
                "f:1:2: album 'Low': 'coverUrl' is an array, expected a string; skipped", nil
            ),
            (
                "{\"year\": false, \"coverUrl\": \"u\"}",
                "f:1:2: album '': 'year' is a boolean, expected a string; skipped", "u"
            ),
            ("7", "f:1:2: expected an album or a URL, found a number; skipped", nil),
            ("[\"a\"]", "f:1:2: expected an album or a URL, found an array; skipped", nil),
            ("null", "f:1:2: expected an album or a URL, found null; skipped", nil),
            ("\" \"", "f:1:2: the URL is empty; skipped", nil),
        ] as [(String, String, String?)])
    func `an element that is not a cover is skipped, with its location`(element: String, expected: String, url: String?)
    {
        let list = array("[\(element), \"https://a/2\"]")
        #expect(list.problems == [expected])
        #expect(list.urls == ["https://a/2"])
        #expect(list.thrown == nil)
        guard case .problem(let problem) = list.elements.first else { return }
        #expect(problem.url == url)
    }

    @Test(arguments: [
        #""a\"b\\c\/d\b\f\n\r\t""#, #""\u0041\u00e9\u20AC\ud83d\ude00""#, #""é€😀""#, #""""#,
    ])
    func `strings are those that JSONDecoder reads`(json: String) throws {
        let expected = try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8))[0]
        let list = array("[{\"coverUrl\": \"u\", \"title\": \(json)}]")
        #expect(list.albums.first?.title == expected)
    }

    @Test(arguments: [#""\ud83d""#, #""\ude00""#, #""\ud83dx""#, #""\ud83d\u0041""#])
    func `an unpaired surrogate becomes U+FFFD`(json: String) {
        let title = array("[{\"coverUrl\": \"u\", \"title\": \(json)}]").albums.first?.title
        #expect(title?.unicodeScalars.first == "\u{FFFD}")
    }

    @Test func `nesting is bounded`() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(array("[\(deep)]").thrown?.message == "malformed JSON: is nested more than 64 deep")
    }

    @Test func `a malformed line is skipped with its line and column, and the rest is read`() {
        let list = lines(
            "\"https://a/1\"\n  {\"title\": }\nhttps://a/2\n{\"coverUrl\": \"https://a/3\"} x\n\"https://a/4\"")
        #expect(list.urls == ["https://a/1", "https://a/4"])
        #expect(list.lines == [1, 5])
        #expect(
            list.problems == [
                "f:2:13: malformed JSON: expected a value, found '}'; skipped",
                "f:3:1: malformed JSON: expected a value, found 'h'; skipped",
                "f:4:29: malformed JSON: expected nothing more after the value, found 'x'; skipped",
            ])
    }
}
