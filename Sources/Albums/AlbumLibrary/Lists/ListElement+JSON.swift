extension ListElement {
    /// Reads an element of a JSON list: an album, or a string that is a URL. A well-formed value that is not a cover is a problem.
    /// - Parameter location: Where the element begins.
    /// - Returns: Nil for an object that is no album and may hold some.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    static func read(
        _ cursor: inout JSONCursor, _ location: ListLocation, _ options: ListOptions
    ) throws(JSONCursor.SyntaxError) -> ListElement? {
        switch cursor.peek() {
        case Byte.openBrace?:
            var parser = AlbumParser(options)
            try parser.read(&cursor)
            if let mismatch = parser.mismatch {
                let message = "album '\(parser.album.title.inMessage)': \(mismatch); skipped"
                return .problem(ListProblem(location, message, url: parser.album.coverURL))
            }
            return parser.mayHoldAlbums ? nil : .album(parser.album, location)
        case Byte.quote?:
            let item = ListItem(url: try cursor.string(), line: location.line)
            return item.url.isEmpty ? .problem(ListProblem(location, "the URL is empty; skipped")) : .item(item)
        default:
            let kind = JSONCursor.kind(of: cursor.peek())
            try cursor.skipValue()
            return .problem(ListProblem(location, "expected an album or a URL, found \(kind); skipped"))
        }
    }

    /// An object that is no album, and in which none are found.
    static func noAlbum(_ location: ListLocation) -> ListElement {
        let message = "the object is no album; if it holds some, give these, as by jq '.albums[]'; skipped"
        return .problem(ListProblem(location, message))
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
