import Crypto

/// An album of the library, as people write it in `albums.json`.
///
/// ```json
/// {"title": "Low Tide", "artist": "The Harbour Lights", "genre": "Folk", "coverUrl": "https://…", "year": "1999"}
/// ```
///
/// Decoding is lenient where lists found in the wild differ: `cover_url` is read where `coverUrl` is missing, a year may
/// be a number, and a missing or `null` text is `""`. A value of another type is a `DecodingError`. Encoding writes `id`,
/// `coverUrl`, the year as a string, and the other fields.
public struct Album: Hashable, Sendable, Identifiable {
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
    package var otherFields: [JSONMember] = []

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
        let digest = SHA256.hash(data: Array(text.utf8)).prefix(8)
        return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
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

    /// The fields of its JSON object, in the order of the library file.
    var members: [JSONMember] {
        func text(_ name: String, _ text: String) -> JSONMember { JSONMember(name, .string(text)) }
        var members = [text("id", id), text("title", title), text("artist", artist), text("genre", genre)]
        if let coverUrl { members.append(text("coverUrl", coverUrl)) }
        members.append(text("year", year))
        return members + otherFields
    }
}

extension Album {
    /// The album as a JSON object on one line: fields in order, numbers to the digit.
    public var json: String {
        var bytes: [UInt8] = []
        JSONValue.object(members).append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a JSON object. Returns nil if the text is not one, or a field has a wrong type.
    public init?(json: String) {
        let album = Array(json.utf8).withUnsafeBytes { bytes -> Album? in
            var cursor = JSONCursor(bytes)
            guard let parser = try? AlbumParser(&cursor, keepsOtherFields: true), cursor.peek() == nil else {
                return nil
            }
            return parser.mismatch == nil ? parser.album : nil
        }
        guard let album else { return nil }
        self = album
    }
}
