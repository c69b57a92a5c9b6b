import Files
import MusicFiles
import Platform
import Testing

@testable import MusicFolder

/// Real files of every format that is written, changed in memory and read by TagLib.
@Suite struct AudioContainerTests {
    private static let (small, large) = (MusicPicture.jpeg(600, 590), MusicPicture.large)

    private func open(_ folder: Folder, _ name: String) throws -> AudioFile {
        let source = try OpenFolder(path: folder.path.bytes).file(#require(FileName(name)))
        return AudioFile(source, extension: String(name.split(separator: ".").last ?? ""))
    }

    /// The bytes of a file after a change; nil if the picture to remove is not there.
    private func changed(_ file: AudioFile, _ change: PictureChange) throws -> [UInt8]? {
        guard let splices = try file.container().splices(change) else { return nil }
        var bytes = try file.source.contents()
        for splice in splices.reversed() { bytes.replaceSubrange(splice.range, with: splice.bytes) }
        return bytes
    }

    private func removal(_ picture: MusicPicture, growth: Int) -> PictureChange {
        .remove(growth: growth) { $0 == picture.bytes }
    }

    @Test(arguments: MusicFile.written, [small, large])
    func `a cover is added to and removed from every format, and nothing else changes`(
        format: MusicFile, picture: MusicPicture
    ) throws {
        let folder = try Folder()
        let tags = MusicTags(
            album: "Große Fahrt", isCompilation: true,
            pictures: format == .m4a ? [] : [.jpeg(10, 10, number: 9, type: 4)])
        // Two pictures that are no front covers: none of them is the cover.
        var former = tags
        if format != .m4a { former.pictures.append(.jpeg(10, 10, number: 10, type: 5)) }
        let path = try folder.file("a.\(format)", former)
        let before = try TagReader().read(path).get()
        let file = try open(folder, "a.\(format)")
        let written = try #require(try changed(file, .add(try EmbeddableCover(picture.bytes))))
        try folder.file("b.\(format)", bytes: written)
        let copy = try open(folder, "b.\(format)")
        #expect(try copy.audioDigest() == file.audioDigest())
        var after = try TagReader().read(BytePath("\(folder.text)/b.\(format)")).get()
        #expect(after.picture?.type == 3 && after.picture?.digest == Digest(of: picture.bytes))
        #expect(after.pictureCount == before.pictureCount + 1)
        (after.picture, after.pictureCount) = (before.picture, before.pictureCount)
        #expect(after == before)
        let restored = try changed(copy, removal(picture, growth: written.count - file.length))
        #expect(try restored == file.source.contents())
    }

    @Test(arguments: [2, 3, 4] as [UInt8], [false, true])
    func `ID3v2 keeps its version and its frames`(version: UInt8, isUnsynchronized: Bool) throws {
        let folder = try Folder()
        // One that 2.4 does not know, and whose bytes look like the beginning of an MPEG frame.
        let rare: [UInt8] = version == 2 ? Array("RVA".utf8) + [0, 0, 3] : Array("RVAD".utf8) + [0, 0, 0, 3, 0, 0]
        let title: [UInt8] =
            version == 2 ? Array("TAL".utf8) + [0, 0, 4] : Array("TALB".utf8) + [0, 0, 0, 4, 0, 0]
        // Up to 2.3, a length is that without the zeros that unsynchronization inserts.
        let bytes: [UInt8] =
            !isUnsynchronized ? [0xFF, 0xE1, 1] : version < 4 ? [0xFF, 0, 0xE1, 1] : [0xFF, 0, 1]
        let frames = title + [0] + "Sea".utf8 + rare + bytes
        let tag = Array("ID3".utf8) + [version, 0, isUnsynchronized ? 0x80 : 0, 0, 0, 0, UInt8(frames.count)] + frames
        let sound = [0xFF, 0xFB, 0x90, 0x00] + zeros(413)
        try folder.file("a.mp3", bytes: tag + sound + sound + sound)
        let file = try open(folder, "a.mp3")
        let written = try #require(try changed(file, .add(try EmbeddableCover(Self.large.bytes))))
        let path = try folder.file("b.mp3", bytes: written)
        #expect(written.starts(with: tag[..<6]) && written.count > tag.count)
        #expect(written[10...].starts(with: frames))
        let tags = try TagReader().read(path).get()
        #expect(tags.album == "Sea" && tags.picture?.digest == Digest(of: Self.large.bytes))
        #expect(
            try changed(open(folder, "b.mp3"), removal(Self.large, growth: written.count - file.length))
                == file.source.contents())
    }

