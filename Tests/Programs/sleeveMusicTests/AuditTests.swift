import Foundation
import MusicFiles
import Platform
import SleeveStage
import Testing

extension MusicTests {
    @Suite struct AuditTests {
        struct FindingLine: Decodable, Equatable {
            var kind, artist, title, path, detail: String
            var width, height: Int?
        }

        /// Writes a track of an album into `music` of the stage, with its picture in the tags.
        private func track(_ stage: Stage, _ name: String, artist: String, embedded: MusicPicture? = nil) throws {
            let album = name.split(separator: "/").first.map(String.init) ?? name
            try MusicFile.write(
                "\(stage.folder)/music/\(name).flac",
                MusicTags(
                    album: album, albumArtist: artist, artist: artist, pictures: embedded.map { [$0] } ?? []))
        }

        private func cover(_ stage: Stage, _ name: String, _ bytes: [UInt8]) throws {
            try Data(bytes).write(to: URL(filePath: "\(stage.folder)/music/\(name)"))
        }

        private func audit(_ stage: Stage, _ arguments: String..., status: Int32 = 3) async throws -> [FindingLine] {
            let result = try await SleeveStage.run(["audit", "--json"] + arguments, environment: stage.environment)
            #expect(result.status == status, "\(result)")
            return try result.lines()
        }

        private func music(_ stage: Stage) -> String { stage.folder + "/music" }

        /// The names of everything below the music folder, with the times of modification.
        private func files(_ stage: Stage) throws -> [String: Date] {
            var files: [String: Date] = [:]
            for case let path as String in FileManager.default.enumerator(atPath: music(stage)) ?? .init() {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(music(stage))/\(path)")
                files[path] = attributes[.modificationDate] as? Date
            }
            return files
        }

        @Test func `each kind of bad cover is found, and folders, library and cache stay as they are`() async throws {
            try await withStage { stage in
                try track(stage, "Bare/1", artist: "A")
                try track(stage, "Empty/1", artist: "A")
                try cover(stage, "Empty/cover.jpg", [])
                try track(stage, "Small/1", artist: "A")
                try cover(stage, "Small/Folder.JPG", MusicPicture.jpeg(320, 300, number: 1).bytes)
                try track(stage, "Cut/1", artist: "A")
                try cover(stage, "Cut/front.png", Array(MusicPicture.jpeg(number: 3).bytes.dropLast()))
                try track(stage, "Pixel/1", artist: "A")
                try cover(stage, "Pixel/cover.jpg", MusicPicture.jpeg(1, 1).bytes)
                for artist in ["B", "C", "D"] {
                    try track(stage, "Same \(artist)/1", artist: artist)
                    try cover(stage, "Same \(artist)/cover.jpg", MusicPicture.jpeg(number: 4).bytes)
                }
                try track(stage, "Good/1", artist: "A", embedded: .jpeg(number: 9))
                try cover(stage, "Good/cover.jpg", MusicPicture.jpeg(number: 9).bytes)
                let before = try files(stage)
                let found = try await audit(stage, music(stage))
                let root = URL(filePath: music(stage)).resolvingSymlinksInPath().path()
                #expect(
                    found.map { "\($0.kind) \($0.path.replacing(root + "/", with: ""))" } == [
                        "missing Bare", "missing Empty", "small Small/Folder.JPG", "damaged Cut/front.png",
                        "placeholder Pixel/cover.jpg", "repeated Same B/cover.jpg",
                        "repeated Same C/cover.jpg", "repeated Same D/cover.jpg",
                    ])
                let small = try #require(found.first { $0.kind == "small" })
                #expect(small.artist == "A" && small.title == "Small" && small.width == 320 && small.height == 300)
                #expect(try files(stage) == before)
                #expect(!FileManager.default.fileExists(atPath: stage.folder + "/albums.json"))
                #expect(!FileManager.default.fileExists(atPath: stage.cache))
            }
        }

