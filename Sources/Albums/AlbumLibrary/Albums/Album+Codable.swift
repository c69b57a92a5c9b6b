/// The album as an object of its fields: `id`, `title`, `artist`, `genre`, `coverUrl`, `year`, and where else its cover is. Unlike `json` it
/// leaves out fields that have no property: encoders would round their numbers and reorder them.
extension Album: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, title, artist, genre, coverUrl, year, coverUrls, musicBrainzReleaseId, musicBrainzReleaseGroupId
    }

    /// Decodes what `encode(to:)` wrote. Fields that are missing are empty.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
        self.init(
            id: try text(.id), title: try text(.title) ?? "", artist: try text(.artist) ?? "",
            genre: try text(.genre) ?? "", coverURL: try text(.coverUrl), year: try text(.year) ?? "")
        alternateCoverURLs = try fields.decodeIfPresent([String].self, forKey: .coverUrls) ?? []
        musicBrainzReleaseID = try text(.musicBrainzReleaseId)
        musicBrainzReleaseGroupID = try text(.musicBrainzReleaseGroupId)
    }

    /// Encodes the fields that have a property.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(title, forKey: .title)
        try fields.encode(artist, forKey: .artist)
        try fields.encode(genre, forKey: .genre)
        try fields.encodeIfPresent(coverURL, forKey: .coverUrl)
        try fields.encode(year, forKey: .year)
        if !alternateCoverURLs.isEmpty { try fields.encode(alternateCoverURLs, forKey: .coverUrls) }
        try fields.encodeIfPresent(musicBrainzReleaseID, forKey: .musicBrainzReleaseId)
        try fields.encodeIfPresent(musicBrainzReleaseGroupID, forKey: .musicBrainzReleaseGroupId)
    }
}
