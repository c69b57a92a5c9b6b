import Foundation
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    @Suite struct ExportTests {
        struct ExportSummaryLine: Decodable, Equatable {
            var albums, written, unchanged, kept, missing, failed, outdated, bytes: Int
            var stopReason: String?
        }

        /// Writes a library of albums with these covers, and prefetches them.
        private func library(_ numbers: Range<Int>, in stage: Stage, query: String = "size=4000") async throws {
            let albums = numbers.map { number in
                """
                {"id": "id\(number)", "title": "Album \(number)", "artist": "Artist", "coverUrl": "\(stage.origin.coverURL(number))?\(query)"}
                """
            }
            _ = try stage.file("albums.json", "[\(albums.joined(separator: ",\n"))]")
            let result = try await stage.run("prefetch", "--quiet")
            try #require(result.status == 0, "\(result)")
        }

        private func export(_ stage: Stage, _ options: String..., status: Int32 = 0) async throws -> ExportSummaryLine {
            let result = try await SleeveStage.run(
                ["export", stage.folder + "/out", "--json"] + options, environment: stage.environment)
            #expect(result.status == status, "\(result)")
            return try result.json()
        }

        /// The files of the export that are not hidden, by path.
        private func files(_ stage: Stage) -> [String: Data] {
            let root = stage.folder + "/out"
            var files: [String: Data] = [:]
            for case let path as String in FileManager.default.enumerator(atPath: root) ?? .init() {
                if let data = FileManager.default.contents(atPath: "\(root)/\(path)"), !path.contains(".sleeve") {
                    files[path] = data
                }
            }
            return files
        }

        private func cover(_ number: Int) -> Data { Data(CoverImage.jpeg(number: number, aboutBytes: 4_000)) }

        @Test func `every cover becomes a file, and a second run writes nothing`() async throws {
            try await withStage { stage in
                try await library(0..<20, in: stage)
                let first = try await export(stage)
                #expect(
                    first.written == 20 && first.unchanged == 0
                        && first.bytes == (0..<20).reduce(0) { $0 + cover($1).count })
                #expect(
                    files(stage)
                        == Dictionary(
                            uniqueKeysWithValues: (0..<20).map { ("Artist/Album \($0)/cover.jpg", cover($0)) }))
                let manifest = try stage.text(of: stage.folder + "/out/.sleeve-export.jsonl")
                let times = try FileManager.default.attributesOfItem(
                    atPath: stage.folder + "/out/Artist/Album 3/cover.jpg")
                let second = try await export(stage)
                #expect(second.written == 0 && second.unchanged == 20)
                #expect(try stage.text(of: stage.folder + "/out/.sleeve-export.jsonl") == manifest)
                let after = try FileManager.default.attributesOfItem(
                    atPath: stage.folder + "/out/Artist/Album 3/cover.jpg")
                #expect(times[.systemFileNumber] as? Int == after[.systemFileNumber] as? Int)
            }
        }

        @Test func `a file that a person put there or changed is kept, and said, until it is gone`() async throws {
            try await withStage { stage in
                try await library(0..<3, in: stage)
                let folder = stage.folder + "/out/Artist/Album 0"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try Data("mine".utf8).write(to: URL(filePath: folder + "/cover.jpg"))
                #expect(try await export(stage, status: 3).kept == 1)
                let changed = stage.folder + "/out/Artist/Album 1/cover.jpg"
                try Data("edited".utf8).write(to: URL(filePath: changed))
                let result = try await stage.run("export", stage.folder + "/out")
                #expect(result.status == 3)
                #expect(result.stderr.contains("Album 0/cover.jpg: kept: no export wrote it"), "\(result)")
                #expect(result.stderr.contains("Album 1/cover.jpg: kept: it was changed since"), "\(result)")
                #expect(files(stage)["Artist/Album 0/cover.jpg"] == Data("mine".utf8))
                #expect(files(stage)["Artist/Album 1/cover.jpg"] == Data("edited".utf8))
                try FileManager.default.removeItem(atPath: folder + "/cover.jpg")
                try FileManager.default.removeItem(atPath: changed)
                let last = try await export(stage)
                #expect(last.written == 2 && files(stage)["Artist/Album 0/cover.jpg"] == cover(0))
            }
        }

        @Test func `a cover that changed replaces what an export wrote, and not what has its length and time`()
            async throws
        {
            try await withStage { stage in
                try await library(0..<2, in: stage)
                _ = try await export(stage)
                // The same length and time, other bytes: only the digest tells.
                let path = stage.folder + "/out/Artist/Album 0/cover.jpg"
                let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
                let forged = Data(repeating: 7, count: cover(0).count)
                try forged.write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.modificationDate: try #require(date)], ofItemAtPath: path)
                let text = try stage.text(of: stage.folder + "/albums.json")
                _ = try stage.file(
                    "albums.json", text.replacing("/0.jpg?", with: "/8.jpg?").replacing("/1.jpg?", with: "/9.jpg?"))
                #expect(try await stage.run("prefetch", "--quiet").status == 0)
                let summary = try await export(stage, status: 3)
                #expect(summary.written == 1 && summary.kept == 1)
                #expect(files(stage) == ["Artist/Album 0/cover.jpg": forged, "Artist/Album 1/cover.jpg": cover(9)])
            }
        }

        @Test func `files of albums that are gone stay until --prune, and a person's stay for ever`() async throws {
            try await withStage { stage in
                try await library(0..<4, in: stage)
                _ = try await export(stage)
                try Data("notes".utf8).write(to: URL(filePath: stage.folder + "/out/Artist/Album 2/notes.txt"))
                try Data("mine".utf8).write(to: URL(filePath: stage.folder + "/out/Artist/Album 3/cover.jpg"))
                try await library(0..<1, in: stage)
                let kept = try await export(stage)
                #expect(kept.outdated == 2 && files(stage).count == 5)
                let dry = try await stage.run("export", stage.folder + "/out", "--prune", "--dry-run")
                #expect(dry.stdout.contains("remove  Artist/Album 1/cover.jpg\n"), "\(dry)")
                #expect(files(stage).count == 5)
                #expect(try await export(stage, "--prune").outdated == 2)
                #expect(
                    Set(files(stage).keys) == [
                        "Artist/Album 0/cover.jpg", "Artist/Album 2/notes.txt", "Artist/Album 3/cover.jpg",
                    ])
                let folders = try FileManager.default.contentsOfDirectory(atPath: stage.folder + "/out/Artist")
                #expect(Set(folders) == ["Album 0", "Album 2", "Album 3"], "a folder that is empty then is removed")
            }
        }

        @Test func `an album whose cover was evicted keeps its file`() async throws {
            try await withStage { stage in
                try await library(0..<2, in: stage)
                _ = try await export(stage)
                #expect(try await stage.run("cache", "remove", stage.urls(1..<2)[0]).status == 0)
                let summary = try await export(stage, "--prune", status: 3)
                #expect(summary.missing == 1 && summary.outdated == 0 && files(stage).count == 2)
                let text = try await stage.run("export", stage.folder + "/out")
                #expect(
                    text.stdout.contains("1 album has no cached cover; `sleeve prefetch` downloads those with a URL"),
                    "\(text)")
                #expect(stage.origin.requestCount == 2, "an export downloads nothing")
            }
        }

        @Test func `times of files change nothing`() async throws {
            try await withStage { stage in
                try await library(0..<3, in: stage)
                _ = try await export(stage)
                let manifest = try stage.text(of: stage.folder + "/out/.sleeve-export.jsonl")
                // An hour is daylight saving on FAT, and a copy has the time of copying.
                for (number, offset) in [(0, -3_600.0), (1, 100_000)] {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSinceNow: offset)],
                        ofItemAtPath: stage.folder + "/out/Artist/Album \(number)/cover.jpg")
                }
                let same = try await export(stage)
                #expect(same.unchanged == 3 && same.written == 0 && same.kept == 0)
                #expect(try stage.text(of: stage.folder + "/out/.sleeve-export.jsonl") != manifest)
                // Still the export's own.
                let text = try stage.text(of: stage.folder + "/albums.json")
                _ = try stage.file("albums.json", text.replacing("/0.jpg?", with: "/7.jpg?"))
                #expect(try await stage.run("prefetch", "--quiet").status == 0)
                #expect(try await export(stage).written == 1)
                #expect(files(stage)["Artist/Album 0/cover.jpg"] == cover(7))
            }
        }

        @Test func `a library neither replaces nor removes what another one has exported`() async throws {
            try await withStage { stage in
                try await library(0..<2, in: stage)
                _ = try await export(stage)
                let other = stage.folder + "/other.json"
                let albums = """
                    [{"id": "x", "title": "Album 0", "artist": "Artist", "coverUrl": "\(stage.origin.coverURL(5))?size=4000"}]
                    """
                try Data(albums.utf8).write(to: URL(filePath: other))
                #expect(try await stage.run("prefetch", "--quiet", "--library", other).status == 0)
                let summary = try await export(stage, "--prune", "--library", other, status: 3)
                #expect(summary.kept == 1 && summary.outdated == 0 && summary.written == 0)
                #expect(files(stage)["Artist/Album 0/cover.jpg"] == cover(0) && files(stage).count == 2)
                // A library that was moved is the same one.
                for name in ["albums.json", "albums.json.state"] {
                    try FileManager.default.moveItem(
                        atPath: "\(stage.folder)/\(name)", toPath: stage.folder + "/moved" + name.dropFirst(6))
                }
                let moved = stage.folder + "/moved.json"
                try Data("[]".utf8).write(to: URL(filePath: moved))
                #expect(try await export(stage, "--prune", "--library", moved).outdated == 2)
                #expect(files(stage).isEmpty)
            }
        }

        @Test func `the cover file beside an album's music is what is exported`() async throws {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                let own = CoverImage.jpeg(number: 3, aboutBytes: 4_000)
                try Data(own).write(to: URL(filePath: stage.folder + "/my cover%.jpg"))
                _ = try stage.file(
                    "albums.json",
                    """
                    [{"id": "1", "title": "Album", "artist": "Artist", "coverFile": "\(stage.folder)/my cover%25.jpg"}]
                    """)
                #expect(try await export(stage).written == 1)
                #expect(files(stage) == ["Artist/Album/cover.jpg": Data(own)])
                #expect(stage.origin.requestCount == 1)
            }
        }

        @Test(arguments: [
            ("{\"sleeve\":\"export\",\"version\":9}\n", "another version"),
            (String(repeating: "\0", count: 90), "first line is damaged"), ("Dear\n", "first line is damaged"),
        ])
        func `a record that cannot be read is said to be what it is, and stays`(text: String, reason: String)
            async throws
        {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/out", withIntermediateDirectories: false)
                let record = try stage.file("out/.sleeve-export.jsonl", text)
                let result = try await stage.run("export", stage.folder + "/out")
                #expect(result.status == 1 && result.stderr.contains(reason), "\(result)")
                #expect(try stage.text(of: record) == text && files(stage).isEmpty)
            }
        }

        @Test func `a symbolic link in the folder is not followed`() async throws {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                let elsewhere = stage.folder + "/elsewhere"
                try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
                try FileManager.default.createDirectory(
                    atPath: stage.folder + "/out", withIntermediateDirectories: true)
                try FileManager.default.createSymbolicLink(
                    atPath: stage.folder + "/out/Artist", withDestinationPath: elsewhere)
                #expect(try await export(stage, status: 3).failed == 1)
                #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == [])
            }
        }

        @Test func `damaged bytes are never exported`() async throws {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                let path = try #require(stage.coverFiles().first)
                try Data(repeating: 1, count: cover(0).count).write(to: URL(filePath: path))
                let result = try await stage.run("export", stage.folder + "/out")
                #expect(result.status == 3 && result.stderr.contains("damaged"), "\(result)")
                #expect(files(stage).isEmpty)
            }
        }

        #if os(Linux)
            @Test func `a killed export leaves whole files, and the next one completes it`() async throws {
                try await withStage { stage in
                    let out = stage.folder + "/out"
                    try await library(0..<100, in: stage)
                    // Before the first files have their names, and after; each run begins by removing what the last one left.
                    for operation in [3, 100, 330, 30, 60, 120] {
                        let killed = try stage.start(
                            ["export", out, "--quiet"], disk: ["DISK_ROOT": out, "DISK_KILL": "\(operation)"])
                        let result = await killed.exit()
                        #expect(result.signal == SIGKILL, "\(result)")
                        for (path, data) in files(stage) {
                            let number = Int(path.split(separator: "/")[1].dropFirst(6))
                            #expect(data == number.map(cover), "\(path) is whole")
                        }
                    }
                    let count = files(stage).count
                    #expect((1..<100).contains(count))
                    let last = try await export(stage)
                    #expect(last.written + last.unchanged == 100 && last.kept == 0)
                    #expect(files(stage).count == 100)
                    let hidden = try FileManager.default.subpathsOfDirectory(atPath: out).filter {
                        $0.contains(".part")
                    }
                    #expect(hidden.isEmpty, "leftovers of killed exports are swept where files are written: \(hidden)")
                }
            }
        #endif

        @Test func `a name with an extension takes pictures of its type only, and says which others there are`()
            async throws
        {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                let result = try await stage.run("export", stage.folder + "/out", "--as", "{album}/folder.png")
                #expect(result.status == 3, "\(result)")
                #expect(result.stderr.contains("Album 0/folder.png: not written: the cover is image/jpeg"), "\(result)")
                #expect(files(stage).isEmpty)
            }
        }

        @Test func `patterns that cannot be are usage errors, and the cache is no target`() async throws {
            try await withStage { stage in
                try await library(0..<1, in: stage)
                let unknown = try await stage.run("export", stage.folder + "/out", "--as", "{albun}")
                #expect(
                    unknown.status == 64 && unknown.stderr.contains("{albumartist}, {artist}, {album}"), "\(unknown)")
                for target in [stage.cache, stage.cache + "/x"] {
                    let inside = try await stage.run("export", target)
                    #expect(inside.status == 1 && inside.stderr.contains("it is in the cache"), "\(inside)")
                }
                let file = try stage.file("file", "")
                #expect(try await stage.run("export", file).status == 1)
            }
        }
    }
}
