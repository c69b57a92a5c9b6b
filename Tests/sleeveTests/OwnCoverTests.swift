import Foundation
import MusicFiles
import Testing

extension CommandTests {
    /// Cover files of a person beside the music.
    @Suite struct OwnCoverTests {
        @Test func `a fill puts them into the cache, for get and export, once`() async throws {
            try await withStage { stage in
                let (music, covers) = (stage.folder + "/music", stage.folder + "/covers")
                let fill = ["fill", music, "--offline", "--json"]
                func run() async throws -> [String: Int] {
                    let result = try await sleeveTests.run(fill, environment: stage.environment)
                    struct Counts: Decodable { var cached, covered, missing: Int }
                    let counts = try JSONDecoder().decode(Counts.self, from: Data(result.stdout.utf8))
                    return ["cached": counts.cached, "covered": counts.covered]
                }
                func write(_ number: Int, to name: String) throws -> Data {
                    let data = Data(MusicPicture.jpeg(600, 600, number: number).bytes)
                    try data.write(to: URL(filePath: "\(music)/\(name)/cover.jpg"))
                    return data
                }
                for name in ["One", "Two"] { try MusicFile.write("\(music)/\(name)/1.mp3", MusicTags(album: name)) }
                let (one, two) = (try write(1, to: "One"), try write(2, to: "Two"))
                #expect(try await run() == ["cached": 2, "covered": 2])
                #expect(try await run() == ["cached": 0, "covered": 2])
                let file = stage.folder + "/got.jpg"
                #expect(try await stage.run("get", "--offline", "--album", "One", "-o", file).status == 0)
                #expect(FileManager.default.contents(atPath: file) == one)
                #expect(try await stage.run("export", covers, "--as", "{album}.{ext}").status == 0)
                #expect(FileManager.default.contents(atPath: covers + "/Two.jpg") == two)
                // Another file of that name has another address.
                let other = Data(MusicPicture.jpeg(700, 700, number: 3).bytes) + Data("more".utf8)
                try other.write(to: URL(filePath: music + "/One/cover.jpg"))
                #expect(try await run() == ["cached": 1, "covered": 2])
                #expect(try await stage.run("get", "--offline", "--album", "One", "-o", file).status == 0)
                #expect(FileManager.default.contents(atPath: file) == other)
                // A file that was removed is not written again.
                try FileManager.default.removeItem(atPath: music + "/One/cover.jpg")
                #expect(try await run() == ["cached": 0, "covered": 1])
                #expect(!FileManager.default.fileExists(atPath: music + "/One/cover.jpg"))
                let albums = try stage.text(of: stage.folder + "/albums.json")
                #expect(albums.components(separatedBy: "covers.invalid/music/").count == 2, "\(albums)")
            }
        }

        @Test func `a file that is no picture is said, and its album has no address and no cover`() async throws {
            try await withStage { stage in
                try MusicFile.write(stage.folder + "/music/One/1.mp3", MusicTags(album: "One"))
                try Data("no picture".utf8).write(to: URL(filePath: stage.folder + "/music/One/cover.jpg"))
                let result = try await stage.run("fill", stage.folder + "/music", "--offline")
                #expect(result.stderr.contains("One (1971): cover.jpg is no image"), "\(result)")
                #expect(result.status == 3)
                let why = try await stage.run("why", "One")
                #expect(why.stdout.contains("music/One: cover.jpg is no image"), "\(why)")
                #expect(try !stage.text(of: stage.folder + "/albums.json").contains("coverUrl"))
            }
        }

        @Test func `why and a dry run know what keeps a fill from a folder`() async throws {
            try await withStage { stage in
                let music = stage.folder + "/music"
                for name in ["One", "Two"] { try MusicFile.write("\(music)/\(name).mp3", MusicTags(album: name)) }
                let plan = try await stage.run("fill", music, "--offline", "--dry-run")
                #expect(plan.stdout == "0 albums would be looked for; 0 have a cover file; 2 folders cannot get one.\n")
                let why = try await stage.run("why", "Two")
                #expect(why.stdout.contains("music: the folder has other albums, too"), "\(why)")
            }
        }
    }
}
