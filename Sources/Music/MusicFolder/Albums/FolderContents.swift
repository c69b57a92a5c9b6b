import Platform

/// What a scan keeps of a folder: the facts of its songs, from which albums are made, and its pictures.
package struct FolderContents: Sendable, Hashable, Codable {
    /// Audio files, unreadable ones too.
    package var files = 0
    /// The tags that songs share.
    package var tags: [SongTags] = []
    /// In the order of the files' names.
    package var songs = SongList()
    /// Those that may be covers, by their names. Only the grouping knows the titles of albums whose discs are below.
    package var pictures: [CoverFile] = []
    package var problems: [MusicProblem] = []
    /// Whether the same files may be read otherwise by the next scan.
    package var isTransient = false

    package init() {}

    /// - Parameters:
    ///   - tags: Of each audio file; nil for those that could not be read.
    ///   - readsCover: Reads the type of a picture.
    package init(
        of listing: FolderListing, tags: [AudioTags?], problems: [MusicProblem], readsCover: (inout CoverFile) -> Void
    ) {
        files = listing.audio.count
        self.problems = problems
        var numbers: [SongTags: UInt32] = [:]
        for (entry, tags) in zip(listing.audio, tags) {
            guard let tags else { continue }
            let shared = SongTags(tags)
            let number = numbers[shared] ?? UInt32(self.tags.count)
            if numbers.updateValue(number, forKey: shared) == nil { self.tags.append(shared) }
            songs.songs.append(Song(tags, name: entry.name, number: number))
        }
        let titles = self.tags.count < Self.maximumTitles ? Set(self.tags.lazy.map(\.album)) : []
        for entry in listing.pictures where entry.size > 0 {
            let isNamedSo = CoverName.mayBeCover(entry.name, titles: titles)
            guard isNamedSo || files == 0 && pictures.count < Self.maximumPictures else { continue }
            pictures.append(CoverFile(path: listing.path.appending(entry.name)))
            // Scans of booklets are many, and large.
            if isNamedSo { readsCover(&pictures[pictures.count - 1]) }
        }
    }

    /// A folder of more albums has no cover that is named as one of them.
    private static let maximumTitles = 100
    /// A folder with more pictures that are named otherwise is one of scans.
    private static let maximumPictures = 50

    /// The digests of the pictures in the songs' tags by `Song.hash(of:)`, nil for a song without one.
    var picturesByName: [UInt32: Digest?] {
        // The row may be damaged.
        let known = songs.songs.filter { Int($0.tags) < tags.count }
        return Dictionary(known.map { ($0.name, tags[Int($0.tags)].picture?.digest) }) { first, _ in first }
    }

    /// Songs without an album in their tags.
    package var untagged: Int {
        let areUnknown = tags.map(\.isAlbumUnknown)
        return songs.songs.count { Int($0.tags) < areUnknown.count && areUnknown[Int($0.tags)] }
    }
}

