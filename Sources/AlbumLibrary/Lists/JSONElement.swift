/// Reads one element of a JSON list: an album, or a string that is a URL.
enum JSONElement {
    /// Reads one element that begins at `place`. A well-formed value that is not a cover is a problem.
    /// - Parameter keepsOtherFields: Keep fields that Sleeve does not know, for callers that write the album again.
    /// - Throws: `ListProblem`: the JSON is malformed, with the line and column of the error.
    static func read(
        _ bytes: UnsafeRawBufferPointer, at place: ListPlace, keepsOtherFields: Bool
    ) throws(ListProblem) -> ListElement {
        var cursor = JSONCursor(bytes)
        do {
            let element = try read(&cursor, place, keepsOtherFields)
            try cursor.expectEnd()
            return element
        } catch {
            throw ListProblem(
                place: place.advanced(by: error.offset, in: bytes), message: "malformed JSON: \(error.message)")
        }
    }

    private static func read(
        _ cursor: inout JSONCursor, _ place: ListPlace, _ keepsOtherFields: Bool
    ) throws(JSONCursor.SyntaxError) -> ListElement {
        switch cursor.peek() {
        case Byte.openBrace?:
            let parser = try AlbumParser(&cursor, keepsOtherFields: keepsOtherFields)
            guard let mismatch = parser.mismatch else { return .album(parser.album, place) }
            let message = "album '\(parser.album.title.inMessage)': \(mismatch); skipped"
            return .problem(ListProblem(place: place, message: message, url: parser.album.coverUrl))
        case Byte.quote?:
            let url = try cursor.string().trimmingBlanks()
            if !url.isEmpty { return .item(ListItem(url: url, line: place.line)) }
            return .problem(ListProblem(place: place, message: "the URL is empty; skipped"))
        default:
            let kind = JSONCursor.kind(of: cursor.peek())
            try cursor.skipValue()
            return .problem(ListProblem(place: place, message: "expected an album or a URL, found \(kind); skipped"))
        }
    }
}

extension ListPlace {
    /// The place `offset` bytes after this one, which is where `bytes` begin.
    func advanced(by offset: Int, in bytes: UnsafeRawBufferPointer) -> ListPlace {
        var place = self
        for byte in bytes.prefix(offset) {
            if byte == Byte.newline {
                place.line += 1
                place.column = 1
            } else {
                place.column = (place.column ?? 1) + 1
            }
        }
        return place
    }
}
