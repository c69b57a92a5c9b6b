/// One element of a JSON list: an album, or a string that is a URL.
struct JSONElement {
    private var album = Album()
    private var snakeCaseCoverUrl: String?
    /// The first field of a wrong type. The album is skipped, but read to its end: a syntax error takes precedence.
    private var mismatch: String?

    private let keepsOtherFields: Bool

    private init(keepsOtherFields: Bool) { self.keepsOtherFields = keepsOtherFields }

    /// Reads one element that begins at `place`. A well-formed value that is not a cover is a problem.
    /// - Parameter keepsOtherFields: keep fields that Sleeve does not know, for callers that write the album again.
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
            var element = JSONElement(keepsOtherFields: keepsOtherFields)
            try cursor.object { (cursor, key) throws(JSONCursor.SyntaxError) in try element.set(key, &cursor) }
            return element.finished(at: place)
        case Byte.quote?:
            let url = try cursor.string().trimmingBlanks()
            if !url.isEmpty { return .item(ListItem(url: url, line: place.line)) }
            return .problem(ListProblem(place: place, message: "the URL is empty; skipped"))
        default:
            let kind = kind(of: cursor.peek())
            try cursor.skipValue()
            return .problem(ListProblem(place: place, message: "expected an album or a URL, found \(kind); skipped"))
        }
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
            mismatch = "'\(key)' is \(Self.kind(of: first)), expected a string"
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

    private consuming func finished(at place: ListPlace) -> ListElement {
        let url = (album.coverUrl ?? snakeCaseCoverUrl)?.trimmingBlanks() ?? ""
        if let mismatch {
            let message = "album '\(album.title.inMessage)': \(mismatch); skipped"
            return .problem(ListProblem(place: place, message: message, url: url.isEmpty ? nil : url))
        }
        if !url.isEmpty { album.coverUrl = url }
        return .album(album, place)
    }

    private static func kind(of first: UInt8?) -> String {
        switch first {
        case Byte.openBrace?: "an object"
        case Byte.openBracket?: "an array"
        case Byte.quote?: "a string"
        case UInt8(ascii: "t")?, UInt8(ascii: "f")?: "a boolean"
        case UInt8(ascii: "n")?: "null"
        default: "a number"
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

extension String {
    /// Without ASCII blanks at either end.
    func trimmingBlanks() -> String {
        guard let first = utf8.first, let last = utf8.last, Byte.isBlank(first) || Byte.isBlank(last) else {
            return self
        }
        let text = utf8.drop(while: Byte.isBlank)
        let end = text.lastIndex { !Byte.isBlank($0) }.map(text.index(after:)) ?? text.startIndex
        return String(text[..<end]) ?? self
    }
}