/// The tags that most songs of a folder share.
package struct SongTags: Sendable, Hashable, Codable {
    package var album = ""
    package var albumArtist = ""
    package var artist = ""
    package var year = ""
    package var originalYear = ""
    package var genre = ""
    package var isCompilation = false
    package var releaseID: String?
    package var releaseGroupID: String?
    package var picture: EmbeddedPicture?

    /// Short: each folder is stored with them.
    private enum CodingKeys: String, CodingKey {
        case album = "t", albumArtist = "b", artist = "a", year = "y", originalYear = "o", genre = "g"
        case isCompilation = "c", releaseID = "r", releaseGroupID = "m", picture = "p"
    }

    init(_ tags: AudioTags) {
        (album, albumArtist, artist) = (tags.album, tags.albumArtist, tags.artist)
        (year, originalYear, genre) = (tags.year, tags.originalYear, tags.genre)
        (isCompilation, picture) = (tags.isCompilation, tags.picture)
        (releaseID, releaseGroupID) = (tags.releaseID, tags.releaseGroupID)
    }

    /// Whether the tags name no album, or programs have written that they do not know it.
    var isAlbumUnknown: Bool {
        album.isEmpty || Self.unknownAlbums.contains(album.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    private static let unknownAlbums: Set<String> = [
        "unknown", "unknownalbum", "nonalbumtrack", "nonalbumtracks", "unbekannt", "unbekanntesalbum", "albuminconnu",
        "inconnu", "álbumdesconocido", "albumdesconocido", "desconocido", "álbumdesconhecido", "albumdesconhecido",
        "albumsconosciuto", "sconosciuto", "àlbumdesconegut", "onbekendalbum", "onbekend", "okäntalbum", "ukendtalbum",
        "ukjentalbum", "tuntematonalbumi", "nieznanyalbum", "neznámealbum", "neznáméalbum", "ismeretlenalbum",
        "albumnecunoscut", "bilinmeyenalbüm", "albumtakdikenal", "неизвестныйальбом", "невідомийальбом",
        "άγνωστοάλμπουμ",
        "不明なアルバム", "不明", "未知专辑", "未知的专辑", "未知專輯", "未知的專輯", "不明專輯", "알수없는앨범", "알수없음", "ألبومغيرمعروف",
        "אלבוםלאידוע",
    ]
}

/// What distinguishes a song from others of its folder, in few bytes. 0 is an unknown number.
package struct Song: Sendable, Hashable {
    /// Its tags, in the folder's `tags`.
    var tags: UInt32
    /// A hash of the file's name.
    var name: UInt32
    /// A hash of the title, folded; 0 if there is none.
    var title: UInt32
    /// In milliseconds.
    var length: UInt32
    var (track, trackTotal): (UInt16, UInt16)
    var (disc, discTotal, side): (UInt8, UInt8, UInt8)

    init(_ tags: AudioTags, name: [UInt8], number: UInt32) {
        self.tags = number
        self.name = Self.hash(of: name)
        let text = Self.folded(tags.title, name)
        title = text.isEmpty ? 0 : UInt32(truncatingIfNeeded: FNV1a.hash(text)) | 1
        length = UInt32(clamping: tags.length ?? 0)
        (disc, discTotal) = (UInt8(clamping: tags.disc ?? 0), UInt8(clamping: tags.discTotal ?? 0))
        (track, trackTotal) = (UInt16(clamping: tags.track ?? 0), UInt16(clamping: tags.trackTotal ?? 0))
        side = UInt8(clamping: tags.side ?? 0)
    }

    /// What stands for the name of a file among those of its folder.
    static func hash(of name: [UInt8]) -> UInt32 { UInt32(truncatingIfNeeded: FNV1a.hash(name)) }

    /// The letters and digits of the title, else of the file's name without its number and extension.
    private static func folded(_ title: String, _ name: [UInt8]) -> String {
        let lower = title.lowercased()
        let text = letters(of: lower)
        if !lower.isEmpty { return text.isEmpty ? lower : text }
        let stem = String(decoding: name, as: UTF8.self).lowercased().split(separator: ".").dropLast()
        return letters(of: String(stem.joined().drop { !$0.isLetter }))
    }

    private static func letters(of text: String) -> String {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.filter { $0.isLetter || $0.isNumber } }
        return String(
            decoding: text.utf8.filter { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }, as: UTF8.self)
    }
}

/// Songs, as a text that is read fast.
package struct SongList: Sendable, Hashable, Codable {
    package var songs: [Song] = []

    package init() {}

    package init(from decoder: any Decoder) throws {
        let data = try decoder.singleValueContainer().decode(Data.self)
        songs = data.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - Song.byteCount + 1, by: Song.byteCount).map { Song(bytes, at: $0) }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(songs.count * Song.byteCount)
        for song in songs {
            for word in song.words { withUnsafeBytes(of: word.littleEndian) { bytes += $0 } }
        }
        var container = encoder.singleValueContainer()
        try container.encode(Data(bytes))
    }
}

extension Song {
    fileprivate static let byteCount = 3 * 8

    /// The song as three words.
    fileprivate var words: [UInt64] {
        let numbers = UInt64(track) << 16 | UInt64(trackTotal)
        let discs = UInt64(side) << 16 | UInt64(disc) << 8 | UInt64(discTotal)
        return [UInt64(name) << 32 | UInt64(title), UInt64(length) << 32 | UInt64(tags), numbers << 32 | discs]
    }

    fileprivate init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        func word(_ index: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + index * 8, as: UInt64.self))
        }
        let (first, second, third) = (word(0), word(1), word(2))
        (name, title) = (UInt32(first >> 32), UInt32(truncatingIfNeeded: first))
        (length, tags) = (UInt32(second >> 32), UInt32(truncatingIfNeeded: second))
        (track, trackTotal) = (UInt16(third >> 48), UInt16(truncatingIfNeeded: third >> 32))
        (side, disc) = (UInt8(truncatingIfNeeded: third >> 16), UInt8(truncatingIfNeeded: third >> 8))
        discTotal = UInt8(truncatingIfNeeded: third)
    }
}
