import Foundation
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

@Suite struct FolderWalkTests {
    @Test func `audio and pictures are found in the order of their bytes, and nothing else is`() throws {
        let folder = try Folder()
        for name in ["b/2.mp3", "b/1.flac", "a/x.OPUS"] { try folder.file(name.replacing("x.OPUS", with: "x.opus")) }
        for name in ["b/Cover.JPG", "b/notes.txt", "b/list.m3u", "c/only.txt", "b/noextension"] {
            try folder.file(name, bytes: [1])
        }
        let walked = try folder.walk()
        #expect(walked.files == ["a/x.opus", "b/1.flac", "b/2.mp3", "b/Cover.JPG"])
        #expect(walked.folders == ["a", "b"] && walked.problems.isEmpty)
    }

    @Test
    func `hidden names and the folders of storage systems are left out, an album that begins with an ellipsis is not`()
        throws
    {
        let folder = try Folder()
        let out = [
            ".hidden", "@eaDir", "#recycle", "#snapshot", "@Recycle", "lost+found", "$RECYCLE.BIN",
            "System Volume Information",
            ".git", "@EADIR", ".@__thumb",
        ]
        for name in out { try folder.file("\(name)/1.mp3") }
        try folder.file("...And Justice for All/1.mp3")
        try folder.file("a/._1.mp3", bytes: [1])
        #expect(try folder.walk().files == ["...And Justice for All/1.mp3"])
    }

    @Test(arguments: [".nomedia", ".ndignore", ".mpdignore"])
    func `an empty marker excludes its folder and what is below, one with rules does not`(marker: String) throws {
        let folder = try Folder()
        for name in ["out/1.mp3", "out/deep/1.mp3", "in/1.mp3"] { try folder.file(name) }
        try folder.file("out/\(marker)", bytes: [])
        try folder.file("in/\(marker)", bytes: Array("*.m3u".utf8))
        #expect(try folder.walk().files == ["in/1.mp3"])
    }

    @Test func `what is left out is told, if it is music`() throws {
        let folder = try Folder()
        for name in [
            ".7_ Coast/1.mp3", ".calm/Album/1.mp3", ".git/config", ".Trash-1000/files/1.mp3", "no/1.mp3",
            "no/deep/1.mp3",
            "scans/cover.jpg", "a/1.dff", "a/2.DFF", "image/1.flac", "songs/1.flac", "songs/2.flac",
        ] { try folder.file(name, bytes: [1]) }
        for name in ["no/.nomedia", "scans/.nomedia", "image/1.cue", "songs/all.cue"] {
            try folder.file(name, bytes: [])
        }
        let leftOut: [String: LeftOut.Reason] = [
            ".7_ Coast": .hidden, ".calm": .hidden, "no": .excluded, "a/1.dff": .format, "a/2.DFF": .format,
            "image": .image,
        ]
        #expect(try folder.walk().leftOut == leftOut)
    }

    @Test func `a FIFO, a socket and a device cost one line each`() throws {
        let folder = try Folder()
        try folder.file("a/1.mp3")
        #expect(mkfifo(folder.text + "/a/2.mp3", 0o600) == 0)
        try folder.link("a/3.mp3", to: "/dev/null")
        let walked = try folder.walk()
        #expect(walked.files == ["a/1.mp3"])
        #expect(walked.problems == ["a/2.mp3": "is a FIFO", "a/3.mp3": "is a device"])
    }

    @Test func `a link to what is in the folder adds nothing, whatever the order of the names`() throws {
        let folder = try Folder()
        try folder.file("m/1.mp3")
        try folder.link("a", to: "m")
        try folder.link("z", to: "m")
        try FileManager.default.createDirectory(atPath: folder.text + "/list", withIntermediateDirectories: true)
        try folder.link("list/1.mp3", to: "../m/1.mp3")
        let walked = try folder.walk()
        #expect(walked.files == ["m/1.mp3"] && walked.problems.isEmpty && walked.outside.isEmpty)
    }

    @Test func `a link to a left-out folder inside is followed once`() throws {
        let folder = try Folder()
        try folder.file(".store/album/1.mp3")
        try folder.link("b", to: ".store/album")
        try folder.link("c", to: ".store/album")
        #expect(try folder.walk().files == ["b/1.mp3"])
    }

