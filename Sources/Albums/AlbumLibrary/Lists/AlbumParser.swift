/// Reads one album from a JSON object: with the names of the library file, or with those of other programs.
struct AlbumParser {
    private(set) var album = Album()
    /// The first field of a wrong type. The object is read to its end nonetheless: a syntax error takes precedence.
    private(set) var mismatch: String?

    private let options: ListOptions
    private let urlColumn: String?
    private var snakeCaseCoverURL: String?
    /// Fields under other programs' names.
    private var others: [(field: ListField, member: JSONMember)] = []
    /// Whether a field holds others.
    private var isStructured = false
    /// Whether the name of one says that it holds albums.
    private var namesAlbums = false

    init(_ options: ListOptions) {
        self.options = options
        urlColumn = options.urlColumn.map(Album.CoverField.normalize)
    }

    /// Reads the object.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    mutating func read(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in try set(name, &cursor) }
        if let url = album.coverURL ?? snakeCaseCoverURL, !url.isEmpty { album.coverURL = url }
        if !options.isLibraryFile { adoptOthers() }
    }

    /// Whether the object may hold albums rather than being one.
    var mayHoldAlbums: Bool {
        isStructured && (album.title.isEmpty || namesAlbums) && album.coverURL?.isEmpty != false
            && (try? album.hasCoverLocation()) == false
    }

    private mutating func set(_ name: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        if urlColumn != nil, Album.CoverField.normalize(name) == urlColumn {
            return album.coverURL = try text(name, &cursor)
        }
        switch name {
        case "id":
            let id = try textOrNumber(name, &cursor)
            if !id.isEmpty { album.id = id }
        case "title":
            album.title = try text(name, &cursor) ?? ""
        case "artist" where !isStructured(&cursor): album.artist = try text(name, &cursor) ?? ""
        case "genre" where !isStructured(&cursor): album.genre = try text(name, &cursor) ?? ""
        case "coverUrl" where urlColumn == nil: album.coverURL = try text(name, &cursor)
        case "cover_url" where urlColumn == nil: snakeCaseCoverURL = try text(name, &cursor)
        case "year": album.year = try textOrNumber(name, &cursor)
        default:
            if options.isLibraryFile || Album.CoverField(name: name) != nil {
                return try keep(name, &cursor, options.keepsOtherFields || Album.CoverField(name: name) != nil)
            }
            try setOther(name, &cursor)
        }
    }

    /// Reads a field that the library file has no name for.
    private mutating func setOther(_ name: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        let normalized = Album.CoverField.normalize(name)
        guard !isStructured(&cursor), let field = ListField(normalized), field.kind != .cover || urlColumn == nil else {
            if isStructured(&cursor) {
                isStructured = true
                if HeldArray.names.contains(normalized) { namesAlbums = true }
            }
            return try keep(name, &cursor, options.keepsOtherFields)
        }
        let member = JSONMember(name, json: try cursor.rawValue(depth: 1))
        others.append((field, member))
        if options.keepsOtherFields { album.otherFields.append(member) }
    }

    private mutating func keep(
        _ name: String, _ cursor: inout JSONCursor, _ isKept: Bool
    ) throws(JSONCursor.SyntaxError) {
        if !isKept { return try cursor.skipValue(depth: 1) }
        album.otherFields.append(JSONMember(name, json: try cursor.rawValue(depth: 1)))
    }

    // MARK: Other programs' lists

    private func isStructured(_ cursor: inout JSONCursor) -> Bool {
        let first = cursor.peek()
        return !options.isLibraryFile && (first == Byte.openBrace || first == Byte.openBracket)
    }

    /// Fills the fields that are missing from those with other names.
    private mutating func adoptOthers() {
        if album.year == "0" || album.year == "0000" { album.year = "" }
        others.sort { $0.field.rank < $1.field.rank }
        for (field, member) in others {
            guard isMissing(field.kind), let text = member.text?.trimmingWhitespace() else { continue }
            let value: String? =
                switch field.kind {
                case .cover: text.isURL ? text : nil
                case .year: ListField.year(of: text)
                case .title, .artist, .genre: text
                }
            guard let value, !value.isEmpty else { continue }
            set(field.kind, value)
            // The field's own name replaces the other one, unless that says more.
            if member.text == value, let index = album.otherFields.firstIndex(of: member) {
                album.otherFields.remove(at: index)
            }
        }
    }

    private func isMissing(_ kind: ListField.Kind) -> Bool {
        switch kind {
        case .title: album.title.isEmpty
        case .artist: album.artist.isEmpty
        case .genre: album.genre.isEmpty
        case .year: album.year.isEmpty
        case .cover: album.coverURL?.isEmpty != false
        }
    }

    private mutating func set(_ kind: ListField.Kind, _ value: String) {
        switch kind {
        case .title: album.title = value
        case .artist: album.artist = value
        case .genre: album.genre = value
        case .year: album.year = value
        case .cover: album.coverURL = value
        }
    }

    // MARK: Values

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
