import CoverLibrary
import Foundation
import OriginServer
import SleeveStage
import Testing
import Wire

extension MusicTests {
    @Suite struct LibraryFileTests {
        @Test func `without a library and a list, a prefetch creates starter albums, with their covers in the cache`()
            async throws
        {
            try await withStage { stage in
                let library = stage.folder + "/deep/er/albums.json"
                for command in [["list"], ["show", "Low Tide"]] {
                    let reading = try await run(
                        ["album"] + command + ["--library", library], environment: stage.environment)
                    #expect(
                        reading.status == 1 && reading.stderr.contains("no library file at \(library)"), "\(reading)")
                    #expect(!FileManager.default.fileExists(atPath: library))
                }
                let named = try await stage.run("prefetch", "--offline", "--library", library)
                #expect(named.status == 1 && named.stderr.contains("no library file at \(library)"), "\(named)")
                let result = try await run(
                    ["prefetch", "--offline", "--json"],
                    environment: stage.environment.merging(["SLEEVE_LIBRARY": library]) { $1 })
                #expect(
                    result.status == 0 && result.stderr.contains("created \(library) with twelve starter albums"),
                    "\(result)")
                let urls = try stage.albums(of: library).compactMap(\.coverUrl)
                #expect(urls.count == 12 && urls.allSatisfy { $0.hasPrefix("https://covers.invalid/starter/") })

