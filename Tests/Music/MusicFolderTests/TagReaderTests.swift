import MusicFiles
import Platform
import Testing

@testable import MusicFolder

@Suite struct TagReaderTests {
    private static let release = "76df3287-6cda-33eb-8e9a-044b5e15ffdd"
    private static let group = "c31a5e2b-0bf8-32e0-8aeb-ef4ba9973932"

    @Test(arguments: MusicFile.allCases)
    func `the tags and the pictures of every format are read`(format: MusicFile) throws {
        let folder = try Folder()
        let picture = MusicPicture.jpeg(600, 590)
        let file = try folder.file(
            "a.\(format)",
            MusicTags(
                album: "Große Fahrt", track: 7, disc: 2, isCompilation: true, releaseID: Self.release.uppercased(),
                releaseGroupID: Self.group, pictures: [.jpeg(10, 10, number: 9, type: 4), picture]))
        let tags = try TagReader().read(file).get()
        #expect(
            tags.album == "Große Fahrt" && tags.artist == "The Harbour Lights"
                && tags.albumArtist == "The Harbour Lights")
        #expect(tags.year == "1971" && tags.genre == "Folk" && tags.track == 7 && tags.disc == 2 && tags.isCompilation)
        #expect(tags.releaseID == Self.release && tags.releaseGroupID == Self.group)
        #expect(tags.pictureCount == 2)
        // MP4 has no types: its first picture is the cover.
        let cover = try #require(tags.picture)
        #expect(cover.type == 3 && cover.mediaType == "image/jpeg")
        let expected = format == .m4a ? MusicPicture.jpeg(10, 10, number: 9) : picture
        #expect(
            cover.width == expected.width && cover.height == expected.height && cover.byteCount == expected.bytes.count)
        #expect(cover.digest == Digest(of: expected.bytes))
    }

    @Test(arguments: MusicFile.allCases.filter { $0 != .m4a })
    func `a front cover, or the only picture of which nothing is said, is the cover`(format: MusicFile) throws {
        let folder = try Folder()
        func picture(_ pictures: [MusicPicture]) throws -> EmbeddedPicture? {
            try TagReader().read(try folder.file("a.\(format)", MusicTags(pictures: pictures))).get().picture
        }
        #expect(try picture([.jpeg(type: 0)])?.type == 0)
        #expect(try picture([.jpeg(type: 4), .jpeg(type: 0)])?.type == 0)
        #expect(try picture([.jpeg(type: 4), .jpeg(type: 3)])?.type == 3)
        // Items of APEv2 are called by their types: there is one of each.
        if ![.wv, .ape, .mpc].contains(format) { #expect(try picture([.jpeg(type: 0), .jpeg(type: 0)]) == nil) }
        for type in [1, 2, 4, 5, 6, 8, 19, 20] { #expect(try picture([.jpeg(type: type)]) == nil, "\(type)") }
        #expect(try picture([]) == nil)
    }

    /// 0, 1 and 21 are types of texts and numbers. Programs write pictures with them, and TagLib leaves these out.
    @Test(arguments: [0, 1, 13, 21] as [UInt8]) func `a picture in MP4 tags is one whatever its type`(_ type: UInt8)
        throws
    {
        let folder = try Folder()
        let file = try folder.file("a.m4a", MusicTags(pictures: [.jpeg(), .jpeg(number: 2)]))
        let path = URL(filePath: "\(file)")
        var bytes = try Data(contentsOf: path)
        let picture = Data("data".utf8) + [0, 0, 0, 13]
        if type != 13 {
            while let range = bytes.firstRange(of: picture) { bytes[range.upperBound - 1] = type }
        }
        try bytes.write(to: path)
        let tags = try TagReader().read(file).get()
        #expect(tags.pictureCount == 2 && tags.picture?.digest == Digest(of: MusicPicture.jpeg().bytes))
    }

    @Test(arguments: [
        ("1971-03-05", "1971"), ("05/03/1971", "1971"), ("19710305", "1971"), ("März 1971", "1971"), ("71", ""),
        ("0000", ""),
        ("", ""),
    ])
    func `the year is found in a date of any form`(date: String, year: String) throws {
        let folder = try Folder()
        #expect(try TagReader().read(try folder.file("a.flac", MusicTags(date: date))).get().year == year)
    }

    @Test func `years that programs write for unknown ones, and those to come, are unknown`() throws {
        let folder = try Folder()
        for date in ["0000", "1900-01-01", "0971", "9998"] {
            #expect(try TagReader().read(try folder.file("a.flac", MusicTags(date: date))).get().year == "")
        }
    }

    private func tags(_ properties: [(String, String)]) -> AudioTags {
        var (tags, rank) = (AudioTags(), AudioTags.noYear)
        for (key, value) in properties { tags.add(key, value, yearRank: &rank) }
        return tags
    }

    @Test func `totals are told with numbers or by themselves`() {
        let both = tags([("TRACKNUMBER", "03/12"), ("DISCNUMBER", "1/2")])
        #expect(both.track == 3 && both.trackTotal == 12 && both.disc == 1 && both.discTotal == 2)
        let apart = tags([("TRACKNUMBER", "3"), ("TOTALTRACKS", "12"), ("DISCNUMBER", "1"), ("DISCTOTAL", "2")])
        #expect(apart == both)
        let absurd = tags([("TRACKNUMBER", "0/0"), ("DISCNUMBER", "99999999999999999999"), ("TRACKTOTAL", "-1")])
        #expect(absurd == AudioTags())
    }

    @Test func `sides of records have letters`() {
        let song = tags([("TRACKNUMBER", "B2")])
        #expect(song.side == 2 && song.track == 2)
        #expect(tags([("TRACKNUMBER", "bonus")]) == AudioTags())
    }

    @Test func `the first release has a date of its own`() {
        let song = tags([("ORIGINALDATE", "1971-03-05"), ("DATE", "2011")])
        #expect(song.year == "2011" && song.originalYear == "1971")
    }

    @Test func `lengths are those of the frames, and of no file without any`() throws {
        let folder = try Folder()
        func length(_ name: String, _ bytes: [UInt8]) throws -> Int? {
            try TagReader().read(try folder.file(name, bytes: bytes)).get().length
        }
        // 128 kbit/s: 417 bytes last 26 ms.
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413)
        let sound = [[UInt8]](repeating: frame, count: 100).flatMap(\.self)
        #expect(try length("a.mp3", MusicFile.mp3.bytes(MusicTags(pictures: [.jpeg()])) + sound) == 103 * 417 * 8 / 128)
        // A Xing header counts the frames.
        var header = frame
        header.replaceSubrange(36..<52, with: Array("Xing".utf8) + [0, 0, 0, 3, 0, 0, 0x27, 0x10, 0, 0x10, 0, 0])
        let length = try #require(try length("b.mp3", header + sound))
        #expect((261_000...261_300).contains(length))
        #expect(try self.length("c.flac", in: folder) == nil)
    }

    private func length(_ name: String, in folder: Folder) throws -> Int? {
        try TagReader().read(try folder.file(name)).get().length
    }

    @Test func `what is no audio file fails with its reason, and the next file is read`() throws {
        let folder = try Folder()
        let reader = TagReader()
        func reason(_ path: BytePath) -> String? {
            if case .failure(let failure) = reader.read(path) { failure.reason } else { nil }
        }
        #expect(
            reason(try folder.file("a.flac", bytes: Array("<html>".utf8)))
                == "is damaged, or no audio file of its name's format")
        #expect(reason(try folder.file("a.mp3", bytes: [])) == "is empty")
        #expect(reason(folder.path.appending(Array("gone.mp3".utf8))) == "No such file or directory")
        #expect(mkfifo(folder.text + "/f.mp3", 0o600) == 0)
        #expect(reason(folder.path.appending(Array("f.mp3".utf8))) == "is no regular file")
        #expect(reason(try folder.file("b.mp3")) == nil)
        // Neither tags nor a frame of sound; and sound alone.
        let junk = [UInt8](repeating: 0x41, count: 9_000)
        #expect(
            reason(try folder.file("c.mp3", bytes: junk)) == "is damaged, or no audio file of its name's format")
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413)
        #expect(reason(try folder.file("d.mp3", bytes: frame + frame + frame)) == nil)
    }

    @Test(arguments: MusicFile.allCases)
    func `no prefix and no corruption of a file ends the reader`(format: MusicFile) throws {
        let folder = try Folder()
        let bytes = format.bytes(MusicTags(pictures: [.jpeg()]))
        let reader = TagReader()
        for count in stride(from: 0, to: bytes.count, by: 37) {
            _ = reader.read(try folder.file("a.\(format)", bytes: Array(bytes.prefix(count))))
            var damaged = bytes
            damaged[count] ^= 0xFF
            _ = reader.read(try folder.file("a.\(format)", bytes: damaged))
        }
    }

    @Test func `tags of any text survive the pipe`() throws {
        let folder = try Folder()
        var tags = try TagReader().read(
            try folder.file(
                "a.flac",
                MusicTags(track: 3, disc: 1, isCompilation: true, releaseID: Self.release, pictures: [.jpeg()]))
        ).get()
        tags.title = "\u{FEFF}\"\\/\u{2028}e\u{301}\u{FFFD}\u{10FFFF}"
        for answer in [
            TagAnswer(tags: tags), TagAnswer(tags: AudioTags()), TagAnswer(failure: .init(reason: "why")),
            TagAnswer(failure: .init(reason: "why", isTransient: true)),
        ] {
            var bytes = TagLine.bytes(answer)
            let lines = TagLine.take(from: &bytes)
            #expect(lines.count == 1 && bytes.isEmpty)
            #expect(TagAnswer(line: lines[0]) == answer)
        }
    }
}
