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
    /// Services of one's own, and those that need a key.
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

        // MARK: Services of one's own

        @Test
        func `a service of one's own is asked for artist and album, at a private address, and every answer names it`()
            async throws
        {
            try await withMusic(["A", "B & C"]) { request in
                request.target == "/art?a=B%20%26%20C&t=Title%20B%20%26%20C" ? Self.picture(7) : Self.notFound
            } _: { stage, server in
                let report = stage.folder + "/report"
                let (counts, result) = try await fill(
                    stage, ["--source", "home=\(server.url)/art?a={artist}&t={album}", "--report", report])
                #expect((counts.filled, counts.missing, counts.failed) == (1, 1, 0), "\(result)")
                #expect(result.stderr.contains("cover.jpg (home)"), "\(result)")
                #expect(pictures(stage)["B & C/Title B & C/cover.jpg"] == CoverImage.jpeg(number: 7))
                #expect(try stage.text(of: report).contains(#""source":"home""#))
                let why = try await stage.run("why", "Title B & C")
                #expect(why.stdout.contains("your source home has it for this artist and album"), "\(why)")
                let refused = try await stage.run("fill", "refuse", "Title B & C")
                #expect(refused.status == 0, "\(refused)")
                let review = try await stage.run("fill", "review", "--refused", "--json")
                #expect(review.stdout.contains(#""source":"home""#), "\(review)")
            }
        }

        @Test func `an answer in JSON names the picture, relative to where a redirect led`() async throws {
            try await withMusic(["A"]) { request in
                switch request.target {
                case "/find?q=Title%20A": httpResponse("302 Found", ["Location: /moved/find?q=1"])
                case "/moved/find?q=1": Self.json(#"{"albums": [{"cover": "../covers/1.jpg"}]}"#)
                case "/covers/1.jpg": Self.picture(3)
                default: Self.notFound
                }
            } _: { stage, server in
                let options = ["--source", "home=\(server.url)/find?q={album}#/albums/0/cover"]
                let (counts, result) = try await fill(stage, options)
                #expect(counts.filled == 1 && result.status == 0, "\(result)")
                #expect(pictures(stage)["A/Title A/cover.jpg"] == CoverImage.jpeg(number: 3))
            }
        }

        @Test(arguments: ["", "#/cover"])
        func `a page in place of a picture or of an answer is a failure, and the next source is asked`(
            _ fragment: String
        )
            async throws
        {
            try await withMusic(["A"]) { request in
                request.target.hasPrefix("/next/")
                    ? Self.picture(4)
                    : httpResponse("200 OK", ["Content-Type: text/html"], Array("<html><p>Sign in</p></html>".utf8))
            } _: { stage, server in
                let own = "home=\(server.url)/{artist}/{album}\(fragment)"
                let (failed, result) = try await fill(stage, ["--source", own])
                #expect(failed.failed == 1 && result.status == 3, "\(result)")
                let (filled, _) = try await fill(stage, ["--source", "\(own),next=\(server.url)/next/{album}"])
                #expect(filled.filled == 1)
            }
        }

        @Test(arguments: [401, 403], ["", "#/cover"])
        func `a service of one's own that refuses is asked once, and the next source for all`(
            _ status: Int, _ fragment: String
        ) async throws {
            try await withMusic(["A", "B", "C"]) { request in
                request.target.hasPrefix("/next/")
                    ? Self.picture(Int(request.target.utf8.last ?? 0)) : httpResponse("\(status) No")
            } _: { stage, server in
                let own = "home=\(server.url)/{artist}/{album}\(fragment),next=\(server.url)/next/{album}"
                let (counts, result) = try await fill(stage, ["--source", own])
                #expect(counts.filled == 3, "\(result)")
                #expect(server.requests.count { !$0.target.hasPrefix("/next/") } == 1)
                let told = "home is not asked any more in this run: it refuses the requests: HTTP \(status)"
                #expect(result.stderr.components(separatedBy: told).count == 2, "\(result)")
                #expect(result.stderr.contains("--source home=URL"), "\(result)")
            }
        }

        @Test(arguments: [("404 Not Found", "not found"), ("500 Internal Server Error", "failed")], ["", "#/cover"])
        func `why does not say that a service of one's own has what it has not, or did not give`(
            _ answer: (status: String, word: String), _ fragment: String
        ) async throws {
            try await withMusic(["A"]) { _ in
                httpResponse(answer.status)
            } _: { stage, server in
                _ = try await fill(
                    stage, ["--source", "home=\(server.url)/{album}?token=hush\(fragment)", "--retries", "0"])
                let why = try await stage.run("why", "Title A", "--json")
                #expect(why.stdout.contains(#""answer":"\#(answer.word)""#) && !why.stdout.contains("hush"), "\(why)")
                #expect(!why.stdout.contains(#""certainty":"certain""#), "\(why)")
            }
        }

        @Test func `a key in the URL of one's own service appears in no result`() async throws {
            try await withMusic(["A"]) { _ in
                Self.picture(1)
            } _: { stage, server in
                let source = ["--source", "home=\(server.url)/{album}?token=hush"]
                let (counts, result) = try await fill(stage, source)
                #expect(counts.filled == 1 && !(result.stdout + result.stderr).contains("hush"), "\(result)")
                func expectHidden(_ words: [String]) async throws {
                    let told = try await SleeveStage.run(words, environment: stage.environment)
                    #expect(told.stdout.contains("token=[hidden]") && !told.stdout.contains("hush"), "\(told)")
                }
                try await expectHidden(["why", "Title A"])
                let why = try await stage.run("why", "Title A", "--json")
                #expect(why.stdout.contains(#"Title%20A?token=[hidden]","#) && !why.stdout.contains("hush"), "\(why)")
                let refused = try await stage.run("fill", "refuse", "Title A")
                #expect(refused.status == 0 && !refused.stderr.contains("hush"), "\(refused)")
                try await expectHidden(["fill", "review", "--refused"])
                try await expectHidden(["fill", "review", "--refused", "--json"])
                // What is printed names the cover.
                let printed = "\(server.url)/Title%20A?token=[hidden]"
                #expect(try await stage.run("fill", "allow", printed).status == 0)
            }
        }

        @Test func `one picture for albums of three artists is no cover, at one's own service neither`() async throws {
            try await withMusic(["A", "B", "C"]) { _ in
                Self.picture(5)
            } _: { stage, server in
                let (counts, result) = try await fill(stage, ["--source", "home=\(server.url)/{artist}/{album}"])
                #expect((counts.filled, counts.doubtful) == (0, 3), "\(result)")
                #expect(pictures(stage).isEmpty && !result.stderr.contains("wrote "), "\(result)")
                let review = try await stage.run("fill", "review")
                #expect(review.stdout.contains("albums of other artists have the same picture"), "\(review)")
                for artist in ["A", "B", "C"] {
                    #expect(review.stdout.contains("  \(server.url)/\(artist)/Title%20\(artist)\n"), "\(review)")
                }
                // The picture is refused for all, by the address of one, and no fill need come.
                let url = "\(server.url)/A/Title%20A"
                #expect(try await stage.run("fill", "refuse", "--everywhere", url).status == 0)
                #expect(try await stage.run("fill", "review").stdout == "No doubtful covers.\n")
                #expect(try await stage.run("fill", "allow", "--everywhere", url).status == 0)
                #expect(try await stage.run("fill", "review").stdout == review.stdout)
            }
        }

        @Test func `a picture that is cut off is not written, and downloaded again by the next fill`() async throws {
            let whole = CoverImage.jpeg(number: 7)
            let isMended = Mutex(false)
            try await withMusic(["A"]) { request in
                let bytes = isMended.withLock { $0 } ? whole : Array(whole.prefix(whole.count * 3 / 5))
                return httpResponse("200 OK", ["Content-Type: image/jpeg", "Cache-Control: max-age=3600"], bytes)
            } _: { stage, server in
                let source = ["--source", "home=\(server.url)/{album}"]
                for _ in 1...2 {
                    let (counts, result) = try await fill(stage, source)
                    #expect((counts.filled, counts.failed) == (0, 1), "\(result)")
                    #expect(result.stderr.contains("the picture is cut off") && pictures(stage).isEmpty, "\(result)")
                }
                isMended.withLock { $0 = true }
                let (counts, result) = try await fill(stage, source + ["--retry-missing"])
                #expect(counts.filled == 1, "\(result)")
                #expect(pictures(stage)["A/Title A/cover.jpg"] == whole)
            }
        }

        @Test func `a picture that cannot be made smaller is named, and not written`() async throws {
            // A GIF of 600 pixels.
            let gif: [UInt8] = Array("GIF89a".utf8) + [88, 2, 88, 2, 0, 0, 0, 0x3B]
            try await withMusic(["A"]) { _ in
                httpResponse("200 OK", ["Content-Type: image/gif"], gif)
            } _: { stage, server in
                let (counts, result) = try await fill(
                    stage, ["--source", "home=\(server.url)/{album}", "--size", "200"])
                #expect(counts.filled == 0 && counts.unwritten == 1, "\(result)")
                #expect(result.stderr.contains("its cover is GIF, which Sleeve makes no smaller"), "\(result)")
                #expect(pictures(stage).isEmpty)
            }
        }

        @Test func `a link to nothing that has a cover's name is named, and stays`() async throws {
            try await withMusic(["A"]) { _ in
                Self.picture(7)
            } _: { stage, server in
                let link = stage.folder + "/music/A/Title A/cover.jpg"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere.jpg")
                let (counts, result) = try await fill(stage, ["--source", "home=\(server.url)/{album}"])
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
        private static let lastFM = ["SLEEVE_LASTFM_KEY": "hush-key"]

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

        @Test func `Last.fm gets the key in the URL, which appears nowhere else`() async throws {
            try await withMusic(["A"]) { request in
                guard request.target.hasSuffix("&api_key=hush-key") else {
                    return request.target == "/i/u/1.jpg" ? Self.picture(8) : Self.notFound
                }
                let image = "http://\(request.field("Host") ?? "")/i/u/300x300/1.jpg"
                return Self.json(
                    ##"{"album": {"name": "Title A", "artist": "A", "image": [{"#text": "\##(image)"}], "tracks": {"track": [{}, {}, {}, {}]}}}"##
                )
            } _: { stage, server in
                let options = ["--source-base", "lastfm=\(server.url)", "--source", "lastfm", "--log-level", "trace"]
                let (counts, result) = try await fill(stage, options, environment: Self.lastFM)
                #expect(counts.filled == 1 && result.stderr.contains("cover.jpg (Last.fm)"), "\(result)")
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

        @Test(arguments: [("discogs", discogs), ("lastfm", lastFM)])
        func `a key does not follow a redirect`(_ name: String, _ key: [String: String]) async throws {
            try await withScriptedServer { _ in
                Self.json("{}")
            } _: { other in
                let target = other.url
                try await withMusic(["A"]) { request in
                    httpResponse("302 Found", ["Location: \(target)\(request.target)"])
                } _: { stage, server in
                    let options = ["--source-base", "\(name)=\(server.url)", "--source", name]
                    let (counts, result) = try await fill(stage, options, environment: key)
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
                let arguments = ["fill", stage.folder + "/music", "--source", "lastfm"]
                for key in ["", "hush\nX-Field: 1", "hush hush"] {
                    let result = try await SleeveStage.run(
                        arguments, environment: stage.environment.merging(["SLEEVE_LASTFM_KEY": key]) { $1 })
                    #expect(result.status == 1 && result.stderr.contains("$SLEEVE_LASTFM_KEY"), "\(result)")
                    try expectNoKey(stage, [result])
                }
            }
        }

        // MARK: The option

        @Test func `services of one's own stand in the order of the others`() throws {
            let own = "home=https://media.lan/x%2Cy?a={artist}&b={album}"
            let options = try SourceOptions.parse([
                "--source", "caa,\(own),tags", "--source", "deezer,other=http://a/{mbid}",
            ])
            #expect(try options.sources().map(\.name.rawValue) == ["caa", "home", "deezer", "other"])
            #expect(options.servicesBeforeTags?.map(\.rawValue).sorted() == ["caa", "home"])
            #expect(options.words == ["--source=caa,\(own),tags,deezer,other=http://a/{mbid}"])
            let based = try SourceOptions.parse(["--source", own, "--source-base", "home=http://127.0.0.1:1"])
            #expect(try based.sources().map(\.base) == ["http://127.0.0.1:1"])
        }

        @Test(arguments: [
            "home", "home=", "=https://a/{album}", "home=https://a/b,c/{album}", "deezer=https://a/{album}",
            "Caa=https://a/{album}",
            "tags=https://a/{album}", "my home=https://a/{album}", "home=media.lan/{album}", "home=https://a/{title}",
            "home=https://a/{album}#albums", "home=https://a/{album},home=https://b/{album}",
            "home=https://me:hush@a/{album}",
        ])
        func `a source that can't be meant is refused`(_ source: String) {
            #expect(throws: (any Error).self) { try SourceOptions.parse(["--source", source]) }
        }

        @Test func `a source that can't be meant is wrong usage, whose password is not repeated`() async throws {
            try await withStage { stage in
                let result = try await stage.run("fill", stage.folder, "--source", "home=https://me:hush@a/{album}")
                #expect(result.status == 64 && !result.stderr.contains("hush"), "\(result)")
            }
        }
    }
}