                let again = try await stage.run("prefetch", "--library", library, "--json")
                #expect(again.status == 0 && !again.stderr.contains("created "), "\(again)")
                #expect(try again.summary().fresh == 12)
                let cover = try await stage.run("get", "--offline", urls[0], "-o", stage.folder + "/x.jpg")
                #expect(cover.status == 0, "\(cover)")
                // Nothing serves the covers, so another cache gets them too.
                let other = try await stage.run(
                    "prefetch", "--library", library, "--json", "--cache", stage.folder + "/other")
                #expect(other.status == 0, "\(other)")
            }
        }

        @Test func `a library that begins with an edit has no starter albums`() async throws {
            try await withStage { stage in
                let list = try stage.file("own.csv", "title,path\nMine,/m/a\n")
                for command in [["album", "add", "--title", "Mine"], ["album", "import", list]] {
                    let library = stage.folder + "/\(command[1]).json"
                    let result = try await run(command + ["--library", library], environment: stage.environment)
                    #expect(result.status == 0 && !result.stderr.contains("starter"), "\(result)")
                    #expect(try stage.albums(of: library).map(\.title) == ["Mine"])
                    _ = try await stage.run("album", "undo", "--library", library)
                    let listed = try await stage.run("album", "list", "--library", library)
                    #expect(listed.stdout.contains("The library is empty"), "\(listed)")
                }
            }
        }

        @Test func `the library remembers its remote, and edits say where they went`() async throws {
            let remote = try RemoteLibrary()
            defer { remote.stop() }
            try await withStage { stage in
                _ = try stage.file("albums.json", "[]")
                let silent = try await stage.run("album", "add", "--title", "A")
                #expect(silent.stderr == "", "\(silent)")
                let set = try await stage.run("album", "remote", remote.url)
                #expect(set.status == 0 && set.stdout == "Edits are sent to \(remote.url)\n", "\(set)")
                let shown = try await stage.run("album", "remote")
                #expect(shown.stdout == remote.url + "\n", "\(shown)")
                let sent = try await stage.run("album", "add", "--title", "B")
                #expect(sent.stderr.contains("sent 1 edit to \(remote.url)"), "\(sent)")
                let away = try await stage.run("album", "add", "--title", "C", "--remote", "http://127.0.0.1:1")
                #expect(away.stderr.contains("1 edit queued"), "\(away)")
                #expect(remote.edits == ["add B"])
                let wrong = try await stage.run("album", "remote", "ftp://a")
                #expect(wrong.status == 1, "\(wrong)")
                let none = try await stage.run("album", "remote", "--none")
                #expect(none.stdout == "Edits are sent nowhere\n", "\(none)")
                _ = try await stage.run("album", "add", "--title", "D")
                #expect(remote.edits == ["add B"])
            }
        }

        @Test func `the starter library of a real origin is prefetched completely`() async throws {
            try await withStage { stage in
                let library = stage.folder + "/starter.json"
                let origin = try stage.start("origin", "--port", "0", "--albums", library)
                let url = try #require(await origin.firstOutputLine())
                #expect(url.hasPrefix("http://127.0.0.1:"))
                let first = try await stage.run("prefetch", "--library", library, "--json")
                #expect(first.status == 0, "\(first)")
                let albums = try stage.albums(of: library)
                #expect(try first.summary().downloaded == albums.count)
                let entries = try await stage.entries()
                #expect(Set(entries.map(\.url)) == Set(albums.compactMap(\.coverUrl)))
                // An unknown slug would get a generated cover.
                #expect(entries.allSatisfy { $0.width == 600 && $0.height == 600 }, "\(entries)")
                origin.kill(SIGTERM)
                let ended = await origin.exit()
                #expect(ended.signal == nil, "\(ended)")

                let second = try await stage.run("prefetch", "--library", library, "--json")
                #expect(second.status == 0)
                #expect(try second.summary().fresh == albums.count)
            }
        }

        @Test func `an existing library file is left unchanged`() async throws {
            try await withStage { stage in
                let text = "[{\"title\": \"Mine\", \"coverUrl\": \"\(stage.urls(0..<1)[0])\"}]"
                let library = try stage.file("albums.json", text)
                // Found through $SLEEVE_LIBRARY.
                let result = try await stage.run("prefetch", "--json")
                #expect(try result.summary().downloaded == 1, "\(result)")
                #expect(try stage.text(of: library) == text)
            }
        }

        @Test func `a library file that cannot be created is an error before any request`() async throws {
            try await withStage { stage in
                let file = try stage.file("plain", "")
                let environment = stage.environment.merging(["SLEEVE_LIBRARY": file + "/albums.json"]) { $1 }
                let result = try await run(["prefetch"], environment: environment)
                #expect(result.status == 1)
                #expect(result.stderr.contains("cannot write \(file)/albums.json"), "\(result)")
                #expect(!result.stderr.contains("Error Domain"), "\(result)")
            }
        }

        @Test func `cache and library file are in the XDG directories`() async throws {
            try await withStage { stage in
                var environment = ["HOME": stage.folder, "XDG_CACHE_HOME": "relative/is/ignored"]
                var result = try await SleeveStage.run(["prefetch", "--offline", "--quiet"], environment: environment)
                #expect(result.status == 0, "\(result)")
                let files = FileManager.default
                #expect(files.fileExists(atPath: stage.folder + "/.cache/sleeve/CACHEDIR.TAG"))
                #expect(files.fileExists(atPath: stage.folder + "/.local/share/sleeve/albums.json"))

                environment["XDG_CACHE_HOME"] = stage.folder + "/c"
                environment["XDG_DATA_HOME"] = stage.folder + "/d"
                result = try await SleeveStage.run(["prefetch", "--offline", "--quiet"], environment: environment)
                #expect(files.fileExists(atPath: stage.folder + "/c/sleeve/CACHEDIR.TAG"))
                #expect(files.fileExists(atPath: stage.folder + "/d/sleeve/albums.json"))

                let nowhere = try await SleeveStage.run(["cache", "stats"], environment: [:])
                #expect(nowhere.status == 1)
                #expect(nowhere.stderr.contains("$HOME is not set"), "\(nowhere)")
            }
        }
    }

    @Suite struct OriginCommandTests {
        @Test func `the origin serves the URLs that it prints`() async throws {
            try await withStage { stage in
                let result = try await stage.run("origin", "--port", "\(stage.origin.port)", "--urls", "3")
                #expect(result.stdout == (0..<3).map { stage.origin.coverURL($0) + "\n" }.joined())
                let fetched = try await stage.run("prefetch", "-", "--json", stdin: .text(result.stdout))
                #expect(try fetched.summary().downloaded == 3, "\(fetched)")
            }
        }

        @Test func `the written files are the covers that the origin serves`() async throws {
            try await withStage { stage in
                let folder = stage.folder + "/files"
                let result = try await stage.run("origin", "--write-to", folder, "--count", "3")
                #expect(result.status == 0, "\(result)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 3)
                #expect(try Data(contentsOf: URL(filePath: folder + "/2.jpg")) == Data(CoverImage.jpeg(number: 2)))
            }
        }

        @Test func `a folder with a file that is no such cover gets none, one with covers the others`() async throws {
            try await withStage { stage in
                let covers = (0..<3).map { Data(CoverImage.jpeg(number: $0)) }
                func write() async throws -> RunResult {
                    try await stage.run("origin", "--write-to", stage.folder, "--count", "3")
                }
                let own = try stage.file("1.jpg", "my own")
                let refused = try await write()
                #expect(refused.status == 1 && refused.stderr.contains("\(own) has something else"), "\(refused)")
                #expect(try stage.text(of: own) == "my own")
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/0.jpg"))

                // As an end in the midst leaves it.
                try covers[1].prefix(1_000).write(to: URL(filePath: own))
                for _ in 0..<2 { #expect(try await write().status == 0) }
                for (number, cover) in covers.enumerated() {
                    #expect(try Data(contentsOf: URL(filePath: "\(stage.folder)/\(number).jpg")) == cover)
                }
            }
        }

        @Test(arguments: ["origin", "serve"])
        func `a port in use is reported, and no library is created for it`(command: String) async throws {
            try await withStage { stage in
                let (port, library) = ("\(stage.origin.port)", "\(stage.folder)/new.json")
                let option = command == "serve" ? "--library" : "--albums"
                let result = try await stage.run(command, "--port", port, option, library)
                #expect(!FileManager.default.fileExists(atPath: library))
                #expect(result.status == 1)
                #expect(result.stderr.contains("cannot listen on 127.0.0.1:\(stage.origin.port)"), "\(result)")
            }
        }
    }
}
