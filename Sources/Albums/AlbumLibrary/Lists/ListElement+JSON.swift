extension ListElement {
    /// Reads an element of a JSON list: an album, or a string that is a URL. A well-formed value that is not a cover is a problem.
    /// - Parameter location: Where the element begins.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    static func read(
        _ cursor: inout JSONCursor, _ location: ListLocation, _ options: ListOptions
    ) throws(JSONCursor.SyntaxError) -> ListElement {
        switch cursor.peek() {
        case Byte.openBrace?:
            var parser = AlbumParser(options)
            try parser.read(&cursor)
            if let mismatch = parser.mismatch {
                let message = "album '\(parser.album.title.inMessage)': \(mismatch); skipped"
                return .problem(ListProblem(location, message, url: parser.album.coverURL))
            }
            if parser.mayHoldAlbums {
                let message = "the object is no album; if it holds some, give these, as by jq '.albums[]'; skipped"
                return .problem(ListProblem(location, message))
            }
            return .album(parser.album, location)
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