    @Test func `names of ID3v2_2 in a tag of 2_3, as iTunes left them, are no damage`() throws {
        let folder = try Folder()
        let frames = Array("TP1\0\0\0\0\u{5}\0\0\0Lund".utf8) + Array("TAL\0\0\0\0\u{4}\0\0\0Sea".utf8)
        let header: [UInt8] = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(frames.count + 20)]
        let tag = header + frames + zeros(20)
        let sound = [0xFF, 0xFB, 0x90, 0x00] + zeros(413)
        try folder.file("a.mp3", bytes: tag + sound + sound + sound)
        let file = try open(folder, "a.mp3")
        let written = try #require(try changed(file, .add(try EmbeddableCover(Self.large.bytes))))
        let tags = try TagReader().read(try folder.file("b.mp3", bytes: written)).get()
        #expect(tags.artist == "Lund" && tags.album == "Sea")
        #expect(tags.picture?.digest == Digest(of: Self.large.bytes))
        #expect(written[10...].starts(with: frames))
        let growth = written.count - file.length
        #expect(try changed(open(folder, "b.mp3"), removal(Self.large, growth: growth)) == file.source.contents())
        // A name of two letters is damage.
        try folder.file("c.mp3", bytes: header + [0x54, 0x50, 0] + frames[3...] + zeros(20) + sound)
        #expect(throws: TagFailure.damaged) {
            try changed(open(folder, "c.mp3"), .add(try EmbeddableCover(Self.large.bytes)))
        }
    }

    @Test func `padding takes up the picture, and comes back`() throws {
        let folder = try Folder()
        try folder.file("a.mp3", MusicTags())
        // A tag that had to grow has padding.
        let grown = try #require(try changed(open(folder, "a.mp3"), .add(try EmbeddableCover(Self.large.bytes))))
        try folder.file("b.mp3", bytes: grown)
        let padded = try #require(try changed(open(folder, "b.mp3"), removal(Self.large, growth: 0)))
        try folder.file("c.mp3", bytes: padded)
        let filled = try #require(try changed(open(folder, "c.mp3"), .add(try EmbeddableCover(Self.small.bytes))))
        #expect(padded.count == grown.count && filled.count == grown.count)
        try folder.file("d.mp3", bytes: filled)
        #expect(try changed(open(folder, "d.mp3"), removal(Self.small, growth: 0)) == padded)
    }

    @Test func `samples of MPEG-4 are found at their new places`() throws {
        let folder = try Folder()
        let path = try folder.file("a.m4a", MusicTags())
        let plain = try open(folder, "a.m4a").source.contents()
        // A table of two samples in the last box, `mdat`, which moves.
        let data = plain.count - 16
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + name.utf8 + content }
        func track(_ first: Int) -> [UInt8] {
            box(
                "trak",
                box(
                    "mdia",
                    box("minf", box("stbl", box("stco", zeros(4) + big(2, 4) + big(first, 4) + big(first + 4, 4))))))
        }
        let length = track(0).count
        let moov = try #require(plain.indices.first { plain[$0...].starts(with: "moov".utf8) }) - 4
        let size = plain[moov..<moov + 4].reduce(0) { $0 << 8 | Int($1) }
        var bytes = Array(plain[..<(moov + size)]) + track(data + length) + plain[(moov + size)...]
        bytes.replaceSubrange(moov..<moov + 4, with: big(size + length, 4))
        bytes.replaceSubrange(bytes.count - 16..<bytes.count, with: (1...16).map { UInt8($0) })
        try folder.file("a.m4a", bytes: bytes)
        let written = try #require(try changed(open(folder, "a.m4a"), .add(try EmbeddableCover(Self.large.bytes))))
        let table = try #require(written.indices.first { written[$0...].starts(with: "stco".utf8) }) + 12
        let place = written[table..<table + 4].reduce(0) { $0 << 8 | Int($1) }
        #expect(written[place] == 1 && place > data + length)
        // A table that was not changed is another audio.
        var wrong = written
        wrong.replaceSubrange(table..<table + 4, with: big(place - 1, 4))
        try folder.file("b.m4a", bytes: wrong)
        #expect(throws: TagFailure.self) { try open(folder, "b.m4a").audioDigest() }
        _ = path
    }

    @Test(arguments: 8...11)
    func `a box of metadata that is too short for its version is damage`(length: Int) throws {
        let folder = try Folder()
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] { big(content.count + 8, 4) + name.utf8 + content }
        let moov = box("moov", box("udta", box("meta", zeros(length - 8))))
        try folder.file("a.m4a", bytes: box("ftyp", Array("M4A ".utf8) + zeros(4)) + moov + box("mdat", zeros(16)))
        #expect(throws: TagFailure.damaged) {
            try changed(open(folder, "a.m4a"), .add(try EmbeddableCover(Self.small.bytes)))
        }
    }

    @Test func `Ogg with more pages than programs write is refused, before they fill the memory`() throws {
        let folder = try Folder()
        let first = MusicFile.ogg.bytes(MusicTags()).prefix(58)
        var pages = Array("OggS".utf8) + zeros(10) + first[14..<18] + zeros(9)
        for _ in 0..<19 { pages += pages }
        #expect(pages.count == OggFile.maximumPages * 27)
        try folder.file("a.ogg", bytes: first + pages)
        #expect(throws: TagFailure(reason: "has too many pages")) { try open(folder, "a.ogg").container() }
    }

    @Test func `an APEv2 tag after MP3 stays as it is, and an MP3 that has no other is left alone`() throws {
        let folder = try Folder()
        let (mp3, ape) = (MusicFile.mp3.bytes(MusicTags()), MusicFile.ape.bytes(MusicTags(artist: "Another"))[80...])
        #expect(ape.starts(with: "APETAGEX".utf8))
        try folder.file("both.mp3", bytes: mp3 + ape)
        let written = try #require(
            try changed(open(folder, "both.mp3"), .add(try EmbeddableCover(Self.large.bytes))))
        #expect(written.suffix(ape.count) == ape)
        let sound = mp3.suffix(3 * 417)
        for (name, end) in [("a.mp3", []), ("b.mp3", Array("TAG".utf8) + zeros(125))] {
            try folder.file(name, bytes: sound + ape + end)
            #expect(throws: OtherFormat(name: "MP3 with an APEv2 tag")) { try open(folder, name).container() }
        }
    }

    @Test(arguments: MusicFile.written)
    func `damaged files are refused or parsed, and never end the process`(format: MusicFile) throws {
        let folder = try Folder()
        let whole = format.bytes(MusicTags(pictures: format == .m4a ? [] : [.jpeg(10, 10, number: 9, type: 4)]))
        var generator = SplitMix64(seed: 7)
        for number in 0..<120 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 4..<bytes.count, using: &generator)
                bytes[index] = [0, 1, 0x7F, 0x80, 0xFF, .random(in: 0...255, using: &generator)].randomElement(
                    using: &generator)!
            }
            if number % 3 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            try folder.file("a.\(format)", bytes: bytes)
            let file = try open(folder, "a.\(format)")
            let cover = try EmbeddableCover(Self.small.bytes)
            guard let digest = try? file.audioDigest(), let written = try? changed(file, .add(cover)) else { continue }
            try folder.file("b.\(format)", bytes: written)
            #expect(try open(folder, "b.\(format)").audioDigest() == digest)
            _ = try? changed(file, removal(Self.small, growth: number * 100))
        }
    }
}

extension MusicPicture {
    /// Longer than a page of Ogg; with many bytes of all ones.
    static let large: MusicPicture = {
        var picture = MusicPicture.jpeg(900, 900)
        picture.bytes += (0..<90_000).map { $0 % 3 == 0 ? 0xFF : UInt8(truncatingIfNeeded: $0 * 7) } + [0xFF, 0xD9]
        return picture
    }()
}
