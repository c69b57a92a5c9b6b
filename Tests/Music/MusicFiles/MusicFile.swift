import Foundation

/// Makes the smallest files that the formats' specifications allow: tags, pictures, and hardly any sound.
package enum MusicFile: String, CaseIterable, Sendable {
    case mp3, flac, ogg, opus, m4a, wma, wv, ape, aiff, wav, dsf, mpc, tta

    /// The bytes of a file of this format.
    package func bytes(_ tags: MusicTags) -> [UInt8] {
        switch self {
        case .mp3: ID3v2.tag(tags) + sound
        case .flac: Self.flac(tags)
        case .ogg: Ogg.vorbis(tags)
        case .opus: Ogg.opus(tags)
        case .m4a: MP4.file(tags)
        case .wma: ASF.file(tags)
        case .wv: Array("wvpk".utf8) + little(24, 4) + little(0x410, 2) + zeros(22) + APEv2.tag(tags)
        case .ape: Array("MAC ".utf8) + little(3_990, 2) + zeros(74) + APEv2.tag(tags)
        case .mpc: Self.musepack + APEv2.tag(tags)
        case .aiff:
            Self.iff(
                "FORM", "AIFF",
                [
                    ("COMM", big(1, 2) + big(0, 4) + big(16, 2) + zeros(10)), ("SSND", zeros(8)),
                    ("ID3 ", ID3v2.tag(tags)),
                ], big)
        case .wav:
            Self.iff(
                "RIFF", "WAVE",
                [
                    (
                        "fmt ",
                        little(1, 2) + little(1, 2) + little(44_100, 4) + little(88_200, 4) + little(2, 2)
                            + little(16, 2)
                    ),
                    ("data", zeros(8)), ("ID3 ", ID3v2.tag(tags)),
                ], little)
        case .dsf: Self.dsf(tags)
        case .tta: ID3v2.tag(tags) + Array("TTA1".utf8) + zeros(18)
        }
    }

    /// Writes a file.
    package static func write(_ path: String, _ tags: MusicTags = MusicTags()) throws {
        guard let format = MusicFile(rawValue: URL(filePath: path).pathExtension.lowercased()) else {
            throw CocoaError(.fileWriteInvalidFileName)
        }
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(format.bytes(tags)).write(to: URL(filePath: path))
    }

    /// Writes the songs of an album as MP3 into a folder: 1.mp3, 2.mp3.
    /// - Parameter tags: What they share.
    package static func writeSongs(_ count: Int, in folder: String, _ tags: MusicTags) throws {
        for track in 1...count {
            var tags = tags
            tags.track = track
            try write("\(folder)/\(track).mp3", tags)
        }
    }

    /// Three frames of MPEG 1 layer III with 128 kbit/s and 44.1 kHz, each of 417 bytes.
    private var sound: [UInt8] { (0..<3).flatMap { _ in [0xFF, 0xFB, 0x90, 0x00] + zeros(413) } }

    /// RFC 9639: stream information, comments, pictures, and the beginning of a frame.
    private static func flac(_ tags: MusicTags) -> [UInt8] {
        let format = 44_100 << 44 | 1 << 41 | 15 << 36  // samples a second, channels, bits a sample
        let information = big(4_096, 2) + big(4_096, 2) + zeros(6) + big(format, 8) + zeros(16)
        let blocks =
            [(0, information), (4, VorbisComment.block(tags, pictures: false))]
            + tags.pictures.map { (6, $0.flacBlock) }
        return Array("fLaC".utf8)
            + blocks.enumerated().flatMap { index, block in
                big(block.0 | (index == blocks.count - 1 ? 0x80 : 0), 1) + big(block.1.count, 3) + block.1
            } + [0xFF, 0xF8, 0xC9, 0x18] + zeros(16)
    }

    private static func iff(
        _ id: String, _ type: String, _ chunks: [(String, [UInt8])], _ number: (Int, Int) -> [UInt8]
    ) -> [UInt8] {
        let contents = chunks.flatMap { $0.0.utf8 + number($0.1.count, 4) + $0.1 + zeros($0.1.count % 2) }
        return id.utf8 + number(contents.count + 4, 4) + type.utf8 + contents
    }

    /// Musepack SV8: the packets of a stream's header, its gain and its end (trac.musepack.net/musepack/wiki/SV8Specification).
    private static var musepack: [UInt8] {
        let header = Array("SH".utf8) + [12] + zeros(4) + [8, 0x10, 0] + zeros(2)
        return Array("MPCK".utf8) + header + "RG".utf8 + [12, 1] + zeros(8) + "SE".utf8 + [3]
    }

    /// DSF file format specification 1.01.
    private static func dsf(_ tags: MusicTags) -> [UInt8] {
        let format = Array("fmt ".utf8) + little(52, 8) + little(1, 4) + zeros(36)
        let data = Array("data".utf8) + little(20, 8) + zeros(8)
        let tag = ID3v2.tag(tags)
        let offset = 28 + format.count + data.count
        return Array("DSD ".utf8) + little(28, 8) + little(offset + tag.count, 8) + little(offset, 8) + format + data
            + tag
    }
}

