import ArgumentParser
import CoverLibrary
import CoverSources
import Foundation
import OriginServer
import SleeveStage
import Testing

@testable import sleeve

extension MusicTests {
    /// The library of sources, the imitated services and `why`, a process of its own.
    @Suite struct WhyTests {
        private struct Report: Decodable {
            struct Source: Decodable { var source, url, answer, detail, time: String }
            struct Candidate: Decodable {
                var source, certainty, reason, artist, title: String
                var pictures: [String]
            }
            struct Address: Decodable {
                var url, state: String
                var digest: String?
                var status: Int?
            }
            var sources: [Source]?
            var candidates: [Candidate]?
            var urls: [Address]
        }

        private static let albums = [
            ServiceAlbum(
                artist: "The Harbour Lights", title: "Low Tide (Deluxe Edition)", year: 1971, tracks: 9,
                services: [.itunes]),
            ServiceAlbum(artist: "Sigur Rós", title: "( )", year: 2002, tracks: 8, services: [.musicbrainz, .caa]),
            ServiceAlbum(
                artist: "Guns N' Roses", title: "The \"Spaghetti\" Incident? & More", year: 1993, tracks: 12,
                services: [.deezer], isSecond: true),
            ServiceAlbum(
                artist: "Nobody", title: "Hidden", tracks: 3, services: [.deezer], picture: .placeholder),
            ServiceAlbum(artist: "Someone", title: "Reissued", year: 2020, tracks: 44, services: [.itunes]),
        ]

        /// A library of `cache` and `library` of the stage, with a queue at the imitated services.
        private func findings(
            _ stage: Stage, at services: ImitatedServices, _ queries: [AlbumQuery], _ arguments: [String] = []
        ) async throws -> [SourceFindings] {
            let options = try SourceOptions.parse(services.options() + arguments)
            var configuration = LibraryConfiguration(
                cacheDirectory: URL(filePath: stage.cache), libraryFile: URL(filePath: stage.folder + "/albums.json"))
            configuration.userAgent += " (me@example.org)"
            try options.apply(to: &configuration)
            let library = try await LibraryAPI(configuration: configuration)
            let queue = try options.queue(for: library, memory: SourceMemory.open(for: configuration))
            var findings: [SourceFindings] = []
            for query in queries { findings.append(try await queue.find(query)) }
            await library.close()
            return findings
        }

        @Test func `albums are found at the services that have them, by libcurl and within their limits`() async throws
        {
            try await withStage { stage in
                let manners = try await withServices(Self.albums) { services in
                    let found = try await findings(
                        stage, at: services,
                        [
                            AlbumQuery(artist: "Harbour Lights", title: "Low Tide", year: 1971, trackCount: 9),
                            AlbumQuery(artist: "Sigur Ros", title: "()", year: 2002, trackCount: 8),
                            AlbumQuery(
                                artist: "Guns N’ Roses",
                                title: #"The "Spaghetti" Incident? & More"#,
                                trackCount: 12),
                            AlbumQuery(artist: "Nobody", title: "Hidden", trackCount: 3),
                            AlbumQuery(artist: "Someone", title: "Reissued", year: 1980, trackCount: 10),
                        ])
                    #expect(!found[1].askedSources.contains(.deezer), "a certain album ends the search")
                    #expect(found[0].askedSources.contains(.deezer), "unless its title is that of another edition")
                    #expect(found.map { $0.certain?.source } == [.itunes, .musicbrainz, .deezer, nil, nil])
                    #expect(
                        found[2].certain?.pictures.first?.contains("/deezer-2/1000x1000") == true,
                        "not the first result"
                    )
                    #expect(found[3].candidates.isEmpty && found[4].candidates.map(\.certainty) == [.doubtful])
                    // The pictures are there, after the archive's redirect or a size that does not exist.
                    for finding in found.prefix(3) {
                        let pictures = try #require(finding.certain).pictures
                        var album = Album(title: "x", coverURL: pictures[0])
                        album.alternateCoverURLs = Array(pictures.dropFirst())
                        let library = try await LibraryAPI(
                            configuration: LibraryConfiguration(cacheDirectory: URL(filePath: stage.cache)))
                        let cover = try await library.cover(for: CoverRequest(album: album))
                        #expect(cover.mediaType == "image/jpeg")
                        await library.close()
                    }
                }
                #expect(manners.violations.isEmpty)
                #expect(manners[.musicbrainz].searches >= 5 && manners[.musicbrainz].peakInFlight == 1)
            }
        }

