/// An album of the library, as people write it in `albums.json`.
///
/// ```json
/// {"title": "Low Tide", "artist": "The Harbour Lights", "genre": "Folk", "coverUrl": "https://…", "year": "1999"}
/// ```
///
/// Decoding is lenient where lists found in the wild differ: `cover_url` is read where `coverUrl` is missing, a year may
/// be a number, and a missing or `null` text is `""`. A value of another type is a `DecodingError`. Encoding writes
/// `coverUrl`, and the year as a string.
public struct Album: Codable, Hashable, Sendable {
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

    /// An album of these texts.
    public init(title: String = "", artist: String = "", genre: String = "", coverUrl: String? = nil, year: String = "")
    {
        self.title = title
        self.artist = artist
        self.genre = genre
        self.coverUrl = coverUrl
        self.year = year
    }

    private enum CodingKeys: String, CodingKey {
        case title, artist, genre, coverUrl, year
        case snakeCaseCoverUrl = "cover_url"
    }

    /// Reads an album; throws `DecodingError` when a field has the wrong type.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        title = try fields.decodeIfPresent(String.self, forKey: .title) ?? ""
        artist = try fields.decodeIfPresent(String.self, forKey: .artist) ?? ""
        genre = try fields.decodeIfPresent(String.self, forKey: .genre) ?? ""
        coverUrl =
            try fields.decodeIfPresent(String.self, forKey: .coverUrl)
            ?? fields.decodeIfPresent(String.self, forKey: .snakeCaseCoverUrl)
        year = try fields.decodeIfPresent(Year.self, forKey: .year)?.text ?? ""
    }

    /// Writes the album; a missing `coverUrl` is left out.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(title, forKey: .title)
        try fields.encode(artist, forKey: .artist)
        try fields.encode(genre, forKey: .genre)
        try fields.encodeIfPresent(coverUrl, forKey: .coverUrl)
        try fields.encode(year, forKey: .year)
    }
}

/// A year written as `"1999"` or as `1999`.
private struct Year: Decodable {
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
