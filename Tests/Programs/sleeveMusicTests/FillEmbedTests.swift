import CoverSources
import Foundation
import MusicFiles
import OriginServer
import Platform
import SleeveStage
import Testing

extension MusicTests {
    /// Music folders with covers beside them, and the command, which may be killed.
    @Suite struct FillEmbedTests {
        private struct Result: Decodable {
            var albums, covered, embedded, embeddedBytes, unembedded, otherFormats, problems: Int
        }

        private struct Undone: Decodable { var removed, removedFromTags, kept, failed: Int }

        private static let formats: [MusicFile] = [.mp3, .flac, .m4a, .ogg, .opus, .mp3]
        private static let cover: [UInt8] = MusicPicture.jpeg(700, 700).bytes + zeros(3_000) + [0xFF, 0xD9]

        private func withMusic(_ body: (_ stage: Stage, _ fill: [String]) async throws -> Void) async throws {
            try await withStage { stage in
                for (number, format) in Self.formats.enumerated() {
                    let folder = "\(stage.folder)/music/Album \(number / 3)"
                    try MusicFile.write(
                        "\(folder)/\(number).\(format)", MusicTags(album: "Album \(number / 3)", track: number % 3 + 1))
                    try Data(Self.cover).write(to: URL(filePath: folder + "/cover.jpg"))
                }
                try await body(stage, ["fill", stage.folder + "/music", "--embed", "--json", "--offline"])
            }
        }

        private func run(_ stage: Stage, _ arguments: [String]) async throws -> (Result, RunResult) {
            let result = try await SleeveStage.run(arguments, environment: stage.environment)
            return (try JSONDecoder().decode(Result.self, from: Data(result.stdout.utf8)), result)
        }

        /// All files of the folder by their paths, hidden ones, too.
        private func files(_ stage: Stage) -> [String: [UInt8]] {
            let music = stage.folder + "/music"
            let names = FileManager.default.enumerator(atPath: music)?.compactMap { $0 as? String } ?? []
            return names.reduce(into: [:]) { files, name in
                files[name] = (try? Data(contentsOf: URL(filePath: "\(music)/\(name)"))).map { Array($0) }
            }
        }

        @Test func `covers go into the tags of files without a picture, and undo takes them out`() async throws {
            try await withMusic { stage, fill in
                let before = files(stage)
                let plan = try await SleeveStage.run(fill + ["--dry-run"], environment: stage.environment)
                #expect(plan.stdout.contains(#""embedded":\#(Self.formats.count),"#), "\(plan)")
                #expect(files(stage) == before)
                let (first, result) = try await run(stage, fill)
                #expect(result.status == 0, "\(result)")
                #expect((first.covered, first.embedded, first.unembedded) == (2, Self.formats.count, 0))
                let after = files(stage)
                #expect(after.keys == before.keys)
                #expect(after.allSatisfy { $0.key.hasSuffix(".jpg") == ($0.value == before[$0.key]) })
                #expect(
                    first.embeddedBytes == after.filter { !$0.key.hasSuffix(".jpg") }.values.reduce(0) { $0 + $1.count }
                )
                #expect(try await run(stage, fill).0.embedded == 0)
                let undone = try await stage.run("fill", "undo", "--json")
                let counts = try JSONDecoder().decode(Undone.self, from: Data(undone.stdout.utf8))
                #expect((counts.removed, counts.removedFromTags) == (0, Self.formats.count), "\(undone)")
                #expect(files(stage) == before)
            }
        }

        @Test func `a file that cannot be written is said, the others are, and the command exits with 3`() async throws
        {
            try await withMusic { stage, fill in
                let linked = stage.folder + "/music/Album 0/0.mp3"
                try FileManager.default.linkItem(atPath: linked, toPath: stage.folder + "/other name.mp3")
                let (result, run) = try await run(stage, fill)
                #expect(run.status == 3 && run.stderr.contains("0.mp3: has several names"), "\(run)")
                #expect((result.embedded, result.unembedded) == (Self.formats.count - 1, 1))
            }
        }

        @Test func `the report has each file, and each album of a folder of two`() async throws {
            try await withStage { stage in
                let (music, report) = (stage.folder + "/music", stage.folder + "/report.jsonl")
                try MusicFile.write(music + "/Album/1.flac", MusicTags(album: "Album", track: 1))
                try Data(CoverImage.jpeg(number: 1, aboutBytes: 20_000)).write(
                    to: URL(filePath: music + "/Album/cover.jpg"))
                for title in ["One", "Two"] {
                    try MusicFile.write("\(music)/Both/\(title).mp3", MusicTags(album: title))
                    try Data(Self.cover).write(to: URL(filePath: music + "/Both/cover.jpg"))
                }
                let fill = [
                    "fill", music, "--embed", "--json", "--offline", "--source", "caa", "--report",
                    report,
                ]
                let (result, output) = try await run(stage, fill)
                #expect((result.embedded, result.unembedded) == (1, 0) && output.status == 3, "\(output)")
                #expect(output.stderr.contains("One (1971): none of the sources"), "\(output)")
                let lines = try stage.text(of: report)
                #expect(lines.contains(#""outcome":"embedded","file":"\#(music)/Album/1.flac""#), "\(lines)")
                #expect(lines.contains(#"{"folder":"\#(music)/Both","outcome":"missing""#), "\(lines)")
            }
        }

