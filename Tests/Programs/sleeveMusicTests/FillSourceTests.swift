import ArgumentParser
import CoverSources
import Foundation
import MusicFiles
import OriginServer
import SleeveStage
import Synchronization
import Testing
import Wire

@testable import sleeve

extension MusicTests {
    /// What a service gives in place of a whole cover, and the keys of services.
    @Suite struct FillSourceTests: FillSuite {
        /// Albums of four songs called `Title X` by artist X.
        private func withMusic(
            _ artists: [String], _ answer: @escaping @Sendable (ScriptedServer.Request) -> [UInt8],
            _ body: (_ stage: Stage, _ server: ScriptedServer) async throws -> Void
        ) async throws {
            try await withStage { stage in
                for artist in artists {
                    try MusicFile.writeSongs(
                        4, in: "\(stage.folder)/music/\(artist)/Title \(artist)",
                        MusicTags(album: "Title \(artist)", albumArtist: artist, artist: artist, date: "1999"))
                }
                try await withScriptedServer(answer) { try await body(stage, $0) }
            }
        }

        private func fill(
            _ stage: Stage, _ options: [String], environment: [String: String] = [:]
        ) async throws -> (FillCounts, RunResult) {
            let result = try await SleeveStage.run(
                ["fill", stage.folder + "/music", "--json"] + options,
                environment: stage.environment.merging(environment) { $1 })
            return (try JSONDecoder().decode(FillCounts.self, from: Data(result.stdout.utf8)), result)
        }

        private static func picture(_ number: Int) -> [UInt8] {
            httpResponse("200 OK", ["Content-Type: image/jpeg"], CoverImage.jpeg(number: number))
        }
        private static func json(_ text: String) -> [UInt8] {
            httpResponse("200 OK", ["Content-Type: application/json"], Array(text.utf8))
        }
        private static let notFound = httpResponse("404 Not Found")