    @Test func `loops of links end, and are said`() throws {
        let folder = try Folder()
        try folder.file("a/1.mp3")
        try folder.link("a/up", to: "..")
        try folder.link("self", to: "self")
        let walked = try folder.walk()
        #expect(walked.files == ["a/1.mp3"])
        #expect(
            walked.problems == ["a/up": "is a link to a folder that contains it: a loop", "self": "is a loop of links"])
    }

    @Test func `a link out of the folder is followed only if asked`() throws {
        let (folder, other) = (try Folder(), try Folder())
        try folder.file("a/1.mp3")
        try other.file("b/2.mp3")
        try folder.link("out", to: other.text)
        try folder.link("a/3.mp3", to: other.text + "/b/2.mp3")
        let inside = try folder.walk()
        #expect(inside.files == ["a/1.mp3"] && inside.outside.sorted() == ["a/3.mp3", "out"])
        let outside = try folder.walk(followsOutside: true)
        // The folder comes first: its file is there once.
        #expect(outside.files.sorted() == ["a/1.mp3", "out/b/2.mp3"] && outside.outside.isEmpty)
    }

    @Test func `a name that is no UTF-8, one of 255 bytes and an NFD one are opened as they are`() throws {
        let folder = try Folder()
        let names: [[UInt8]] = [
            Array("caf".utf8) + [0xE9] + ".mp3".utf8, [UInt8](repeating: UInt8(ascii: "x"), count: 251) + ".mp3".utf8,
            Array("cafe\u{301}.mp3".utf8),
        ]
        for name in names {
            let bytes = MusicFile.mp3.bytes(MusicTags())
            let path = folder.path.appending(name)
            let descriptor = path.withCString { open($0, O_WRONLY | O_CREAT, 0o600) }
            try #require(descriptor >= 0)
            #expect(bytes.withUnsafeBytes { writeAll($0, to: descriptor) })
            close(descriptor)
        }
        let listing = try #require(try folder.walk().listings.first)
        #expect(Set(listing.audio.map(\.name)) == Set(names))
        let reader = TagReader()
        for entry in listing.audio {
            #expect(try reader.read(listing.path.appending(entry.name)).get().album == "Low Tide")
        }
    }

    /// In a process that gives up the rights of the superuser, who may read everything.
    @Test func `a dangling link and an unreadable folder cost one line, the rest goes on`() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setgid(54_321) == 0 && setuid(54_321) == 0) }
            let folder = try Folder()
            try folder.file("a/1.mp3")
            try folder.link("gone", to: "nowhere")
            try folder.file("locked/1.mp3")
            chmod(folder.text + "/locked", 0)
            defer { chmod(folder.text + "/locked", 0o700) }
            let walked = try folder.walk()
            #expect(walked.problems["gone"] == "No such file or directory")
            #expect(walked.problems["locked"] == "Permission denied")
            #expect(walked.files.contains("a/1.mp3"))
        }
    }

    @Test func `overlapping folders are walked once`() throws {
        let folder = try Folder()
        try folder.file("a/b/1.mp3")
        #expect(try folder.walk(["a/b", "a"]).files == ["a/b/1.mp3"])
    }

    @Test func `the fingerprint changes with a name, a size, a time, and when a file is written with its old time`()
        throws
    {
        let folder = try Folder()
        let file = try folder.file("a/1.mp3").description
        var seen: Set<Int64> = []
        func look() throws { seen.insert(try #require(try folder.walk().listings.first).fingerprint) }
        try look()
        try look()
        #expect(seen.count == 1)
        rename(file, folder.text + "/a/2.mp3")
        try look()
        #expect(seen.count == 2)
        try folder.file("a/cover.jpg", bytes: [1])
        try look()
        #expect(seen.count == 3)
        // The same size, and the time of modification set back: only the time of the change tells.
        let cover = Array((folder.text + "/a/cover.jpg").utf8)
        let before = try FileStatus(cover, in: AT_FDCWD, followsLinks: true)
        try folder.file("a/cover.jpg", bytes: [2])
        let time = timespec(tv_sec: Int(before.modified / 1_000_000_000), tv_nsec: Int(before.modified % 1_000_000_000))
        #expect(utimensat(AT_FDCWD, folder.text + "/a/cover.jpg", [time, time], 0) == 0)
        let after = try FileStatus(cover, in: AT_FDCWD, followsLinks: true)
        #expect(after.modified == before.modified)
        // Both may be in one tick of the file system's clock.
        if after.changed != before.changed {
            try look()
            #expect(seen.count == 4)
        }
    }
}
