import CoverSources
import Foundation
import OriginServer

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
    /// In milliseconds; empty if the services know none.
    var lengths: [Int] = []
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

    /// The id that a service has for it.
    func id(_ name: SourceName, _ number: Int) -> String {
        switch name {
        case .musicbrainz, .caa: Self.id(self, number, "release")
        default: "\(number + 1)"
        }
    }

    /// What a service says of it alone: its date and its songs.
    func details(_ name: SourceName, _ number: Int) -> [String: Any]? {
        let songs = lengths.isEmpty ? Array(repeating: 0, count: tracks) : lengths
        let date = year.map { "\($0)-05-10" } ?? ""
        switch name {
        case .musicbrainz, .caa:
            var result = result(.musicbrainz, number, "")
            let group: [String: Any] = ["id": Self.id(self, number, "release-group"), "first-release-date": date]
            result["release-group"] = group
            result["media"] = [["track-count": tracks, "tracks": songs.map { ["length": $0] }] as [String: Any]]
            return result
        case .itunes:
            let tracks = songs.enumerated().map { number, length -> [String: Any] in
                ["wrapperType": "track", "discNumber": 1, "trackNumber": number + 1, "trackTimeMillis": length]
            }
            return ["results": [result(.itunes, number, "")] + tracks]
        default:
            return [
                "title": title, "nb_tracks": tracks, "release_date": date,
                "tracks": ["data": songs.map { ["duration": $0 / 1_000] }],
            ]
        }
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
            result["collectionId"] = number + 1
            result["artworkUrl100"] = "\(pictures)/100x100bb.jpg"
            result["releaseDate"] = year.map { "\($0)-05-10T07:00:00Z" }
        default:
            result = ["id": number + 1, "title": title, "artist": ["name": artist], "nb_tracks": tracks]
            let folder = picture == .placeholder ? "\(pictures)/images/cover/" : pictures
            for (size, side) in [("cover_medium", 250), ("cover_big", 500), ("cover_xl", 1_000)] {
                result[size] = "\(folder)/\(side)x\(side)-000000-80-0-0.jpg"
            }
        }
        return result
    }

    /// Each service has its own file of an album's picture, and each of twelve albums another picture.
    /// - Parameters:
    ///   - number: The album's, from 0.
    ///   - name: `itunes-0`; `wrong-0` is the picture of another album.
    ///   - side: In pixels, as the service's URL has it.
    func picture(_ number: Int, _ name: String, side: Int) -> [UInt8] {
        let isSame = picture == .same
        let file = (isSame ? "same" : name).utf8.reduce(0) { ($0 * 31 + Int($1)) & 0xFFFF_FFFF }
        let image = isSame ? 11 : number + (name.hasPrefix("wrong") ? 6 : 0)
        // With fewer bytes it would be the icon, which is one for all images.
        return CoverImage.jpeg(number: file, image: image, aboutBytes: 20_000 + side * 20)
    }

    /// A white PNG of 600 by 600 pixels.
    static let plain = Array(
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAlgAAAJYAQAAAACWHaVxAAAAtklEQVR42u3MMQ0AAAwDoPo33ZpYsgcEkN6Jy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwul8vlcrlcLpfL5XK5XC6Xy+VyuVwu18M1nqEiemOHnqAAAAAASUVORK5CYII=
                """) ?? Data())
}
