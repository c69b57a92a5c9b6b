import Foundation
import MusicFiles
import OriginServer
import SleeveStage
import Testing

extension MusicTests {
    /// Cover files of a person beside the music.
    @Suite struct OwnCoverTests {
        @Test func `get and album show have the file as it is, which is not in the cache`() async throws {
            try await withStage { stage in
                let (music, file) = (stage.folder + "/music", stage.folder + "/got.jpg")
                let url = stage.origin.coverURL(0) + "?size=120000"
                #expect(try await stage.run("get", url, "-o", file).status == 0)
                let picture = try Data(contentsOf: URL(filePath: file))
                func got() async throws -> Data? {
                    let result = try await stage.run("get", "--offline", "--album", "One", "-o", file)
                    defer { try? FileManager.default.removeItem(atPath: file) }
                    return result.status == 0 ? FileManager.default.contents(atPath: file) : nil
                }
                func write(_ number: Int, to name: String) throws -> Data {
                    let data = picture + Data("\(number)".utf8)
                    try data.write(to: URL(filePath: "\(music)/\(name)/cover.jpg"))
                    return data
                }
                for name in ["One", "Two"] { try MusicFile.write("\(music)/\(name)/1.mp3", MusicTags(album: name)) }
                let (one, _) = (try write(1, to: "One"), try write(2, to: "Two"))
                #expect(try await stage.run("album", "scan", music).status == 0)
                #expect(try await got() == one)
                let path = music + "/One/cover.jpg"
                #expect(try await stage.run("get", "--path", "--album", "One").stdout == path + "\n")
                for command in ["pin", "unpin", "remove"] {
                    let told = try await stage.run("cache", command, "--album", "One", "--album", "Two")
                    #expect(told.status == 3 && told.stderr.contains("One: its cover is the file \(path)"), "\(told)")
                }
                #expect(try await stage.run("get", "--path", "--size", "150", "--album", "One").status == 3)
                let small = try await stage.run("get", "--size", "150", "--album", "One", "--json", "-o", file)
                #expect(small.stdout.contains("\"width\":150"), "\(small)")
                #expect(try await stage.run("album", "show", "One").stdout.contains(path))
                #expect(
                    try await stage.run("cache", "list", "--json").stdout.split(separator: "\n").count == 1,
                    "the origin's")
                let prefetch = try await stage.run("prefetch")
                #expect(prefetch.status == 0 && !prefetch.stderr.contains("no cover URL"), "\(prefetch)")
                // Another file, and none.
                let other = try write(3, to: "One")
                #expect(try await got() == other)
                try FileManager.default.removeItem(atPath: path)
                #expect(try await got() == nil)
                #expect(try await stage.run("album", "scan", music).status == 0)
                let albums = try stage.text(of: stage.folder + "/albums.json")
                #expect(albums.components(separatedBy: "coverFile").count == 2 && albums.contains("/Two/cover.jpg"))
            }
        }

        @Test func `a list names no file of this computer`() async throws {
            try await withStage { stage in
                let picture = stage.folder + "/other.jpg"
                try Data(MusicPicture.jpeg(600, 600).bytes).write(to: URL(filePath: picture))
                let list = stage.folder + "/list.json"
                try Data("[{\"title\": \"One\", \"coverFile\": \"\(picture)\"}]".utf8).write(to: URL(filePath: list))
                #expect(try await stage.run("album", "import", list).status == 0)
                #expect(
                    try await stage.run("get", "--offline", "--album", "One", "-o", stage.folder + "/got").status == 1)
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
                #expect(plan.stdout == "0 albums would be looked for; 0 have a cover file; 1 folder cannot get one.\n")
                let why = try await stage.run("why", "Two")
                #expect(why.stdout.contains("music: the folder has other albums, too"), "\(why)")
            }
        }
    }
}
