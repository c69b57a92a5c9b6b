import Foundation
import MusicFiles
import SleeveStage
import Testing
import Wire

extension MusicTests {
    @Suite struct ScanTests {
        /// The summary of `sleeve album scan --json`. Decoding fails when a field of the contract is missing.
        private struct Result: Decodable {
            var files, filesRead, folders, foldersRead, albums, new, changed, deleted, withCover, withoutCover,
                embedded: Int
            var untagged, gone, pruned, links, problems: Int
            var cancelled: Bool
        }

        private func scan(_ stage: Stage, _ options: String..., status: Int32 = 0) async throws -> Result {
            let result = try await run(
                ["album", "scan", stage.folder + "/music", "--json"] + options, environment: stage.environment)
            #expect(result.status == status, "\(result)")
            return try result.json()
        }

        @Test func `an export into a music folder says that its files may go elsewhere, one beside it does not`()
            async throws
        {
            try await withStage { stage in
                try MusicFile.write(stage.folder + "/music/a/1.mp3", MusicTags(album: "Low Tide", artist: "A"))
                #expect(try await stage.run("album", "scan", stage.folder + "/music").status == 0)
                let inside = try await stage.run("export", stage.folder + "/music/covers")
                #expect(inside.stderr.contains("is in the music folder \(stage.folder)/music"), "\(inside)")
                let beside = try await stage.run("export", stage.folder + "/covers")
                #expect(!beside.stderr.contains("music folder"), "\(beside)")
            }
        }