package func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// Comments of Ogg and FLAC (xiph.org/vorbis/doc/v-comment.html).
enum VorbisComment {
    static func block(_ tags: MusicTags, pictures: Bool) -> [UInt8] {
        var texts = tags.comments.map { "\($0.key)=\($0.value)" }
        if pictures {
            texts += tags.pictures.map { "METADATA_BLOCK_PICTURE=" + Data($0.flacBlock).base64EncodedString() }
        }
        return little(6, 4) + "sleeve".utf8 + little(texts.count, 4)
            + texts.flatMap { little($0.utf8.count, 4) + $0.utf8 }
    }
}

/// ID3v2.4 (id3.org/id3v2.4.0-structure).
enum ID3v2 {
    static func tag(_ tags: MusicTags) -> [UInt8] {
        var frames = [
            ("TIT2", tags.title), ("TALB", tags.album), ("TPE2", tags.albumArtist), ("TPE1", tags.artist),
            ("TDRC", tags.date),
            ("TCON", tags.genre), ("TRCK", String(tags.track)), ("TPOS", tags.disc.map { String($0) } ?? ""),
            ("TCMP", tags.isCompilation ? "1" : ""),
        ].flatMap { $0.1.isEmpty ? [] : frame($0.0, [3] + $0.1.utf8) }
        for (name, id) in [
            ("MusicBrainz Album Id", tags.releaseID), ("MusicBrainz Release Group Id", tags.releaseGroupID),
        ]
        where !id.isEmpty { frames += frame("TXXX", [3] + name.utf8 + [0] + id.utf8) }
        for picture in tags.pictures {
            frames += frame("APIC", [0] + picture.mediaType.utf8 + [0, UInt8(picture.type), 0] + picture.bytes)
        }
        return Array("ID3".utf8) + [4, 0, 0] + syncsafe(frames.count) + frames
    }

    private static func frame(_ id: String, _ data: [UInt8]) -> [UInt8] {
        id.utf8 + syncsafe(data.count) + [0, 0] + data
    }
    private static func syncsafe(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> (7 * $0) & 0x7F) } }
}

/// APEv2 (wiki.hydrogenaud.io/index.php?title=APEv2_specification).
enum APEv2 {
    static func tag(_ tags: MusicTags) -> [UInt8] {
        let names = ["ALBUMARTIST": "Album Artist", "DATE": "Year", "TRACKNUMBER": "Track", "DISCNUMBER": "Disc"]
        var items = tags.comments.map { item(names[$0.key] ?? $0.key, Array($0.value.utf8), flags: 0) }
        for picture in tags.pictures {
            items.append(
                item(
                    "Cover Art (\([0: "Other", 3: "Front"][picture.type] ?? "Back"))",
                    Array("cover.jpg".utf8) + [0] + picture.bytes, flags: 2))
        }
        let body = items.flatMap { $0 }
        func end(_ flags: Int) -> [UInt8] {
            Array("APETAGEX".utf8) + little(2_000, 4) + little(body.count + 32, 4) + little(items.count, 4)
                + little(flags, 4) + zeros(8)
        }
        return end(0xA000_0000) + body + end(0x8000_0000)
    }

    private static func item(_ key: String, _ value: [UInt8], flags: Int) -> [UInt8] {
        little(value.count, 4) + little(flags, 4) + key.utf8 + [0] + value
    }
}
