import CoverSources
import Foundation

/// An album of the imitated services.
struct ServiceAlbum: Sendable {
    enum Picture: Sendable {
        case own
        /// Of one colour.
        case plain
        /// That of all other albums with this value.
        case same
        /// Deezer's placeholder in place of one.
        case placeholder
    }

    var artist, title: String
    var year: Int?
    var tracks: Int
    /// Those that have it.
    var services: Set<SourceName>
    /// Its MusicBrainz id; made up if it is nil.
    var release: String?
    var picture = Picture.own
    /// Another album, with a picture of its own, comes first in results.
    var isSecond = false
    /// The longest side of iTunes' artwork, in pixels.
    var largest = 1_200

    /// - Parameter entity: `release` or `release-group`.
    static func id(_ album: Self, _ number: Int, _ entity: String) -> String {
        let madeUp = "00000000-0000-4000-8000-\(String(format: "%012d", number * 2 + (entity == "release" ? 0 : 1)))"
        return entity == "release" ? album.release ?? madeUp : madeUp
    }

    /// Whether each word of a search is in the artist or the title. What the services' syntax adds is no word.
    func matches(_ query: String) -> Bool {
        let words = Self.words(query).subtracting(["and", "artist", "album", "release"])
        return !words.isEmpty && words.isSubset(of: Self.words("\(artist) \(title)"))
    }

    private static func words(_ text: String) -> Set<String> {
        let text = text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
        return Set(text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    }

    /// The object that stands for it in a service's answer.
    /// - Parameter pictures: the address of its pictures, without the name that says their size.
    func result(_ name: SourceName, _ number: Int, _ pictures: String) -> [String: Any] {
        var result: [String: Any] = [:]
        switch name {
        case .musicbrainz, .caa:
            result = ["id": Self.id(self, number, "release"), "title": title, "track-count": tracks]
            result["artist-credit"] = [["name": artist]]
            result["release-group"] = ["id": Self.id(self, number, "release-group")]
            result["date"] = year.map { "\($0)-05-10" }
        case .itunes:
            result = ["wrapperType": "collection", "artistName": artist, "collectionName": title, "trackCount": tracks]
            result["artworkUrl100"] = "\(pictures)/100x100bb.jpg"
            result["releaseDate"] = year.map { "\($0)-05-10T07:00:00Z" }
        case .deezer:
            result = ["title": title, "artist": ["name": artist], "nb_tracks": tracks]
            let folder = picture == .placeholder ? "\(pictures)/images/cover/" : pictures
            for (size, side) in [("cover_medium", 250), ("cover_big", 500), ("cover_xl", 1_000)] {
                result[size] = "\(folder)/\(side)x\(side)-000000-80-0-0.jpg"
            }
        }
        return result
    }

    /// A white PNG of 600 by 600 pixels.
    static let plain = Array(
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAlgAAAJYAQAAAACWHaVxAAAAtklEQVR42u3MMQ0AAAwDoPo33ZpYsgcEkN6Jy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwu18M1nqEiemOHnqAAAAAASUVORK5CYII=
                """) ?? Data())
}