        @Test func `what is left out is said in one line, and not that there was nothing to fill`() async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                try MusicFile.write("\(music)/a/1.mp3", MusicTags(album: "", artist: "A"))
                try MusicFile.write("\(music)/.7/1.mp3", MusicTags(album: ".7"))
                let fill = ["fill", music, "--source", "tags"]
                for words in [fill, fill + ["--dry-run"], ["album", "scan", music], ["audit", music]] {
                    let result = try await SleeveStage.run(words, environment: stage.environment)
                    let line = "Left out: 1 file without an album in the tags; 1 hidden folder ("
                    #expect(result.stdout.contains(line) && result.stdout.contains("/music/.7)."), "\(result)")
                    #expect(!result.stdout.contains("Nothing"), "\(result)")
                }
                try MusicFile.write("\(music)/b/1.mp3", MusicTags(album: "Low Tide"))
                #expect(try await stage.run("album", "scan", music).status == 0)
                #expect(try await stage.run("album", "undo").status == 0)
                let hidden = try await SleeveStage.run(fill, environment: stage.environment)
                #expect(hidden.stdout.contains("; 1 album deleted, or with a scan undone;"), "\(hidden)")
            }
        }

        /// Three albums: one with a cover file, one with an embedded one, one with two discs.
        private func makeMusic(_ stage: Stage) throws {
            let music = stage.folder + "/music"
            for track in 1...3 {
                try MusicFile.write("\(music)/A/Low Tide/\(track).mp3", MusicTags(track: track))
                try MusicFile.write(
                    "\(music)/B/Night Ferry/\(track).flac",
                    MusicTags(album: "Night Ferry", track: track, pictures: [.jpeg()]))
                for disc in 1...2 {
                    try MusicFile.write(
                        "\(music)/C/Boxes/CD\(disc)/\(track).ogg", MusicTags(album: "Boxes", track: track, disc: disc))
                }
            }
            try Data(MusicPicture.jpeg().bytes).write(to: URL(filePath: "\(music)/A/Low Tide/Cover.JPG"))
        }

        @Test func `a scan adds the albums, a second one reads nothing and changes nothing`() async throws {
            try await withStage { stage in
                try makeMusic(stage)
                let first = try await scan(stage)
                #expect(first.files == 12 && first.filesRead == 12 && first.albums == 3 && first.new == 3)
                #expect(first.withCover == 1 && first.withoutCover == 2 && first.embedded == 1 && first.problems == 0)
                let library = try stage.text(of: stage.folder + "/albums.json")
                let albums = try stage.albums(of: stage.folder + "/albums.json")
                #expect(albums.map(\.title) == ["Low Tide", "Night Ferry", "Boxes"])
                #expect(albums.allSatisfy { $0.artist == "The Harbour Lights" && $0.year == "1971" })
                // Without a worker there is nothing that could read.
                let second = try await scan(stage)
                #expect(second.filesRead == 0 && second.foldersRead == 0 && second.files == 12 && second.albums == 3)
                #expect(second.new == 0 && second.changed == 0 && second.withCover == 1 && second.embedded == 1)
                #expect(try stage.text(of: stage.folder + "/albums.json") == library)
            }
        }

        @Test func `a change in one folder reads that folder only, and one undo reverts what was added`() async throws {
            try await withStage { stage in
                try makeMusic(stage)
                _ = try await scan(stage)
                try MusicFile.write(stage.folder + "/music/D/4.opus", MusicTags(album: "New"))
                try MusicFile.write(stage.folder + "/music/A/Low Tide/1.mp3", MusicTags(album: "Low Tide!", track: 1))
                try MusicFile.write(stage.folder + "/music/A/Low Tide/2.mp3", MusicTags(album: "Low Tide!", track: 2))
                try MusicFile.write(stage.folder + "/music/A/Low Tide/3.mp3", MusicTags(album: "Low Tide!", track: 3))
                let found = try await scan(stage)
                #expect(found.foldersRead == 2 && found.filesRead == 4 && found.new == 1 && found.changed == 1)
                func titles() throws -> Set<String> {
                    Set(try stage.albums(of: stage.folder + "/albums.json").map(\.title))
                }
                #expect(try titles() == ["Low Tide!", "Night Ferry", "Boxes", "New"])
                for _ in 0..<2 { #expect(try await stage.run("album", "undo").status == 0) }
                #expect(try titles() == ["Low Tide", "Night Ferry", "Boxes"])
            }
        }

        @Test func `an edited field and a deleted album stay so, even when their folders are read again`() async throws
        {
            try await withStage { stage in
                try makeMusic(stage)
                _ = try await scan(stage)
                #expect(try await stage.run("album", "edit", "Boxes", "--title", "My Boxes").status == 0)
                #expect(try await stage.run("album", "delete", "Night Ferry").status == 0)
                for name in ["C/Boxes/CD1/9.ogg", "B/Night Ferry/9.flac"] {
                    let title = name.hasPrefix("C") ? "Boxes" : "Night Ferry"
                    try MusicFile.write("\(stage.folder)/music/\(name)", MusicTags(album: title, track: 9))
                }
                let found = try await scan(stage)
                #expect(found.foldersRead == 2 && found.new == 0 && found.deleted == 1 && found.changed == 0)
                let albums = try stage.albums(of: stage.folder + "/albums.json")
                #expect(albums.map(\.title) == ["Low Tide", "My Boxes"])
                let restored = try await scan(stage, "--restore-deleted")
                #expect(restored.new == 1 && restored.deleted == 0)
                #expect(try stage.albums(of: stage.folder + "/albums.json").count == 3)
            }
        }

        @Test func `a gone folder is reported, pruned only if asked, and one undo restores it`() async throws {
            try await withStage { stage in
                try makeMusic(stage)
                _ = try await scan(stage)
                let library = stage.folder + "/albums.json"
                try FileManager.default.removeItem(atPath: stage.folder + "/music/B")
                for _ in 0..<2 {
                    let found = try await scan(stage)
                    #expect(found.gone == 1 && found.pruned == 0)
                    #expect(try stage.albums(of: library).count == 3)
                }
                let pruned = try await scan(stage, "--prune")
                #expect(pruned.gone == 1 && pruned.pruned == 1)
                #expect(try stage.albums(of: library).map(\.title) == ["Low Tide", "Boxes"])
                #expect(try await stage.run("album", "undo").status == 0)
                #expect(try stage.albums(of: library).map(\.title) == ["Low Tide", "Night Ferry", "Boxes"])
                #expect(try await scan(stage, "--prune").gone == 0)
            }
        }

        @Test func `a folder that is missing or has lost all of its music prunes nothing`() async throws {
            try await withStage { stage in
                try makeMusic(stage)
                _ = try await scan(stage)
                let (music, away) = (stage.folder + "/music", stage.folder + "/away")
                try FileManager.default.moveItem(atPath: music, toPath: away)
                let missing = try await stage.run("album", "scan", music, "--prune")
                #expect(
                    missing.status == 1 && missing.stderr.contains("\(music): No such file or directory"), "\(missing)")
                // The mount point of a disk that is not mounted.
                try FileManager.default.createDirectory(atPath: music, withIntermediateDirectories: true)
                let empty = try await stage.run("album", "scan", music, "--prune")
                #expect(empty.status == 3 && empty.stderr.contains("Is its disk mounted?"), "\(empty)")
                #expect(try stage.albums(of: stage.folder + "/albums.json").count == 3)
                try FileManager.default.removeItem(atPath: music)
                try FileManager.default.moveItem(atPath: away, toPath: music)
                let back = try await scan(stage)
                #expect(back.albums == 3 && back.gone == 0 && back.new == 0 && back.filesRead == 0)
            }
        }

        @Test func `damaged files and special files cost a line each, the rest is read, and the exit code is 3`()
            async throws
        {
            try await withStage { stage in
                try makeMusic(stage)
                let folder = stage.folder + "/music/A/Low Tide"
                try Data("no audio".utf8).write(to: URL(filePath: folder + "/x.flac"))
                #expect(mkfifo(folder + "/y.mp3", 0o600) == 0)
                let result = try await stage.run("album", "scan", stage.folder + "/music")
                #expect(result.status == 3 && result.stdout.contains("3 albums"), "\(result)")
                #expect(
                    result.stderr.contains("x.flac: is damaged") && result.stderr.contains("y.mp3: is a FIFO"),
                    "\(result)")
                #expect(result.stderr.split(separator: "\n").count == 2, "\(result)")
                #expect(try stage.albums(of: stage.folder + "/albums.json").count == 3)
                // They are still said when their folder is not read again.
                let again = try await scan(stage, status: 3)
                #expect(again.problems == 2 && again.filesRead == 0)
            }
        }

        #if os(Linux)
            @Test func `a scan that a signal stops leaves the library as it is, and the next one goes on`() async throws
            {
                try await withStage { stage in
                    for number in 0..<3_000 {
                        try MusicFile.write(
                            "\(stage.folder)/music/\(number / 10)/\(number).mp3",
                            MusicTags(album: "\(number / 10)", track: number % 10))
                    }
                    let scan = try stage.start("album", "scan", stage.folder + "/music", "--json")
                    // Its workers are stopped before it is: it cannot end by itself.
                    try await eventually { !Self.workers(of: scan.pid).isEmpty }
                    for worker in Self.workers(of: scan.pid) { kill(worker, SIGSTOP) }
                    scan.kill(SIGINT)
                    let result = await scan.exit()
                    #expect(result.status == 128 + SIGINT, "\(result)")
                    #expect(try result.json(Result.self).cancelled)
                    #expect(!FileManager.default.fileExists(atPath: stage.folder + "/albums.json"))
                    let next = try await self.scan(stage)
                    #expect(next.albums == 300 && next.new == 300 && next.files == 3_000)
                }
            }

            /// The workers that a scan has started. A process that is not `tags-worker` yet holds up the thread that creates it.
            private static func workers(of pid: pid_t) -> [pid_t] {
                func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
                let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
                return threads.flatMap { thread in
                    text("/proc/\(pid)/task/\(thread)/children").split(separator: " ").compactMap { pid_t($0) }
                }.filter { text("/proc/\($0)/cmdline").contains("tags-worker") }
            }
        #endif

        @Test func `a file that needs more memory than a worker has costs that file`() async throws {
            try await withStage { stage in
                try makeMusic(stage)
                // A picture of 1.9 GB. The file is sparse.
                var (size, atoms) = (0x7000_0000, [UInt8]())
                for name in ["data", "covr", "ilst"] {
                    atoms = big(size) + name.utf8 + atoms
                    size += 8
                }
                atoms = big(size + 4 + 8) + Array("meta".utf8) + [0, 0, 0, 0] + atoms
                size += 12
                for name in ["udta", "moov"] {
                    size += 8
                    atoms = big(size) + name.utf8 + atoms
                }
                let start = big(16) + Array("ftypM4A ".utf8) + [0, 0, 0, 0]
                let huge = stage.folder + "/music/A/Low Tide/9.m4a"
                try Data(start + atoms).write(to: URL(filePath: huge))
                try #require(truncate(huge, off_t(start.count + size)) == 0)
                let result = try await stage.run("album", "scan", stage.folder + "/music")
                #expect(result.status == 3 && result.stdout.contains("3 albums"), "\(result)")
                #expect(result.stderr.contains("9.m4a: its tags need too much memory"), "\(result)")
            }
        }

        private func big(_ value: Int) -> [UInt8] {
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
    }
}
