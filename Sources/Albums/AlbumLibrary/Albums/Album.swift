import Platform

/// An album of the library, as written in `albums.json`.
///
/// ```json
/// {"title": "Low Tide", "artist": "The Harbour Lights", "genre": "Folk", "coverUrl": "https://…", "year": "1999"}
/// ```
///
/// Reading is lenient where lists differ: `cover_url` replaces a missing `coverUrl`, a year may be a number, and a missing or
/// `null` text is `""`. An object with a text field of another type is not an album.
public struct Album: Hashable, Sendable, Identifiable {
    /// The album's title; `""` if the list has none.
    public var title: String

    /// The artist; `""` if the list has none.
    public var artist: String

    /// The genre; `""` if the list has none.
    public var genre: String

    /// The URL of the cover, as written and not validated; `nil` if the list has none. It is `coverUrl` in lists.
    public var coverURL: String?

    /// The year of release, as written; `""` if the list has none.
    public var year: String

    /// The fields that this type has no property for, in their order.
    package var otherFields: [JSONMember] = []

    private var explicitID: String?

    /// Identifies the album wherever it is in the library. An album without an id in its list has one derived from title,
    /// artist, year and cover URL, so every reader of the list derives the same. The first edit of the library writes it down.
    public var id: String {
        get { explicitID ?? derivedID }
        set { explicitID = newValue }
    }

    /// Creates an album of these texts.
    public init(
        id: String? = nil, title: String = "", artist: String = "", genre: String = "", coverURL: String? = nil,
        year: String = ""
    ) {
        self.title = title
        self.artist = artist
        self.genre = genre
        self.coverURL = coverURL
        self.year = year
        explicitID = id
    }

    private var derivedID: String {
        let text = [title, artist, year, coverURL ?? ""].joined(separator: "\u{1F}")
        return String(Digest(of: text.utf8).description.prefix(16))
    }

    /// A row of an album's table.
    public struct TableRow: Hashable, Sendable {
        /// The name of the field, such as "Artist".
        public var title: String
        /// The album's value; `""` if it has none.
        public var value: String
    }

    /// The album as a table for display: Artist, Album, Genre, Year, in this order.
    public var tableRepresentation: [TableRow] {
        [
            TableRow(title: "Artist", value: artist), TableRow(title: "Album", value: title),
            TableRow(title: "Genre", value: genre), TableRow(title: "Year", value: year),
        ]
    }

    // MARK: JSON

    /// The fields of the album's JSON object, in the order of the library file.
    var members: [JSONMember] {
        var members = [
            JSONMember("id", id), JSONMember("title", title), JSONMember("artist", artist), JSONMember("genre", genre),
        ]
        if let coverURL { members.append(JSONMember("coverUrl", coverURL)) }
        members.append(JSONMember("year", year))
        return members + otherFields
    }

    /// The album as a JSON object with all its fields, those without a property as written.
    var jsonObject: String { "{" + members.map { "\($0.name.json): \($0.json)" }.joined(separator: ", ") + "}" }

    /// The album as a JSON object on one line, with all its fields.
    public var json: String {
        // Line breaks are between values only: in strings they are escaped (RFC 8259 section 7).
        jsonObject.utf8.split { $0 == Byte.newline || $0 == Byte.carriageReturn }
            .map { String(Substring($0)).trimmingWhitespace() }.joined(separator: " ")
    }

    /// `id`, or the first of `id-2`, `id-3`, … that is not in `taken`. Inserts it there.
    static func unusedID(_ id: String, _ taken: inout Set<String>) -> String {
        var (candidate, number) = (id, 2)
        while !taken.insert(candidate).inserted { (candidate, number) = ("\(id)-\(number)", number + 1) }
        return candidate
    }

    /// The maximum length of an album's JSON object, in bytes. Readers of lists skip longer ones.
    static let maximumLength = 1 << 20
}
