/// Reads one element of a JSON list: an album, or a string that is a URL.
enum JSONElement {
    /// A well-formed value that is not a cover is a problem.
    /// - Parameters:
    ///   - location: Where the element begins.
    ///   - keepsOtherFields: Keep fields that Sleeve does not know, for callers that write the album again.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    static func read(
        _ cursor: inout JSONCursor, _ location: ListLocation, _ keepsOtherFields: Bool
    ) throws(JSONCursor.SyntaxError) -> ListElement {
        switch cursor.peek() {
        case Byte.openBrace?:
            let parser = try AlbumParser(&cursor, keepsOtherFields: keepsOtherFields)
            guard let mismatch = parser.mismatch else { return .album(parser.album, location) }
            let message = "album '\(parser.album.title.inMessage)': \(mismatch); skipped"
            return .problem(ListProblem(location, message, url: parser.album.coverURL))
        case Byte.quote?:
            let url = try cursor.string().trimmingWhitespace()
            if !url.isEmpty { return .item(ListItem(url: url, line: location.line)) }
            return .problem(ListProblem(location, "the URL is empty; skipped"))
        default:
            let kind = JSONCursor.kind(of: cursor.peek())
            try cursor.skipValue()
            return .problem(ListProblem(location, "expected an album or a URL, found \(kind); skipped"))
        }
    }
}

extension ListProblem {
    /// - Parameters:
    ///   - location: Of the first of `bytes`.
    ///   - suffix: Follows the message.
    init(
        malformed error: JSONCursor.SyntaxError, _ location: ListLocation, in bytes: UnsafeRawBufferPointer,
        _ suffix: String = ""
    ) {
        self.init(location.advanced(by: error.offset, in: bytes), "malformed JSON: \(error.message)\(suffix)")
    }
}