        @Test func `albums of a folder of several get their own covers into their tags, and the folder none`()
            async throws
        {
            try await withStage { stage in
                let (folder, artists) = (stage.folder + "/music/Both", ["The Harbour Lights", "Guns N' Roses", "None"])
                // Of one title: the songs of each are known by their files.
                for (number, artist) in artists.enumerated() {
                    for track in 1...2 {
                        var tags = MusicTags(
                            album: "Low Tide", albumArtist: artist, artist: artist, date: "197\(number)",
                            track: track)
                        tags.title = "\(artist) \(track)"
                        try MusicFile.write("\(folder)/\(number)-\(track).flac", tags)
                    }
                }
                let provided = artists.prefix(2).enumerated().map { number, artist in
                    ServiceAlbum(
                        artist: artist, title: "Low Tide", year: 1_970 + number, tracks: 2, services: [.itunes])
                }
                _ = try await withServices(provided) { services in
                    let fill =
                        ["fill", stage.folder + "/music", "--embed", "--json", "--source", "itunes"]
                        + services.options([.itunes])
                    let before = files(stage)
                    let (first, result) = try await run(stage, fill)
                    #expect((first.albums, first.embedded) == (3, 4) && result.status == 3, "\(result)")
                    #expect(result.stderr.contains("None, Low Tide (1972): none of the sources"), "\(result)")
                    let after = files(stage)
                    #expect(after.keys == before.keys, "no cover file")
                    let changed = Set(after.filter { $0.value != before[$0.key] }.keys)
                    #expect(changed == ["Both/0-1.flac", "Both/0-2.flac", "Both/1-1.flac", "Both/1-2.flac"])
                    let (second, again) = try await run(stage, fill)
                    #expect((second.albums, second.embedded) == (1, 0) && again.status == 0, "\(again)")
                    #expect(try await stage.run("fill", "undo").status == 0)
                    #expect(files(stage) == before)
                    let (third, last) = try await run(stage, fill)
                    #expect(third.embedded == 4)
                    let told = last.stderr.split(separator: "\n").filter { $0.contains("which an undo had taken back") }
                    #expect(told.count == 4 && told.allSatisfy { $0.contains("wrote into the tags of") }, "\(last)")
                }
            }
        }

        @Test func `files of other formats are said once, and are no failure`() async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                for (number, format) in [MusicFile.mp3, .wma, .wav, .wav].enumerated() {
                    try MusicFile.write("\(music)/Album/\(number).\(format)", MusicTags(album: "Album"))
                }
                try Data(Self.cover).write(to: URL(filePath: music + "/Album/cover.jpg"))
                let text =
                    "3 files of WAV, WMA are left as they are: Sleeve writes covers into MP3, FLAC, MP4, Ogg (Vorbis, Opus).\n"
                for option in ["--dry-run", "--embed"] {
                    let result = try await stage.run("fill", music, "--embed", "--offline", option)
                    #expect(
                        result.status == 0 && result.stdout.hasSuffix(text) && !result.stderr.contains(".wav"),
                        "\(result)")
                }
                let report = stage.folder + "/report.jsonl"
                let fill = ["fill", music, "--embed", "--json", "--offline", "--report", report]
                let (result, output) = try await run(stage, fill)
                #expect((result.otherFormats, result.unembedded, output.status) == (3, 0, 0), "\(output)")
                #expect(
                    try stage.text(of: report).contains(
                        #""outcome":"otherFormat","file":"\#(music)/Album/1.wma","reason":"is WMA""#))
            }
        }

        #if os(Linux)
            @Test
            func
                `killed before any operation on a file, or with a killed worker, it changes tags only, and the next completes it`()
                async throws
            {
                try await withMusic { stage, fill in
                    let before = files(stage)
                    _ = try await run(stage, fill)
                    let after = files(stage)
                    // A killed run is one to take back, too, even if it has embedded nothing.
                    func undo() async throws {
                        for _ in 0..<3 { #expect(try await stage.run("fill", "undo").status == 0) }
                    }
                    try await undo()
                    #expect(files(stage) == before)
                    var (kills, killedWorkers, number) = (0, 0, 1)
                    while true {
                        let result = await (try stage.start(fill, disk: ["DISK_KILL": "\(number)"])).exit()
                        for (name, bytes) in files(stage) where !name.contains("/.sleeve-") {
                            #expect(
                                bytes == before[name] || bytes == after[name],
                                "\(name) after a kill before operation \(number)")
                        }
                        if result.signal != SIGKILL {
                            // A worker that is killed costs its file.
                            if result.status == 0 { break }
                            #expect(
                                result.status == 3 && result.stderr.contains("was ended by signal 9"), "\(result)")
                            #expect(!files(stage).keys.contains { $0.contains(".sleeve-") })
                            killedWorkers += 1
                        }
                        (kills, number) = (kills + 1, number + (isThorough ? 1 : 67))
                        // What is left of the copy is removed by a fill that embeds nothing, too.
                        let next = kills % 2 == 0 ? fill : fill.filter { $0 != "--embed" }
                        _ = try await SleeveStage.run(next, environment: stage.environment)
                        #expect(!files(stage).keys.contains { $0.contains(".sleeve-") })
                        if kills % 2 == 0 { #expect(files(stage) == after) }
                        try await undo()
                        #expect(files(stage) == before, "after a kill before operation \(number)")
                    }
                    print("fill --embed: \(kills) kills, \(killedWorkers) of workers alone")
                    #expect(kills > 1)
                    #expect(files(stage) == after)
                }
            }
        #endif
    }
}
