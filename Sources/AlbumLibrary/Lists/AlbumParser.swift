/// Reads one album from a JSON object: with the names of the library file, or with those of other programs.
struct AlbumParser {
    private(set) var album = Album()
    /// The first field of a wrong type. The object is read to its end nonetheless: a syntax error takes precedence.
    private(set) var mismatch: String?

    private let options: ListOptions
    private let urlColumn: String?
    private var snakeCaseCoverURL: String?
    /// Whether the title has the library file's name.
    private var hasOwnTitle = false
    /// Fields under other programs' names.
    private var others: [(field: ListField, member: JSONMember)] = []
    /// Objects that may hold the album.
    private var nested: [JSONMember] = []
    /// Normalized names of arrays and objects that may hold albums. The last one may not be read to its end.
    private var lists: [String] = []

    init(_ options: ListOptions) {
        self.options = options
        urlColumn = options.urlColumn.map(Album.CoverField.normalize)
    }

    /// Reads the object.
    /// - Throws: `SyntaxError` if the JSON is malformed.
    mutating func read(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in try set(name, &cursor) }
        let url = (album.coverURL ?? snakeCaseCoverURL)?.trimmingWhitespace() ?? ""
        if !url.isEmpty { album.coverURL = url }
        if !options.isLibraryFile { adoptOthers() }
    }

    /// Whether the object holds albums rather than being one.
    var isList: Bool {
        if lists.isEmpty || locatesCover { return false }
        // An album of another Sleeve may have any fields. A list may have a name.
        return album.title.isEmpty || (hasNamedList && !(options.keepsOtherFields && hasOwnTitle))
    }

    /// Whether the object, of which only the beginning was read, holds a list that is longer than an album may be.
    var mayBeLongList: Bool { !lists.isEmpty && !locatesCover }

    /// Whether the object, with which the file ends, was cut off inside a list.
    var mayBeCutOffList: Bool { mayBeLongList && hasNamedList }

    /// Whether one of its arrays has the name of a list of albums.
    private var hasNamedList: Bool { lists.contains(where: ListField.listNames.contains) }

    /// Whether anything but structure was read.
    var isAlbum: Bool { !album.title.isEmpty || locatesCover }

    private var locatesCover: Bool { album.coverURL?.isEmpty == false || (try? album.hasCoverLocation()) != false }

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
            hasOwnTitle = true
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
        let isArray = cursor.peek() == Byte.openBracket
        let isObject = cursor.peek() == Byte.openBrace
        if let field = ListField(normalized), !((isArray || isObject) && field.kind == .title) {
            if field.kind == .cover, urlColumn != nil { return try keep(name, &cursor, options.keepsOtherFields) }
            let member = JSONMember(name, json: try cursor.rawValue(depth: 1))
            others.append((field, member))
            if options.keepsOtherFields { album.otherFields.append(member) }
        } else if isObject, ListField.nestedNames.contains(normalized) {
            let member = JSONMember(name, json: try cursor.rawValue(depth: 1))
            nested.append(member)
            if options.keepsOtherFields { album.otherFields.append(member) }
        } else {
            if isArray || isObject { lists.append(normalized) }
            try keep(name, &cursor, options.keepsOtherFields)
        }
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

    /// Fills the fields that are missing from those with other names, and from the album inside the object.
    private mutating func adoptOthers() {
        if album.year == "0" || album.year == "0000" { album.year = "" }
        others.sort { $0.field.rank < $1.field.rank }
        for (field, member) in others {
            guard isMissing(field.kind), let tree = JSONTree(member.json) else { continue }
            let value: String? =
                switch field.kind {
                case .cover: tree.pictureURL
                case .year: tree.text.flatMap(ListField.year)
                case .title, .artist, .genre: tree.text?.trimmingWhitespace()
                }
            guard let value, !value.isEmpty else { continue }
            set(field.kind, value)
            // The field's own name replaces the other one, unless that says more.
            if case .string(value) = tree, let index = album.otherFields.firstIndex(of: member) {
                album.otherFields.remove(at: index)
            }
        }
        for member in nested where !hasURL { adopt(member) }
    }

    private var hasURL: Bool { album.coverURL?.isEmpty == false }

    private mutating func adopt(_ member: JSONMember) {
        var options = options
        options.keepsOtherFields = false
        let inner = JSONCursor.read(member.json) { (cursor) throws(JSONCursor.SyntaxError) in
            var inner = AlbumParser(options)
            try inner.read(&cursor)
            return inner.album
        }
        guard let inner else { return }
        let name = Album.CoverField.normalize(member.name)
        if let url = inner.coverURL { album.coverURL = url }
        for kind in [ListField.Kind.title, .artist, .genre, .year]
        where isMissing(kind) || (name == "album" && kind == .title) {
            let value: String =
                switch kind {
                case .title: inner.title
                case .artist: inner.artist
                case .genre: inner.genre
                case .year, .cover: inner.year
                }
            if !value.isEmpty { set(kind, value) }
        }
        for member in inner.otherFields where Album.CoverField(name: member.name) != nil {
            album.addLocation(member)
        }
        if name == "release" { album.addMusicBrainzID(inner.id, .release) }
        if name == "releasegroup" { album.addMusicBrainzID(inner.id, .releaseGroup) }
    }

    private func isMissing(_ kind: ListField.Kind) -> Bool {
        switch kind {
        case .title: album.title.isEmpty
        case .artist: album.artist.isEmpty
        case .genre: album.genre.isEmpty
        case .year: album.year.isEmpty
        case .cover: !hasURL
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
