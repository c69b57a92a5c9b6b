import Testing

@testable import AlbumLibrary

@Suite struct AlbumListCSVTests {
    private func csv(_ text: String, separator: UInt8 = Byte.comma) -> ParsedList {
        ParsedList(CSVParser(file: "f", separator: separator), text)
    }

    /// The fields of every row.
    private func rows(_ text: String) -> [[String]] {
        var (row, rows): (CSVRow, [[String]]) = (CSVRow(), [])
        Array(text.utf8).withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                start += row.read(rest, Byte.comma, isLast: true) ?? rest.count
                if !row.isBlank { rows.append(row.texts) }
            }
        }
        return rows
    }

    @Test(arguments: [
        ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("a,b\nc,d", [["a", "b"], ["c", "d"]]),
        ("\"a,\"\"b\"\"\nc\",d\n", [["a,\"b\"\nc", "d"]]),
        ("\"\",\"\"\n", [["", ""]]),
        (",\n,", [["", ""], ["", ""]]),
        ("\n\r\na\n\n", [["a"]]),
        ("a\"b\",c", [["a\"b\"", "c"]]),
        ("\"a\"b,c", [["ab", "c"]]),
        ("", []),
    ])
    func `rows and fields are those of RFC 4180`(text: String, expected: [[String]]) {
        #expect(rows(text) == expected)
    }

    @Test func `columns are found by name, in any order and case`() {
        let list = csv(
            "YEAR,Cover_URL,Title,Other,Artist,Genre\r\n1999, https://a/1 ,\"Nothing, Like\",x,Sting,Pop\r\n")
        #expect(
            list.albums == [
                Album(title: "Nothing, Like", artist: "Sting", genre: "Pop", coverURL: "https://a/1", year: "1999")
            ])
        #expect(list.lines == [2])
    }

    @Test(arguments: ["coverUrl", "cover_url", "url", "cover", "image", "Cover URL", "\"IMAGE\""])
    func `the cover's column has one of several names`(name: String) {
        #expect(csv("title,\(name)\na,https://a/1\n").urls == ["https://a/1"])
    }

    @Test func `without a column for the cover the error names the columns found`() {
        let list = csv("title,artist\na,b\n")
        #expect(
            list.thrown?.description
                == "f:1: no column holds the cover's URL: found 'title', 'artist'; "
                + "name it coverUrl, cover_url, url, cover or image, or choose it with --url-column")
        #expect(list.elements.isEmpty)
    }

    @Test func `a row of another length counts if its URL is there`() {
        let list = csv("title,url,year\na,https://a/1\nb\nc,https://a/2,1999,more\nd,,\n")
        #expect(list.urls == ["https://a/1", "https://a/2"])
        #expect(
            list.problems == [
                "f:3: the row has 1 field instead of 3, and no cover URL; skipped",
                "f:5: album 'd' has no cover URL; skipped",
            ])
    }

    @Test func `lines are counted inside quotes too`() {
        #expect(csv("title,url\n\"a\nb\",https://a/1\nc,https://a/2").lines == [2, 4])
    }

    @Test func `a quote that is never closed costs its line`() {
        let list = csv("title,url\na,https://a/1\n\"b,https://a/2\nc,https://a/3\nd,https://a/4\n")
        #expect(list.urls == ["https://a/1", "https://a/3", "https://a/4"])
        #expect(list.problems.count == 1)
        #expect(list.problems.first?.hasPrefix("f:3: ") == true)
        #expect(list.lines == [2, 4, 5])
    }

    @Test func `after 1 MiB in an unclosed quote, reading goes on at the next line`() {
        let filler = String(repeating: "x,https://a/lost\n", count: 1 << 17)
        let list = csv("title,url\n\"a,https://a/1\n\(filler)b,https://a/2\n")
        #expect(list.problems.count == 1)
        #expect(list.urls.last == "https://a/2")
    }
}
