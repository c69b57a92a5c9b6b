import AlbumLibrary
package import Platform

/// What an audio file says of itself and of its album.
package struct AudioTags: Sendable, Hashable, Codable {
    /// As written.
    package var album = ""
    package var albumArtist = ""
    package var artist = ""
    package var title = ""
    /// Four digits; empty if the tags have none that is known.
    package var year = ""
    /// The year of the first release, as `year`.
    package var originalYear = ""
    package var genre = ""
    package var disc: Int?
    package var discTotal: Int?
    package var track: Int?
    /// The number of tracks of the disc, or of all discs.
    package var trackTotal: Int?
    /// The side of a record whose tracks are called A1, B1: from 1.
    package var side: Int?
    /// In milliseconds; nil if it is unknown.
    package var length: Int?
    package var isCompilation = false
    /// MusicBrainz ids, in lower case.
    package var releaseID: String?
    package var releaseGroupID: String?
    /// How many pictures the file has.
    package var pictureCount = 0
    /// The front cover, else the only one of the type "other".
    package var picture: EmbeddedPicture?

    /// Longer texts are cut: the library refuses them.
    static let maximumLength = 1_000
    /// Higher numbers of discs and tracks are unknown.
    private static let maximumNumber = 9_999

    /// Takes a property of TagLib's. Of keys that have one meaning the first value counts.
    /// - Parameter yearRank: The rank of the key that gave the year; `noYear` at first.
    mutating func add(_ key: String, _ value: String, yearRank: inout Int) {
        switch key {
        case "ALBUM": Self.set(&album, value)
        case "ALBUMARTIST", "ALBUM ARTIST", "ALBUM_ARTIST": Self.join(&albumArtist, value)
        case "ARTIST": Self.join(&artist, value)
        case "TITLE": Self.set(&title, value)
        case "GENRE": Self.set(&genre, value)
        case "DISCNUMBER": Self.setNumbers(&disc, &discTotal, value)
        case "DISCTOTAL", "TOTALDISCS": discTotal = Self.number(value) ?? discTotal
        case "TRACKNUMBER": addTrack(value)
        case "TRACKTOTAL", "TOTALTRACKS": trackTotal = Self.number(value) ?? trackTotal
        case "COMPILATION": isCompilation = isCompilation || Self.number(value) == 1 || value.lowercased() == "true"
        case "MUSICBRAINZ_ALBUMID": releaseID = releaseID ?? MusicBrainzID.uuid(value.trimmingWhitespace())
        case "MUSICBRAINZ_RELEASEGROUPID":
            releaseGroupID = releaseGroupID ?? MusicBrainzID.uuid(value.trimmingWhitespace())
        case "ORIGINALDATE", "ORIGINALYEAR":
            if originalYear.isEmpty { originalYear = Self.year(in: value) ?? "" }
        default:
            guard let rank = Self.dates.firstIndex(of: key), rank < yearRank, let found = Self.year(in: value) else {
                return
            }
            (year, yearRank) = (found, rank)
        }
    }

    /// The keys that say the year, the most reliable one first.
    private static let dates = ["DATE", "YEAR", "RELEASEDATE"]
    static let noYear = dates.count

    private static func set(_ field: inout String, _ value: String) { if field.isEmpty { field = clean(value) } }

    private static func join(_ field: inout String, _ value: String) {
        let value = clean(value)
        if field.isEmpty {
            field = value
        } else if !value.isEmpty, field != value {
            field = clean(field + ", " + value)
        }
    }

    /// The text without controls and surrounding blanks, at most `maximumLength` bytes.
    private static func clean(_ text: String) -> String {
        var text = text
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            text = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        }
        text = text.trimmingWhitespace()
        while text.utf8.count > maximumLength { text.removeLast(max(1, (text.utf8.count - maximumLength) / 4)) }
        return text
    }

    /// The number that a text such as `3/12` begins with; nil for 0.
    private static func number(_ text: some StringProtocol) -> Int? {
        let digits = text.drop { $0.isWhitespace }.prefix { $0.isASCII && $0.isNumber }
        return Int(digits).flatMap { (1...maximumNumber).contains($0) ? $0 : nil }
    }

    /// Takes `3`, or `3/12`.
    private static func setNumbers(_ number: inout Int?, _ total: inout Int?, _ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        number = number ?? parts.first.flatMap { Self.number($0) }
        if parts.count > 1 { total = total ?? Self.number(parts[1]) }
    }

    /// Takes `3`, `3/12`, or `A1` of a record.
    private mutating func addTrack(_ text: String) {
        let text = text.trimmingWhitespace()
        guard track == nil, let letter = text.utf8.first.map({ $0 | 0x20 }), (0x61...0x7A).contains(letter) else {
            return Self.setNumbers(&track, &trackTotal, text)
        }
        (side, track) = (Int(letter - 0x60), Self.number(text.dropFirst()))
        if track == nil { side = nil }
    }

    /// The first four digits of a date in any order: `1971-03-05`, `05/03/1971`, `19710305`. Programs write 0000 and 1900 for what they do not
    /// know.
    private static func year(in text: String) -> String? {
        let runs = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let run = runs.first(where: { $0.count >= 4 }) else { return nil }
        let text = String(decoding: run.prefix(4), as: UTF8.self)
        guard let year = Int(text), year >= 1_000, year != 1_900, year <= thisYear else { return nil }
        return text
    }

    private static let thisYear: Int = {
        var (seconds, date) = (time_t(WallClock.milliseconds() / 1_000), tm())
        gmtime_r(&seconds, &date)
        return Int(date.tm_year) + 1_900
    }()
}

/// A picture in the tags of an audio file.
package struct EmbeddedPicture: Sendable, Hashable, Codable {
    /// The types of a front cover, and of a picture of which nothing is said, in ID3v2 (2.3, section 4.15) and FLAC (RFC 9639, section 8.8).
    package static let (frontCover, other) = (3, 0)

    package var type: Int
    /// By the picture's first bytes, such as `image/jpeg`; nil if it is no image that is known.
    package var mediaType: String?
    /// In pixels; nil if the header does not say.
    package var width: Int?
    package var height: Int?
    package var byteCount: Int
    package var digest: Digest

    /// Pixels on the shorter side below which a picture is a witness rather than the cover.
    private static let smallSide = 500

    /// Whether it is taken only if no service has a certain cover: it is small, or wider than 4:3, as the pictures of films are and no cover is.
    var isLastResort: Bool {
        guard let width, let height else { return false }
        return min(width, height) < Self.smallSide || width * 3 > height * 4
    }
}
