import AlbumLibrary
import Platform

/// The tags of an audio file that identify its album.
package struct AudioTags: Sendable, Hashable, Codable {
    package var album = ""
    package var albumArtist = ""
    package var artist = ""
    /// Four digits; empty if the tags have none.
    package var year = ""
    package var genre = ""
    package var disc: Int?
    package var track: Int?
    package var isCompilation = false
    /// MusicBrainz ids, in lower case.
    package var releaseID: String?
    package var releaseGroupID: String?
    /// How many pictures the file has.
    package var pictureCount = 0
    /// The front cover, else the only picture.
    package var picture: EmbeddedPicture?

    package init() {}

    /// Longer texts are cut: the library refuses them.
    static let maximumLength = 1_000

    /// Takes a property of TagLib's. Of keys that have one meaning the first value counts.
    /// - Parameter yearRank: The rank of the key that gave the year; `noYear` at first.
    mutating func add(_ key: String, _ value: String, yearRank: inout Int) {
        switch key {
        case "ALBUM": Self.set(&album, value)
        case "ALBUMARTIST", "ALBUM ARTIST", "ALBUM_ARTIST": Self.join(&albumArtist, value)
        case "ARTIST": Self.join(&artist, value)
        case "GENRE": Self.set(&genre, value)
        case "DISCNUMBER": disc = disc ?? Self.number(value)
        case "TRACKNUMBER": track = track ?? Self.number(value)
        case "COMPILATION": isCompilation = isCompilation || Self.number(value) == 1 || value.lowercased() == "true"
        case "MUSICBRAINZ_ALBUMID": releaseID = releaseID ?? Self.uuid(value)
        case "MUSICBRAINZ_RELEASEGROUPID": releaseGroupID = releaseGroupID ?? Self.uuid(value)
        default:
            guard let rank = Self.dates.firstIndex(of: key), rank < yearRank, let found = Self.year(in: value) else {
                return
            }
            (year, yearRank) = (found, rank)
        }
    }

    /// The keys that say the year, the most reliable one first.
    private static let dates = ["DATE", "YEAR", "RELEASEDATE", "ORIGINALDATE", "ORIGINALYEAR"]
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

    /// The number that a text such as `3/12` begins with.
    private static func number(_ text: String) -> Int? {
        Int(text.trimmingWhitespace().prefix { $0.isASCII && $0.isNumber })
    }

    /// The first four digits of a date in any order: `1971-03-05`, `05/03/1971`, `19710305`.
    private static func year(in text: String) -> String? {
        let runs = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let run = runs.first(where: { $0.count >= 4 }) else { return nil }
        let year = String(decoding: run.prefix(4), as: UTF8.self)
        return year == "0000" ? nil : year
    }

    private static func uuid(_ text: String) -> String? {
        let text = text.trimmingWhitespace().lowercased()
        return text.utf8.count == 36 && UUID(uuidString: text) != nil ? text : nil
    }
}
