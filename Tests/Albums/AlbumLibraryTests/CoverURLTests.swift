import Testing

@testable import AlbumLibrary

/// Where lists say that covers are.
@Suite struct CoverURLTests {
    private static let id = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
    private static let group = "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"
    private let archive = CoverArtArchive(base: "https://archive.example/", size: .pixels500)

    private let sizes = ["front-500", "front-1200", "front-250", "front"]

    private func places(json: String, archive: CoverArtArchive? = nil) -> [[String]] {
        AnyListParser.json.parse(json.utf8).albums.map { $0.coverURLs(in: archive ?? self.archive) }
    }

    @Test
    func `the chain is coverUrl, then coverUrls in order, then the archive's release, then its group; nothing twice`() {
        let json = """
            [{"title": "T", "musicBrainzReleaseGroupId": "\(Self.group)", "musicBrainzReleaseId": "\(Self.id)",
              "coverUrls": ["https://a/2", " https://a/1 ", "", 7, "https://a/3"], "coverUrl": "https://a/1"}]
            """
        #expect(
            places(json: json) == [
                [
                    "https://a/1", "https://a/2", "https://a/3",
                ] + sizes.map { "https://archive.example/release/\(Self.id)/\($0)" }
                    + sizes.map { "https://archive.example/release-group/\(Self.group)/\($0)" }
            ])
    }

    @Test(arguments: [
        "musicBrainzReleaseId", "MUSICBRAINZ_ALBUMID", "MusicBrainz Album Id", "musicbrainz_albumid", "mbid",
        "release_mbid",
    ])
    func `an id is found under the names that taggers and web services give it, and asked for in lower case`(
        name: String
    ) {
        let expected = [sizes.map { "https://archive.example/release/\(Self.id)/\($0)" }]
        #expect(places(json: "[{\"title\": \"T\", \"\(name)\": \"\(Self.id.uppercased())\"}]") == expected)
        let csv = ParsedList(CSVParser(file: "f", separator: Byte.comma), "title,\(name)\nT,\(Self.id)\nU,\n")
        #expect(csv.albums.map { $0.coverURLs(in: archive) } == expected)
        #expect(csv.problems == ["f:3: album 'U' has no cover URL; skipped"])
    }

    @Test func `the size that was asked for comes first, then the other thumbnails, then the original`() {
        let expected: [CoverSize: [String]] = [
            .pixels250: ["front-250", "front-500", "front-1200", "front"],
            .pixels500: ["front-500", "front-1200", "front-250", "front"],
            .pixels1200: ["front-1200", "front-500", "front-250", "front"],
            .full: ["front", "front-1200", "front-500", "front-250"],
        ]
        for (size, names) in expected {
            let archive = CoverArtArchive(base: "http://h", size: size)
            let json = "[{\"MUSICBRAINZ_RELEASEGROUPID\": \"\(Self.group)\"}]"
            let urls = names.map { "http://h/release-group/\(Self.group)/\($0)" }
            #expect(places(json: json, archive: archive) == [urls])
            for url in urls { #expect(archive.lastSize(of: url) == urls.last) }
        }
    }

    @Test func `an id that is not a UUID is an error with its line if nothing else locates the cover`() {
        let list = AnyListParser.json.parse(
            """
            [
              {"title": "A", "mbid": "76df3287"},
              {"title": "B", "mbid": "76df3287", "coverUrl": "https://a/1"},
              {"title": "C", "mbid": ""}
            ]
            """.utf8)
        #expect(
            list.problems == [
                "f:2:3: album 'A': mbid: '76df3287' is not a MusicBrainz id, which is a UUID such as "
                    + "76df3287-6cda-33eb-8e9a-044b5e15ffdd; skipped",
                "f:4:3: album 'C' has no cover URL; skipped",
            ])
        #expect(list.albums.map { $0.coverURLs(in: archive) } == [["https://a/1"]])
        for id in ["76df3287-6cda-33eb-8e9a-044b5e15ffdg", "76df32876cda33eb8e9a044b5e15ffdd", "{\(Self.id)}"] {
            #expect(MusicBrainzID(.release, id) == nil)
        }
    }

    @Test func `a library keeps these fields as they were written, and an album with a bad id`() throws {
        let json = """
            {"id": "1", "title": "T", "artist": "", "genre": "", "year": "", "MUSICBRAINZ_ALBUMID": "\(Self.id)", "x": 1}
            """
        var album = try #require(Album(json: json))
        #expect(album.json == json && album.musicBrainzReleaseID == Self.id)
        album.musicBrainzReleaseID = "bad"
        album.alternateCoverURLs = ["https://a/1"]
        #expect(album.json == json.replacing(Self.id, with: "bad").dropLast() + #", "coverUrls": ["https://a/1"]}"#)
        album.alternateCoverURLs = []
        #expect(Album(json: album.json)?.musicBrainzReleaseID == "bad")
    }

    @Test func `the path of a cover file keeps its bytes`() throws {
        for path in [Array("/m/50%25 é.jpg".utf8), Array("/m/".utf8) + [0xFF, 0xC3], Array("/m/\n\"".utf8)] {
            var album = Album(id: "1", title: "A")
            album.coverFilePath = path
            let read = try #require(Album(libraryJSON: album.json))
            #expect(read.coverFilePath == path && read == album)
            #expect(Album(json: album.json) == album.withoutCoverFile, "of a client, it would be a file of the server")
        }
    }

    @Test func `an album that is added or edited brings no cover file with it: only a scan finds one`() async throws {
        try await withShelf { shelf in
            let library = shelf.store()
            var albums = ["A", "B", "C"].map { Album(id: $0, title: $0) }
            for index in albums.indices { albums[index].coverFilePath = Array("/etc/cover.jpg".utf8) }
            #expect(try await library.add(albums[0]).coverFile == nil)
            try await library.add([albums[1]])
            try await library.insert([albums[2]])
            #expect(try await library.all().map(\.coverFile) == [nil, nil, "/etc/cover.jpg"])
            for id in ["A", "C"] {
                try await library.edit(id) { album in
                    album = albums[1]
                    album.coverFilePath = id == "A" ? Array("/etc/other.jpg".utf8) : nil
                    album.year = "1971"
                }
            }
            #expect(try await library.all().map(\.coverFile) == [nil, nil, "/etc/cover.jpg"])
            #expect(try await library.all().map(\.year) == ["1971", "", "1971"])
            library.close()
        }
    }
}
