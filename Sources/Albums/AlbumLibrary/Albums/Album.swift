package import Files
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

    /// The album as a table for display. A field that it has not is `""`.
    package var tableRepresentation: [(title: String, value: String)] {
        [("Artist", artist), ("Album", title), ("Genre", genre), ("Year", year)]
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
    package var json: String {
        // Line breaks are between values only: in strings they are escaped (RFC 8259 section 7).
        jsonObject.utf8.split { $0 == Byte.newline || $0 == Byte.carriageReturn }
            .map { String(Substring($0)).trimmingWhitespace() }.joined(separator: " ")
    }

    /// `id`, or the first of `id-2`, `id-3`, … that is not in `taken`. Inserts it there.
    package static func unusedID(_ id: String, _ taken: inout Set<String>) -> String {
        var (candidate, number) = (id, 2)
        while !taken.insert(candidate).inserted { (candidate, number) = ("\(id)-\(number)", number + 1) }
        return candidate
    }

    /// The maximum length of an album's JSON object, in bytes. Readers of lists skip longer ones.
    static let maximumLength = 1 << 20
}

extension Album {
    /// Whether all fields are the same, in any order. An id that follows from the album's texts equals the same one that is written down.
    public static func == (left: Album, right: Album) -> Bool {
        (left.title, left.artist, left.genre, left.year) == (right.title, right.artist, right.genre, right.year)
            && left.coverURL == right.coverURL
            && (left.otherFields == right.otherFields || Set(left.otherFields) == Set(right.otherFields))
            && (left.explicitID == right.explicitID || left.id == right.id)
    }

    /// Hashes the fields that most albums differ in.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(title)
        hasher.combine(artist)
        hasher.combine(year)
        hasher.combine(coverURL)
    }
}

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

// The cover file that a person has beside an album's music, read where it is.
extension Album {
    /// In bytes. A larger file is no cover.
    private static let maximumCoverFileLength = 64 << 20

    /// The cover file, open. Nil if there is none, it cannot be read, or something else than a file is in its place.
    ///
    /// A link in its place is not followed: it may lead to any file. What is no file is not opened: opening some devices does something.
    package func openCoverFile() -> SourceFile? {
        let slash = UInt8(ascii: "/")
        guard let path = coverFilePath, path.first == slash, !path.contains(0), let last = path.lastIndex(of: slash),
            let name = FileName(path[(last + 1)...]),
            let folder = try? OpenFolder(path: last == 0 ? [slash] : Array(path[..<last])),
            let status = try? folder.status(of: name), status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.maximumCoverFileLength, let file = try? folder.file(name),
            file.length <= Self.maximumCoverFileLength
        else { return nil }
        return file
    }

    /// What says whether the cover file has changed: its place, its length and its time. Nil if there is no file that may be read.
    package var coverFileVersion: String? {
        guard let status = openCoverFile()?.status else { return nil }
        let time = status.modificationTime
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)"
    }
}

/// Why an album cannot be added.
package struct AlbumProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field's name in the library file.
    package var field: String
    /// One line, without the field.
    package var message: String
    package var description: String { "\(field): \(message)" }
}

extension Album {
    /// Checks the album. Returns it without whitespace around its texts.
    /// - Parameters:
    ///   - former: The album before an edit. Problems in fields that the edit does not change are ignored.
    ///   - urlProblem: Why a cover URL cannot be requested, and the URL as a message may repeat it; nil if it can be.
    /// - Throws: `AlbumProblem` if it has no title, or its year, a cover URL or a MusicBrainz id is not valid.
    package func validated(
        editing former: Album?, urlProblem: (String) -> (url: String, reason: String)?
    ) throws(AlbumProblem) -> Album {
        var album = self
        album.title = title.trimmingWhitespace()
        album.artist = artist.trimmingWhitespace()
        album.genre = genre.trimmingWhitespace()
        album.year = year.trimmingWhitespace()
        album.coverURL = coverURL?.trimmingWhitespace()
        if album.coverURL?.isEmpty == true { album.coverURL = nil }
        let problem = album.problems(urlProblem).first { former?.hasSame($0.field, as: album) != true }
        if let problem { throw problem }
        return album
    }

    private func hasSame(_ field: String, as other: Album) -> Bool {
        if field == CoverField.alternates.rawValue { return alternateCoverURLs == other.alternateCoverURLs }
        return members[field] == other.members[field]
    }

    private func problems(_ urlProblem: (String) -> (url: String, reason: String)?) -> [AlbumProblem] {
        var problems: [AlbumProblem] = []
        func add(_ field: String, _ message: String) { problems.append(AlbumProblem(field: field, message: message)) }
        if title.isEmpty { add("title", "an album needs a title") }
        for (field, text) in [("title", title), ("artist", artist), ("genre", genre)] where text.utf8.count > 1_000 {
            add(field, "the \(field) is longer than 1,000 bytes")
        }
        let isYear = year.isEmpty || (year.count == 4 && year.allSatisfy { ("0"..."9").contains($0) })
        if !isYear { add("year", "the year needs four digits, such as 1999") }
        if let problem = coverURL.flatMap(urlProblem) { add("coverUrl", problem.reason) }
        for problem in alternateCoverURLs.compactMap(urlProblem) {
            add("coverUrls", "\(problem.url): \(problem.reason)")
        }
        do { _ = try musicBrainzIDs() } catch { problems.append(error) }
        // Lists, and programs that read the library file as a list, skip longer elements.
        let size = members.reduce(0) { $0 + $1.name.utf8.count + $1.json.utf8.count + 12 }
        if size > Self.maximumLength {
            let name = members.max { $0.json.utf8.count < $1.json.utf8.count }?.name ?? ""
            add(name.inMessage, "the album's fields take \(size) bytes, of at most 1 MiB (\(Self.maximumLength))")
        }
        return problems
    }
}
