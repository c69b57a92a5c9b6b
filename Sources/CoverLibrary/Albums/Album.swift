import CoverCache
import CurlHTTP

/// An album of the library, as people write it in `albums.json`.
///
/// ```json
/// {"title": "Low Tide", "artist": "The Harbour Lights", "genre": "Folk", "coverUrl": "https://…", "year": "1999"}
/// ```
///
/// Decoding is lenient where lists found in the wild differ: `cover_url` is read where `coverUrl` is missing, a year may
/// be a number, and a missing or `null` text is `""`. A value of another type is a `DecodingError`. Encoding writes `id`,
/// `coverUrl`, the year as a string, and the other fields.
public struct Album: Codable, Hashable, Sendable, Identifiable {
    /// The album's title; `""` where the list has none.
    public var title: String

    /// Who made it; `""` where the list has none.
    public var artist: String

    /// The genre; `""` where the list has none.
    public var genre: String

    /// Where the cover is, as written in the list and not yet validated; `nil` where the list has none.
    public var coverUrl: String?

    /// The year it came out, as written; `""` where the list has none.
    public var year: String

    /// What else the library file says of the album: kept, in its order, and not looked at.
    public var otherFields: [JSONMember] = []

    /// What `id` was set to; `nil` where the list has none.
    private(set) var givenID: String?

    /// Names the album whatever its place. Where the list gives none, it follows from title, artist, year and cover URL,
    /// so that everybody who reads the list has the same; the library writes it down with its first edit.
    public var id: String {
        get { givenID ?? derivedID }
        set { givenID = newValue }
    }

    /// An album of these texts.
    public init(
        id: String? = nil, title: String = "", artist: String = "", genre: String = "", coverUrl: String? = nil,
        year: String = ""
    ) {
        self.title = title
        self.artist = artist
        self.genre = genre
        self.coverUrl = coverUrl
        self.year = year
        givenID = id
    }

    private var derivedID: String {
        let text = [title, artist, year, coverUrl ?? ""].joined(separator: "\u{1F}")
        return String(Array(text.utf8).withUnsafeBytes { Digest(of: $0) }.description.prefix(16))
    }

    /// A line of an album's table.
    public struct TableRow: Hashable, Sendable {
        /// What the value is: `"Artist"`.
        public var title: String
        /// The album's own; `""` where the list has none.
        public var value: String
    }

    /// The album as a table for people: Artist, Album, Genre, Year, in this order.
    public var tableRepresentation: [TableRow] {
        [
            TableRow(title: "Artist", value: artist), TableRow(title: "Album", value: title),
            TableRow(title: "Genre", value: genre), TableRow(title: "Year", value: year),
        ]
    }

    /// The key its cover has in the cache: the normalised URL.
    /// - Throws: `CoverFailure`, when there is no URL, or none that can be fetched.
    public var coverKey: String {
        get throws(CoverFailure) {
            let url = coverUrl?.trimmingBlanks() ?? ""
            if url.isEmpty { throw CoverFailure(.badURL, url: "", detail: "the album has no cover URL") }
            do throws(HTTPURL.Problem) {
                return try HTTPURL(url).string
            } catch {
                throw CoverFailure(.badURL, url: CoverFailure.shown(url), detail: "\(error)")
            }
        }
    }

    private enum Known: String, CaseIterable {
        case id, title, artist, genre, coverUrl, year
        case snakeCaseCoverUrl = "cover_url"
        var name: FieldName { FieldName(rawValue) }
    }

    /// Reads an album; throws `DecodingError` when a field has the wrong type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        func text(_ field: Known) throws -> String? { try fields.decodeIfPresent(String.self, forKey: field.name) }
        givenID = try fields.decodeIfPresent(TextOrNumber.self, forKey: Known.id.name)?.text
        title = try text(.title) ?? ""
        artist = try text(.artist) ?? ""
        genre = try text(.genre) ?? ""
        coverUrl = try text(.coverUrl) ?? text(.snakeCaseCoverUrl)
        year = try fields.decodeIfPresent(TextOrNumber.self, forKey: Known.year.name)?.text ?? ""
        otherFields =
            try fields.allKeys.filter { Known(rawValue: $0.stringValue) == nil }
            .sorted { $0.stringValue < $1.stringValue }
            .map { JSONMember($0.stringValue, try fields.decode(JSONValue.self, forKey: $0)) }
    }

    /// Writes the album; a missing `coverUrl` is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: FieldName.self)
        for member in members { try fields.encode(member.value, forKey: FieldName(member.name)) }
    }

    /// The fields of its JSON object, in the order of the library file.
    var members: [JSONMember] {
        func text(_ field: Known, _ text: String) -> JSONMember { JSONMember(field.rawValue, .string(text)) }
        var members = [text(.id, id), text(.title, title), text(.artist, artist), text(.genre, genre)]
        if let coverUrl { members.append(text(.coverUrl, coverUrl)) }
        members.append(text(.year, year))
        return members + otherFields
    }
}

extension Album {
    /// The album as a JSON object on one line, nothing rounded and in order.
    package var json: String {
        var bytes: [UInt8] = []
        JSONValue.object(members).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a JSON object; nil when it is no album.
    package init?(json: String) {
        let element = Array(json.utf8).withUnsafeBytes { bytes in
            try? JSONElement.read(bytes, at: ListPlace(file: "album", line: 1), keepsOtherFields: true)
        }
        switch element {
        case .item(let item): self.init(optional: item.album)
        case .problem(let problem): self.init(optional: problem.album)
        case nil: return nil
        }
    }

    private init?(optional: Album?) {
        guard let optional else { return nil }
        self = optional
    }
}

/// `"1999"` or `1999`.
private struct TextOrNumber: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            text = String(number)
        } else {
            text = try value.decode(String.self)
        }
    }
}