        @Test func `the table has a line for each finding and counts them, and only those that are wanted`()
            async throws
        {
            try await withStage { stage in
                try track(stage, "Bare\u{1B}[31m/1", artist: "A")
                try track(stage, "Small/1", artist: "A")
                try cover(stage, "Small/cover.jpg", MusicPicture.jpeg(640, 600).bytes)
                let all = try await stage.run("audit", music(stage), "--min-pixels", "700")
                #expect(all.status == 3)
                let lines = all.stdout.split(separator: "\n")
                #expect(lines.count == 4 && lines[0].hasPrefix("Kind") && !all.stdout.contains("\u{1B}"), "\(all)")
                #expect(lines.last == "2 albums audited: 1 missing, 1 small.")
                #expect(
                    try await audit(stage, music(stage), "--min-pixels", "700", "--only", "small").map(\.kind) == [
                        "small"
                    ])
                #expect(try await audit(stage, music(stage), "--only", "small,damaged", status: 0).isEmpty)
                let none = try await stage.run("audit", music(stage), "--only", "damaged")
                #expect(none.status == 0 && none.stdout == "2 albums audited: nothing found.\n")
                let quiet = try await stage.run("audit", music(stage), "--only", "damaged", "--quiet")
                #expect(quiet.status == 0 && quiet.stdout.isEmpty && quiet.stderr.isEmpty)
                // Nothing is said of a size that is not read.
                try cover(stage, "Small/cover.jpg", [0xFF, 0x0A, 0x7F, 0x40])
                let unknown = try await stage.run("audit", music(stage), "--only", "small")
                let text = "2 albums audited: nothing found; size unknown: 1 cover file.\n"
                #expect(unknown.status == 0 && unknown.stdout == text, "\(unknown)")
            }
        }

        @Test func `without a folder those are audited that were scanned, as they are now`() async throws {
            try await withStage { stage in
                try track(stage, "Low Tide/1", artist: "A")
                let nothing = try await stage.run("audit")
                #expect(nothing.status == 1 && nothing.stderr.contains("no folder was scanned"), "\(nothing)")
                #expect(try await stage.run("album", "scan", music(stage), "--quiet").status == 0)
                let library = try stage.text(of: stage.folder + "/albums.json")
                #expect(try await audit(stage).map(\.kind) == ["missing"])
                try cover(stage, "Low Tide/cover.jpg", MusicPicture.jpeg().bytes)
                try track(stage, "New/1", artist: "A")
                #expect(try await audit(stage).map(\.title) == ["New"])
                // The albums that an audit has seen first are new for the next scan.
                #expect(try stage.text(of: stage.folder + "/albums.json") == library)
                #expect(try await stage.run("album", "scan", music(stage)).stdout.contains("1 new"))
            }
        }

        @Test func `a file that cannot be read, a folder that is missing and wrong usage have their exit codes`()
            async throws
        {
            try await withStage { stage in
                try track(stage, "Good/1", artist: "A", embedded: .jpeg())
                #expect(try await audit(stage, music(stage), status: 0).isEmpty)
                #expect(try await audit(stage, music(stage), stage.folder + "/nowhere").isEmpty)
                #expect(try await stage.run("audit", stage.folder + "/nowhere").status == 1)
                let link = stage.folder + "/system"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/proc")
                for folder in ["/", "/..", "/proc", "/sys/.", "/dev", link] {
                    for command in [["audit"], ["album", "scan"], ["fill"]] {
                        let refused = try await run(command + [folder], environment: stage.environment)
                        #expect(refused.status == 1 && refused.stderr.contains("is the system's"), "\(refused)")
                    }
                }
                try cover(stage, "Good/2.flac", [1, 2, 3])
                #expect(try await audit(stage, music(stage)).isEmpty)
                let lock = try FileLock(path: stage.folder + "/albums.json.state/music.lock")
                #expect(try lock.tryLock())
                #expect(try await stage.run("audit", music(stage)).status == 75)
                for arguments in [
                    ["--min-pixels", "-1"], ["--min-pixels", "x"], ["--only", "ugly"], ["--only", ""],
                ] {
                    let result = try await SleeveStage.run(
                        ["audit", music(stage)] + arguments, environment: stage.environment)
                    #expect(result.status == 64, "\(arguments): \(result)")
                }
            }
        }
    }
}