        @Test func `a service that throttles is asked again, and no throttle is an answer`() async throws {
            try await withStage { stage in
                let manners = try await withServices(Self.albums, throttled: 2) { services in
                    let queries = [
                        AlbumQuery(artist: "A", title: "Missing"),
                        AlbumQuery(
                            artist: "Guns N' Roses", title: #"The "Spaghetti" Incident? & More"#, trackCount: 12),
                    ]
                    let found = try await findings(stage, at: services, queries, ["--source", "deezer"])
                    #expect(found[0].answers.map(\.kind) == [.notFound] && found[1].certain?.source == .deezer)
                }
                #expect(manners[.deezer].searches == 3 && manners[.deezer].throttled == 1 && manners.violations.isEmpty)
            }
        }

        @Test func `the services notice bad manners`() async throws {
            try await withStage { stage in
                let manners = try await withServices(Self.albums) { services in
                    for _ in 0..<2 {
                        _ = try await stage.shell(
                            "curl -s -A nameless \"$1/musicbrainz/ws/2/release?query=release:%22x%22\"", services.url)
                    }
                }
                #expect(manners.violations.contains { $0.contains("contact") })
                #expect(manners.violations.contains { $0.contains("2 requests in") })
            }
        }

        @Test func `why tells which services were asked for an album, and what the cache knows of its addresses`()
            async throws
        {
            try await withStage { stage in
                let missing = "\(stage.origin.url)/covers/1.jpg?status=404"
                let list = """
                    [{"title": "Low Tide", "artist": "The Harbour Lights", "year": "1971", "coverUrl": "\(missing)"},
                     {"title": "Other", "artist": "A", "year": "1990"}]
                    """
                _ = try stage.file("albums.json", list)
                _ = try await stage.run("get", missing, "-o", stage.folder + "/x.jpg")
                _ = try await withServices(Self.albums) { services in
                    _ = try await findings(
                        stage, at: services,
                        [AlbumQuery(artist: "The Harbour Lights", title: "Low Tide", year: 1971, trackCount: 9)])
                }
                let requests = stage.origin.requestCount
                let report: Report = try await stage.run("why", "Low Tide", "--json").json()
                #expect(report.sources?.map(\.source) == ["musicbrainz", "itunes", "deezer", "caa"])
                #expect(report.sources?.map(\.answer) == ["not found", "found", "not found", "not asked"])
                #expect(report.candidates?.map(\.certainty) == ["doubtful"], "the library knows no tracks")
                #expect(report.urls.first?.state == "absent" && report.urls.first?.status == 404)
                #expect(report.urls.dropFirst().allSatisfy { $0.state == "unknown" } && report.urls.count == 5)
                let text = try await stage.run("why", "Low Tide")
                #expect(text.status == 0 && text.stdout.contains("not requested again before"), "\(text)")
                #expect(text.stdout.contains("MusicBrainz") && text.stdout.contains("asked again from"))
                let never = try await stage.run("why", "Other")
                #expect(never.status == 0 && never.stdout.contains("No service has answered"), "\(never)")
                #expect(stage.origin.requestCount == requests, "it asks nobody")
                let unknown = try await stage.run("why", "No such album")
                #expect(unknown.status == 1 && unknown.stderr.contains("no album titled"), "\(unknown)")
            }
        }

        @Test func `why tells of a URL whether it is cached, absent, moved or unknown`() async throws {
            try await withStage { stage in
                let cached = stage.urls(1..<2)[0]
                try await stage.fill([cached])
                let report: Report = try await stage.run("why", cached, "--json").json()
                #expect(report.urls.first?.state == "cached" && report.urls.first?.digest?.count == 64)
                #expect(report.sources == nil)
                let unknown = try await stage.run("why", stage.origin.coverURL(2))
                #expect(unknown.status == 0 && unknown.stdout.contains("nothing of it is kept"), "\(unknown)")
                let bad = try await stage.run("why", "ftp://example.org/x")
                #expect(bad.status == 1, "\(bad)")
            }
        }

        @Test(arguments: [
            ["--source-base", "caa"], ["--source-base", "nobody=http://a"], ["--source-base", "caa=ftp://a"],
            ["--source", "caa,x"], ["--source-base", "caa=http://a,itunes=http://b"],
            ["--contact", "me"], ["--contact", "a@b (c)"],
        ])
        func `options of a fill that cannot be meant are refused`(_ arguments: [String]) {
            #expect(throws: (any Error).self) { try FillCommand.parse(arguments) }
        }

        @Test(arguments: ["caa=http://a musicbrainz=http://b", "caa=http://a, musicbrainz=http://b", "caa=http://a "])
        func `a variable of addresses with spaces is told the right form`(_ value: String) async throws {
            try await withStage { stage in
                let result = try await run(
                    ["why", "x"], environment: stage.environment.merging(["SLEEVE_SOURCE_BASE": value]) { $1 })
                #expect(result.status == 1 && result.stderr.contains("NAME=URL,NAME=URL without spaces"), "\(result)")
            }
        }
    }
}
