/// The tags of a file to make.
package struct MusicTags: Sendable {
    package var title = "A song"
    package var album = "Low Tide"
    package var albumArtist = "The Harbour Lights"
    package var artist = "The Harbour Lights"
    package var date = "1971-03-05"
    package var genre = "Folk"
    package var track = 1
    package var disc: Int?
    package var isCompilation = false
    package var releaseID = ""
    package var releaseGroupID = ""
    package var pictures: [MusicPicture] = []

    package init(
        album: String = "Low Tide", albumArtist: String = "The Harbour Lights", artist: String = "The Harbour Lights",
        date: String = "1971-03-05", track: Int = 1, disc: Int? = nil, isCompilation: Bool = false,
        releaseID: String = "",
        releaseGroupID: String = "", pictures: [MusicPicture] = []
    ) {
        (self.album, self.albumArtist, self.artist, self.date) = (album, albumArtist, artist, date)
        (self.track, self.disc, self.isCompilation) = (track, disc, isCompilation)
        (self.releaseID, self.releaseGroupID, self.pictures) = (releaseID, releaseGroupID, pictures)
    }

    /// The tags as Vorbis comments, without the empty ones.
    var comments: [(key: String, value: String)] {
        [
            ("TITLE", title), ("ALBUM", album), ("ALBUMARTIST", albumArtist), ("ARTIST", artist), ("DATE", date),
            ("GENRE", genre), ("TRACKNUMBER", String(track)), ("DISCNUMBER", disc.map { String($0) } ?? ""),
            ("COMPILATION", isCompilation ? "1" : ""), ("MUSICBRAINZ_ALBUMID", releaseID),
            ("MUSICBRAINZ_RELEASEGROUPID", releaseGroupID),
        ].filter { !$0.1.isEmpty }
    }
}

/// A picture to embed.
package struct MusicPicture: Sendable {
    /// As in ID3v2 and FLAC; 3 is the front cover.
    package var type = 3
    package var mediaType = "image/jpeg"
    package var bytes: [UInt8]
    package var (width, height): (Int, Int)

    package init(type: Int = 3, mediaType: String = "image/jpeg", bytes: [UInt8], width: Int, height: Int) {
        (self.type, self.mediaType, self.bytes) = (type, mediaType, bytes)
        (self.width, self.height) = (width, height)
    }

    /// The shortest JPEG that has a size, and an end.
    /// - Parameter number: Pictures of different numbers have different bytes.
    package static func jpeg(_ width: Int = 500, _ height: Int = 500, number: Int = 0, type: Int = 3) -> MusicPicture {
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xFE] + big(10, 2) + big(number, 8)
        bytes += [0xFF, 0xC0] + big(17, 2) + [8] + big(height, 2) + big(width, 2) + [3]
        bytes += [UInt8](repeating: 1, count: 9) + [0xFF, 0xD9]
        return MusicPicture(type: type, bytes: bytes, width: width, height: height)
    }

    /// FLAC's METADATA_BLOCK_PICTURE (RFC 9639 section 8.8), without its header.
    var flacBlock: [UInt8] {
        var block = big(type, 4) + big(mediaType.utf8.count, 4) + Array(mediaType.utf8) + big(0, 4)
        for number in [width, height, 24, 0, bytes.count] { block += big(number, 4) }
        return block + bytes
    }
}

package func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}
func little(_ value: Int, _ count: Int) -> [UInt8] { big(value, count).reversed() }
func utf16(_ text: String) -> [UInt8] { (text + "\0").utf16.flatMap { little(Int($0), 2) } }
