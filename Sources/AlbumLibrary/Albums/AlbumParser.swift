/// Reads one album from a JSON object.
struct AlbumParser {
    private(set) var album = Album()
    /// The first field of a wrong type. The object is read to its end nonetheless: a syntax error takes precedence.
    private(set) var mismatch: String?

    private var snakeCaseCoverURL: String?
    private let keepsOtherFields: Bool

    /// - Parameter keepsOtherFields: Keep fields that Sleeve does not know, for callers that write the album again.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    init(_ cursor: inout JSONCursor, keepsOtherFields: Bool) throws(JSONCursor.SyntaxError) {
        self.keepsOtherFields = keepsOtherFields
        try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in try set(name, &cursor) }
        let url = (album.coverURL ?? snakeCaseCoverURL)?.trimmingWhitespace() ?? ""
        if !url.isEmpty { album.coverURL = url }
    }

    private mutating func set(_ name: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        switch name {
        case "id":
            let id = try textOrNumber(name, &cursor)
            if !id.isEmpty { album.id = id }
        case "title": album.title = try text(name, &cursor) ?? ""
        case "artist": album.artist = try text(name, &cursor) ?? ""
        case "genre": album.genre = try text(name, &cursor) ?? ""
        case "coverUrl": album.coverURL = try text(name, &cursor)
        case "cover_url": snakeCaseCoverURL = try text(name, &cursor)
        case "year": album.year = try textOrNumber(name, &cursor)
        default:
            guard keepsOtherFields || Album.CoverField(name: name) != nil else {
                return try cursor.skipValue(depth: 1)
            }
            album.otherFields.append(JSONMember(name, json: try cursor.rawValue(depth: 1)))
        }
    }

    /// A string, or nil for `null`. Any other value is skipped and recorded as a mismatch.
    private mutating func text(_ name: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> String? {
        let first = cursor.peek()
        if first == Byte.quote { return try cursor.string() }
        try cursor.skipValue(depth: 1)
        if first != UInt8(ascii: "n") && mismatch == nil {
            mismatch = "'\(name)' is \(JSONCursor.kind(of: first)), expected a string"
        }
        return nil
    }

    private mutating func textOrNumber(
        _ name: String, _ cursor: inout JSONCursor
    ) throws(JSONCursor.SyntaxError) -> String {
        switch cursor.peek() {
        case UInt8(ascii: "-")?, (Byte.zero...UInt8(ascii: "9"))?: try cursor.number()
        default: try text(name, &cursor) ?? ""
        }
    }
}
