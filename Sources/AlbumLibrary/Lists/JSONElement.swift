/// One element of a JSON list: an album, or a string that is a URL.
enum JSONElement {
    case element(ListElement)
    /// An object that holds albums.
    case list(isNamed: Bool)
    /// An object without a title or a location, such as the paging information beside a list.
    case structure(ListElement)

    /// Reads an element. A well-formed value that is not a cover is a problem.
    /// - Parameters:
    ///   - location: Where the element begins.
    ///   - parser: An unused parser; afterwards it has what was read, also after an error.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    static func read(
        _ cursor: inout JSONCursor, _ location: ListLocation, _ parser: inout AlbumParser
    ) throws(JSONCursor.SyntaxError) -> JSONElement {
        switch cursor.peek() {
        case Byte.openBrace?:
            try parser.read(&cursor)
            if parser.isList { return .list(isNamed: !parser.album.title.isEmpty) }
            guard let mismatch = parser.mismatch else {
                let element = ListElement.album(parser.album, location)
                return parser.isAlbum ? .element(element) : .structure(element)
            }
            let message = "album '\(parser.album.title.inMessage)': \(mismatch); skipped"
            return .element(.problem(ListProblem(location, message, url: parser.album.coverURL)))
        case Byte.quote?:
            let url = try cursor.string().trimmingWhitespace()
            if !url.isEmpty { return .element(.item(ListItem(url: url, line: location.line))) }
            return .element(.problem(ListProblem(location, "the URL is empty; skipped")))
        default:
            let kind = JSONCursor.kind(of: cursor.peek())
            try cursor.skipValue()
            return .element(.problem(ListProblem(location, "expected an album or a URL, found \(kind); skipped")))
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