        /// Deezer's answers about an album of A, with a picture at `/1.jpg?token=hush`.
        private static func deezer(
            _ request: ScriptedServer.Request, _ picture: @autoclosure () -> [UInt8]
        ) -> [UInt8] {
            let cover = "http://\(request.field("Host") ?? "")/1.jpg?token=hush"
            let album = """
                {"id": 1, "title": "Title A", "artist": {"name": "A"}, "nb_tracks": 4, "release_date": "1999-05-10",
                 "cover_xl": "\(cover)"}
                """
            switch request.target {
            case "/album/1": return json(album)
            case let target where target.hasPrefix("/search/album?"): return json(#"{"data": [\#(album)]}"#)
            default: return picture()
            }
        }

        private static func deezer(at server: ScriptedServer) -> [String] {
            ["--source", "deezer", "--source-base", "deezer=\(server.url)"]
        }

        @Test func `a key in the URL of a cover appears in no result`() async throws {
            try await withMusic(["A"]) { request in
                Self.deezer(request, Self.picture(1))
            } _: { stage, server in
                let (counts, result) = try await fill(stage, Self.deezer(at: server))
                #expect(counts.filled == 1 && !(result.stdout + result.stderr).contains("hush"), "\(result)")
                func expectHidden(_ words: [String]) async throws {
                    let told = try await SleeveStage.run(words, environment: stage.environment)
                    #expect(told.stdout.contains("token=[hidden]") && !told.stdout.contains("hush"), "\(told)")
                }
                try await expectHidden(["why", "Title A"])
                try await expectHidden(["why", "Title A", "--json"])
                let refused = try await stage.run("fill", "refuse", "Title A")
                #expect(refused.status == 0 && !refused.stderr.contains("hush"), "\(refused)")
                try await expectHidden(["fill", "review", "--refused"])
                try await expectHidden(["fill", "review", "--refused", "--json"])
                // What is printed names the cover.
                let printed = "\(server.url)/1.jpg?token=[hidden]"
                #expect(try await stage.run("fill", "allow", printed).status == 0)
            }
        }

        @Test func `a picture that is cut off is not written, and downloaded again by the next fill`() async throws {
            let whole = CoverImage.jpeg(number: 7)
            let isMended = Mutex(false)
            try await withMusic(["A"]) { request in
                let bytes = isMended.withLock { $0 } ? whole : Array(whole.prefix(whole.count * 3 / 5))
                return Self.deezer(
                    request, httpResponse("200 OK", ["Content-Type: image/jpeg", "Cache-Control: max-age=3600"], bytes))
            } _: { stage, server in
                let source = Self.deezer(at: server)
                for _ in 1...2 {
                    let (counts, result) = try await fill(stage, source)
                    #expect((counts.filled, counts.failed) == (0, 1), "\(result)")
                    #expect(result.stderr.contains("the picture is cut off") && pictures(stage).isEmpty, "\(result)")
                }
                isMended.withLock { $0 = true }
                let (counts, result) = try await fill(stage, source)
                #expect(counts.filled == 1, "\(result)")
                #expect(pictures(stage)["A/Title A/cover.jpg"] == whole)
            }
        }

        @Test func `a picture that cannot be made smaller is named, and not written`() async throws {
            // A GIF of 600 pixels.
            let gif: [UInt8] = Array("GIF89a".utf8) + [88, 2, 88, 2, 0, 0, 0, 0x3B]
            try await withMusic(["A"]) { request in
                Self.deezer(request, httpResponse("200 OK", ["Content-Type: image/gif"], gif))
            } _: { stage, server in
                let (counts, result) = try await fill(stage, Self.deezer(at: server) + ["--size", "200"])
                #expect(counts.filled == 0 && counts.unwritten == 1, "\(result)")
                #expect(result.stderr.contains("its cover is GIF, which Sleeve makes no smaller"), "\(result)")
                #expect(pictures(stage).isEmpty)
            }
        }

        @Test func `a link to nothing that has a cover's name is named, and stays`() async throws {
            try await withMusic(["A"]) { request in
                Self.deezer(request, Self.picture(7))
            } _: { stage, server in
                let link = stage.folder + "/music/A/Title A/cover.jpg"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere.jpg")
                let (counts, result) = try await fill(stage, Self.deezer(at: server))
                #expect((counts.filled, counts.unwritten) == (0, 1), "\(result)")
                #expect(result.stderr.contains("cover.jpg is no image, or cannot be read; remove or rename it"))
                let audit = try await stage.run("audit", stage.folder + "/music")
                #expect(audit.stdout.contains("damaged") && !audit.stdout.contains("missing"), "\(audit)")
            }
        }

        // MARK: Keys

        /// Nothing that a run leaves behind has the key, which begins with `hush`.
        private func expectNoKey(_ stage: Stage, _ results: [RunResult]) throws {
            for result in results { #expect(!(result.stdout + result.stderr).contains("hush"), "\(result)") }
            for file in try FileManager.default.subpathsOfDirectory(atPath: stage.folder) {
                let bytes = FileManager.default.contents(atPath: "\(stage.folder)/\(file)") ?? Data()
                #expect(bytes.firstRange(of: Data("hush".utf8)) == nil, "\(file)")
            }
        }

        private static let discogs = ["SLEEVE_DISCOGS_TOKEN": "hush-token"]

        @Test func `Discogs gets the token in a field, and its album is the cover`() async throws {
            try await withMusic(["A"]) { request in
                let isKnown = request.field("Authorization") == "Discogs token=hush-token"
                switch request.target {
                case let target where target.hasPrefix("/database/search?"):
                    return isKnown
                        ? Self.json(
                            #"{"results": [{"id": 1, "type": "release", "title": "A - Title A", "year": "1999", "cover_image": "x"}]}"#
                        )
                        : httpResponse("401 Unauthorized")
                case "/releases/1" where isKnown:
                    let song = #"{"type_": "track", "duration": ""}"#
                    let image = "http://\(request.field("Host") ?? "")/1.jpeg"
                    return Self.json(
                        #"{"title": "Title A", "year": 1999, "artists": [{"name": "A (3)"}], "tracklist": [\#(song), \#(song), \#(song), \#(song)], "images": [{"type": "primary", "uri": "\#(image)"}]}"#
                    )
                case "/1.jpeg" where request.field("Authorization") == nil: return Self.picture(6)
                default: return Self.notFound
                }
            } _: { stage, server in
                let options = ["--source-base", "discogs=\(server.url)", "--source", "discogs", "--log-level", "trace"]
                let (counts, result) = try await fill(stage, options, environment: Self.discogs)
                #expect(counts.filled == 1 && result.stderr.contains("cover.jpg (Discogs)"), "\(result)")
                #expect(server.requests.allSatisfy { !$0.target.contains("hush") })
                try expectNoKey(stage, [result, try await stage.run("why", "Title A", "--json")])
            }
        }

        @Test func `a key that is wrong is told once, and its service asked once`() async throws {
            try await withMusic(["A", "B", "C"]) { _ in
                httpResponse("401 Unauthorized")
            } _: { stage, server in
                let options = ["--source-base", "discogs=\(server.url)", "--source", "discogs"]
                let (counts, result) = try await fill(stage, options, environment: Self.discogs)
                #expect(counts.failed == 3 && result.status == 3, "\(result)")
                #expect(server.requests.count == 1)
                #expect(
                    result.stderr.components(separatedBy: "Discogs is not asked any more in this run").count == 2,
                    "\(result)")
                #expect(result.stderr.contains("$SLEEVE_DISCOGS_TOKEN"))
                try expectNoKey(stage, [result])
            }
        }

        @Test func `a key does not follow a redirect`() async throws {
            try await withScriptedServer { _ in
                Self.json("{}")
            } _: { other in
                let target = other.url
                try await withMusic(["A"]) { request in
                    httpResponse("302 Found", ["Location: \(target)\(request.target)"])
                } _: { stage, server in
                    let options = ["--source-base", "discogs=\(server.url)", "--source", "discogs"]
                    let (counts, result) = try await fill(stage, options, environment: Self.discogs)
                    #expect(counts.failed == 1 && other.requests.isEmpty, "\(result)")
                    #expect(server.requests.contains { $0.head.contains("hush") })
                    try expectNoKey(stage, [result])
                }
            }
        }

        @Test func `a service that is named without its key is an error, and a key with a line break one, too`()
            async throws
        {
            try await withMusic(["A"]) { _ in
                Self.notFound
            } _: { stage, _ in
                let arguments = ["fill", stage.folder + "/music", "--source", "discogs"]
                for key in ["", "hush\nX-Field: 1", "hush hush"] {
                    let result = try await SleeveStage.run(
                        arguments, environment: stage.environment.merging(["SLEEVE_DISCOGS_TOKEN": key]) { $1 })
                    #expect(result.status == 1 && result.stderr.contains("$SLEEVE_DISCOGS_TOKEN"), "\(result)")
                    try expectNoKey(stage, [result])
                }
            }
        }

        // MARK: The option

        @Test func `sources are asked in their order, and those before the tags are known`() throws {
            let options = try SourceOptions.parse(["--source", "caa,tags", "--source", "deezer"])
            #expect(try options.sources().map(\.name) == [.caa, .deezer])
            #expect(options.servicesBeforeTags == [.caa])
            #expect(options.words == ["--source=caa,tags,deezer"])
            #expect(try SourceOptions.parse(["--source", "caa"]).servicesBeforeTags == nil)
        }

        @Test func `several addresses in one option are told the right form`() {
            let error = #expect(throws: (any Error).self) {
                try FillCommand.parse(["--source-base", "caa=http://a,itunes=http://b"])
            }
            let form = "write --source-base caa=http://a --source-base itunes=http://b"
            #expect(error.map { FillCommand.message(for: $0) }?.contains(form) == true)
        }

        @Test(arguments: ["home", "caa,", "home=https://a/{album}", "lastfm", "Caa"])
        func `a source that is not known is refused`(_ source: String) {
            #expect(throws: (any Error).self) { try SourceOptions.parse(["--source", source]) }
        }
    }
}
