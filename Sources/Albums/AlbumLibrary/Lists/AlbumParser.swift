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
        isStructured && (album.title.isEmpty || namesAlbums) && album.coverText.isEmpty
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
            let isOfCover = Album.CoverField(name: name) != nil
            if !isOfCover, !options.isLibraryFile { return try setOther(name, &cursor) }
            try keep(name, &cursor, options.keepsOtherFields || isOfCover)
        }
    }

    /// Reads a field that the library file has no name for.
    private mutating func setOther(_ name: String, _ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) {
        let normalized = Album.CoverField.normalize(name)
        if isStructured(&cursor) {
            isStructured = true
            if HeldArray.names.contains(normalized) { namesAlbums = true }
        } else if let field = ListField(normalized), field.kind != .cover || urlColumn == nil {
            let member = JSONMember(name, json: try cursor.rawValue(depth: 1))
            others.append((field, member))
            if options.keepsOtherFields { album.otherFields.append(member) }
            return
        }
        try keep(name, &cursor, options.keepsOtherFields)
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
            let path = Self.path(of: field.kind)
            guard album[keyPath: path].isEmpty, let text = member.text?.trimmingWhitespace() else { continue }
            let value: String? =
                switch field.kind {
                case .cover: text.isURL ? text : nil
                case .year: ListField.year(of: text)
                case .title, .artist, .genre: text
                }
            guard let value, !value.isEmpty else { continue }
            album[keyPath: path] = value
            // The field's own name replaces the other one, unless that says more.
            if member.text == value, let index = album.otherFields.firstIndex(of: member) {
                album.otherFields.remove(at: index)
            }
        }
    }

    private static func path(of kind: ListField.Kind) -> WritableKeyPath<Album, String> {
        switch kind {
        case .title: \.title
        case .artist: \.artist
        case .genre: \.genre
        case .year: \.year
        case .cover: \.coverText
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

/// A field of an album under the names that other programs give it. A name that the library file uses always wins over these.
struct ListField: Hashable {
    enum Kind: Hashable, CaseIterable {
        case title, artist, genre, year, cover
    }

    var kind: Kind
    /// Of several names in one album, the one with the lowest rank is used.
    var rank: Int
    /// Whether the library file uses the name.
    var isOwn: Bool { rank == 0 }

    /// - Parameter name: As `Album.CoverField.normalize` returns it.
    init?(_ name: String) {
        if let field = Self.known[name] {
            self = field
        } else if Self.isCover(name) {
            self.init(.cover, Self.suffixRank)
        } else {
            return nil
        }
    }

    private init(_ kind: Kind, _ rank: Int) {
        self.kind = kind
        self.rank = rank
    }

    /// In the order of preference. beets writes `albumartist` and `cover_art_url`, Exportify `Album Image URL`, iTunes
    /// `artworkUrl100`, Deezer `cover_xl`, Discogs `cover_image`.
    private static let names: [Kind: [String]] = [
        .title: [
            "title", "album", "albumtitle", "albumname", "releasetitle", "releasename", "collectionname", "release",
            "name",
        ],
        .artist: [
            "artist", "albumartist", "albumartists", "albumartistname", "albumartistnames", "artistname", "artistnames",
            "artists", "artistcredit", "artistcreditname", "performer", "band",
        ],
        .genre: ["genre", "genres", "albumgenre", "albumgenres", "styles", "style"],
        .year: [
            "year", "originalyear", "releaseyear", "albumyear", "originaldate", "firstreleasedate", "albumreleasedate",
            "releasedate", "released", "date",
        ],
        .cover: [
            "coverurl", "coverarturl", "albumcoverurl", "albumimageurl", "albumarturl", "artworkurl", "frontcoverurl",
            "coverxl", "coverbig", "coverimage", "artworkurl600", "artworkurl100", "albumcover", "albumart", "artwork",
            "coverart", "frontcover", "imageurl", "cover", "images", "image", "imgurl", "img", "pictureurl",
            "picture", "covermedium", "coversmall", "artworkurl60", "thumbnailurl", "thumbnail", "thumburl", "thumb",
            "url", "link",
        ],
    ]
    /// Before thumbnails and `url`, which is the address of the album's page in some lists.
    private static let suffixRank = 17

    private static let known: [String: ListField] = {
        var known: [String: ListField] = [:]
        for (kind, names) in names {
            for (rank, name) in names.enumerated() { known[name] = ListField(kind, rank) }
        }
        return known
    }()

    /// Whether a name such as `Release Cover URL` is that of an album's cover.
    private static func isCover(_ name: String) -> Bool {
        let suffixes = ["imageurl", "coverurl", "arturl", "artworkurl", "pictureurl", "coverimage", "coverart"]
        guard suffixes.contains(where: name.hasSuffix) else { return false }
        return !["artist", "track", "user", "profile", "playlist", "owner", "avatar", "back"].contains(
            where: name.contains)
    }

    /// The year at the beginning of a date; nil if there is none. 0 stands for an unknown year.
    static func year(of date: String) -> String? {
        let digits = date.utf8.prefix { $0 >= Byte.zero && $0 <= UInt8(ascii: "9") }
        guard digits.count == 4, let year = String(digits), year != "0000" else { return nil }
        return year
    }
}

extension String {
    /// Whether the text is an absolute URL rather than a file's name.
    var isURL: Bool { contains("://") }
}

extension Album {
    /// Reads a JSON object. Returns nil if the text is malformed or a field has a wrong type. A cover file that it names is left out: only
    /// a scan of this computer finds one.
    public init?(json: String) {
        guard let album = Album(libraryJSON: json) else { return nil }
        self = album.withoutCoverFile
    }

    /// The same of the library's own, with its cover file.
    init?(libraryJSON json: String) {
        let parser = JSONCursor.read(json) { (cursor) throws(JSONCursor.SyntaxError) in
            var parser = AlbumParser(ListOptions(keepsOtherFields: true, isLibraryFile: true))
            try parser.read(&cursor)
            return parser
        }
        guard let parser, parser.mismatch == nil else { return nil }
        self = parser.album
        coverURL = coverURL?.trimmingWhitespace()
    }

    /// `coverURL`; `""` if there is none.
    fileprivate var coverText: String {
        get { coverURL ?? "" }
        set { coverURL = newValue }
    }
}

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
            return parser.mayHoldAlbums ? nil : .album(parser.album, location, options)
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
