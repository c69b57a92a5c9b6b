/// Reads one album from a JSON object.
struct AlbumParser {
    private(set) var album = Album()
    /// The first field of a wrong type. The object is read to its end nonetheless: a syntax error takes precedence.
    private(set) var mismatch: String?

    private var snakeCaseCoverUrl: String?
    private var keepsOtherFields: Bool

    /// - Parameter keepsOtherFields: Keep fields that Sleeve does not know, for callers that write the album again.
    /// - Throws: `SyntaxError`: the JSON is malformed.
    init(_ cursor: inout JSONCursor, keepsOtherFields: Bool) throws(JSONCursor.SyntaxError) {
        self.keepsOtherFields = keepsOtherFields
        var parser = self
        try cursor.object { (cursor, key) throws(JSONCursor.SyntaxError) in try parser.set(key, &cursor) }
        self = parser
        let url = (album.coverUrl ?? snakeCaseCoverUrl)?.trimmingBlanks() ?? ""
        if !url.isEmpty { album.coverUrl = url }
    }

    private mutating func set(_ key: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        switch key {
        case "id": try setID(&cursor)
        case "title": album.title = try text(key, &cursor) ?? ""
        case "artist": album.artist = try text(key, &cursor) ?? ""
        case "genre": album.genre = try text(key, &cursor) ?? ""
        case "coverUrl": album.coverUrl = try text(key, &cursor)
        case "cover_url": snakeCaseCoverUrl = try text(key, &cursor)
        case "year": album.year = try textOrNumber("year", &cursor)
        default:
            guard keepsOtherFields || Album.SourceField(name: key) != nil else {
                return try cursor.skipValue(depth: 1)
            }
            album.otherFields.append(JSONMember(key, try JSONValue(&cursor, depth: 1)))
        }
    }

    /// A string, or `nil` for `null`; any other value is recorded as a mismatch and skipped.
    private mutating func text(_ key: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> String? {
        let first = cursor.peek()
        if first == Byte.quote { return try cursor.string() }
        try cursor.skipValue(depth: 1)
        if first != UInt8(ascii: "n") && mismatch == nil {
            mismatch = "'\(key)' is \(JSONCursor.kind(of: first)), expected a string"
        }
        return nil
    }

    private mutating func textOrNumber(
        _ key: String, _ cursor: inout JSONCursor
    ) throws(JSONCursor.SyntaxError) -> String {
        switch cursor.peek() {
        case UInt8(ascii: "-")?, (Byte.zero...UInt8(ascii: "9"))?: try cursor.number()
        default: try text(key, &cursor) ?? ""
        }
    }

    private mutating func setID(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        let id = try textOrNumber("id", &cursor)
        if !id.isEmpty { album.id = id }
    }
}
