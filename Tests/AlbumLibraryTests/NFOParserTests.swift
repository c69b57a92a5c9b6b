import Testing

@testable import AlbumLibrary

/// `album.nfo` as media programs write it.
@Suite struct NFOParserTests {
    private static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
    private static let group = "1b022e01-4da6-387b-8658-8678046e4cef"

    private func elements(_ bytes: some Sequence<UInt8>, name: String = "album.nfo") throws -> [ListElement] {
        let file = try ListFile(bytes, name: name)
        let reader = try AlbumListReader(path: file.path)
        var elements: [ListElement] = []
        while let more = try reader.next() { elements += more }
        return elements
    }

    private func albums(_ text: String) throws -> [Album] { try albums(text.utf8) }

    private func albums(_ bytes: some Sequence<UInt8>) throws -> [Album] {
        try elements(bytes).compactMap { element in
            switch element {
            case .item(let item): item.album
            case .problem(let problem): problem.album
            }
        }
    }

    private func problem(_ text: String) throws -> ListProblem? {
        let file = try ListFile(text.utf8, name: "album.nfo")
        let reader = try AlbumListReader(path: file.path)
        do throws(ListProblem) {
            while let elements = try reader.next() {
                if case .problem(let problem)? = elements.first { return problem }
            }
            return nil
        } catch {
            return error
        }
    }

    @Test func `Kodi's album has its texts, its ids and its front covers`() throws {
        let album = try albums(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes" ?>
            <!-- Kodi -->
            <album>
                <title>Low &amp; Tide &#8212; &lt;Live&gt;</title>
                <musicbrainzalbumid>\(Self.release)</musicbrainzalbumid>
                <musicbrainzreleasegroupid>\(Self.group)</musicbrainzreleasegroupid>
                <artistdesc>The Harbour Lights</artistdesc>
                <genre>Folk</genre>
                <genre>Rock</genre>
                <year>1971</year>
                <thumb spoof="" cache="" aspect="back">https://a/back.jpg</thumb>
                <thumb preview="https://a/p.jpg">https://a/1.jpg?a=1&amp;b=2</thumb>
                <thumb aspect="thumb">https://a/2.jpg</thumb>
                <thumb>folder.jpg</thumb>
                <albumArtistCredits><artist>The Harbour Lights</artist><musicBrainzArtistID/></albumArtistCredits>
                <track><title>Ebb</title><thumb>https://a/track.jpg</thumb></track>
            </album>
            """
        ).first
        #expect(album?.title == "Low & Tide — <Live>" && album?.artist == "The Harbour Lights")
        #expect(album?.genre == "Folk, Rock" && album?.year == "1971")
        #expect(album?.coverURL == "https://a/1.jpg?a=1&b=2" && album?.alternateCoverURLs == ["https://a/2.jpg"])
        #expect(album?.musicBrainzReleaseID == Self.release && album?.musicBrainzReleaseGroupID == Self.group)
    }

    @Test func `Lidarr's only id is the release group's, and its description is no artist`() throws {
        let lidarr = """
            <album><title>X</title><musicbrainzalbumid>\(Self.group)</musicbrainzalbumid>
            <artistdesc>Born in 1940,\nthey sing.</artistdesc><releasedate>1999-02-03</releasedate></album>
            """
        let album = try albums(lidarr).first
        #expect(album?.musicBrainzReleaseID == nil && album?.musicBrainzReleaseGroupID == Self.group)
        #expect(album?.artist == "" && album?.year == "1999")
        let jellyfin = try albums(
            lidarr.replacing("<title>", with: "<artist>A</artist><artist>B</artist><title>")
        ).first
        #expect(jellyfin?.musicBrainzReleaseID == Self.group && jellyfin?.artist == "A, B")
    }

    @Test func `several albums are in one document, each with its line`() throws {
        let text =
            "<musicdb>\n<album><title>a</title><thumb>https://a/1</thumb></album>\n"
            + "<album><title>b</title><thumb>https://a/2</thumb></album>\n</musicdb>\n"
        let items = try elements(text.utf8).map { element in
            if case .item(let item) = element { "\(item.line) \(item.url)" } else { "" }
        }
        #expect(items == ["2 https://a/1", "3 https://a/2"])
    }

    @Test func `the document may be UTF-16, Latin-1 or UTF-8, and have any file name`() throws {
        let text = "<?xml version=\"1.0\"?><album><title>Bj\u{F6}rk</title><thumb>https://a/1</thumb></album>"
        let little = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let latin = text.replacing("\"1.0\"", with: "\"1.0\" encoding=\"ISO-8859-1\"").unicodeScalars.map {
            UInt8($0.value)
        }
        let encodings: [[UInt8]] = [
            Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, little, [0xFE, 0xFF] + big,
            big,
            latin,
        ]
        for bytes in encodings { #expect(try albums(bytes).first?.title == "Bj\u{F6}rk") }
        #expect(try elements(text.utf8, name: "list").count == 1)
    }

    @Test func `entities that the document declares are not expanded`() throws {
        let bomb = """
            <!DOCTYPE album [ <!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"> <!ENTITY f SYSTEM "file:///etc/passwd"> ]>
            <album><title>&b;&f;&nbsp;&#0;&#xD800;&</title><thumb>https://a/1</thumb></album>
            """
        #expect(try albums(bomb).first?.title == "&b;&f;&nbsp;\u{0}&#xD800;&")
    }

    @Test(arguments: [
        ("<album><title>x", ":1: the element <title> is never closed"), ("<album><title", "<title is never closed"),
        ("<album>\n<!-- x", ":2: a comment is never closed"),
        ("<album>\n\n<![CDATA[ x ", ":3: a CDATA section is never closed"),
        ("<!DOCTYPE x [", "a declaration is never closed"), ("<artist><name>x</name></artist>", "is about an artist"),
        ("<html><body>x</body></html>", "is HTML or XML"), ("<musicdb></musicdb>", "has no <album>"),
        ("<album>\n<title>x</title></album>", ":1: album 'x' has no cover URL; skipped"),
    ])
    func `a problem has the file and the line`(text: String, message: String) throws {
        let problem = try #require(try problem(text))
        #expect("\(problem)".contains(message), "\(problem)")
    }

    @Test func `elements that are nested without end are refused`() throws {
        let text = "<album>" + String(repeating: "<a>", count: 200_000)
        #expect(try problem(text)?.message.contains("nested too deeply") == true)
    }

    @Test func `CDATA, comments, empty elements and tags in any case are read`() throws {
        let text = """
            <ALBUM><Title><![CDATA[a <b> & c]]></Title><genre/><year></year><!-- <year>1 </year> --><YEAR>2001</YEAR>
            <thumb aspect='front' x=1>https://a/1</thumb></ALBUM>
            """
        let album = try albums(text).first
        #expect(album?.title == "a <b> & c" && album?.year == "2001" && album?.coverURL == "https://a/1")
    }

    /// A reader of other people's files must end, whatever they are.
    @Test func `a document that is cut off or damaged anywhere ends with a result or a problem`() throws {
        let text = Array(
            "<?xml version='1.0'?><!DOCTYPE a><album><title a='b'>x&amp;</title><![CDATA[y]]><thumb>https://a/1</thumb></album>"
                .utf8)
        for index in text.indices {
            for bytes in [Array(text[..<index]), Array(text[..<index]) + [0x3C] + text[index...]] {
                var reader = XMLReader(bytes)
                var count = 0
                while (try? reader.next()) != nil, count <= bytes.count { count += 1 }
                #expect(count <= bytes.count)
            }
        }
    }
}
