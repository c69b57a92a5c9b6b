/// Comma, tab or semicolon separated albums with a header that names the columns, in any order and case.
struct CSVParser: ListParser {
    private let file: String
    private var splitter: CSVSplitter
    private let needsCovers: Bool
    private var header: CSVHeader?

    /// - Parameter needsCovers: refuse a list without a column of cover URLs; else a column of titles is enough.
    init(file: String, separator: UInt8, needsCovers: Bool = true) {
        self.file = file
        self.needsCovers = needsCovers
        splitter = CSVSplitter(separator: separator)
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let (file, needsCovers) = (file, needsCovers)
        var header = header
        defer { self.header = header }
        try splitter.feed(bytes) { (piece) throws(ListProblem) in
            try Self.append(piece, file, needsCovers, &header, to: &elements)
        }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        let (file, needsCovers) = (file, needsCovers)
        var header = header
        try splitter.finish { (piece) throws(ListProblem) in
            try Self.append(piece, file, needsCovers, &header, to: &elements)
        }
    }

    @inline(__always)
    private static func append(
        _ piece: CSVSplitter.Piece, _ file: String, _ needsCovers: Bool, _ header: inout CSVHeader?,
        to elements: inout [ListElement]
    ) throws(ListProblem) {
        switch piece {
        case .row(let row, let line):
            let place = ListPlace(file: file, line: line)
            if let header {
                elements.append(header.element(row, place))
            } else {
                header = try CSVHeader(row, place, needsCovers: needsCovers)
            }
        case .tooLong(let line):
            elements.append(.problem(.tooLong("the row", ListPlace(file: file, line: line))))
        case .unclosed(let line):
            let message = "a quoted field is never closed; this row and the rest of the file are skipped"
            elements.append(.problem(ListProblem(place: ListPlace(file: file, line: line), message: message)))
        }
    }
}

/// The columns of a CSV list.
struct CSVHeader {
    /// The names of a column of cover URLs, the preferred one first; case, blanks, `_` and `-` are ignored.
    static let coverNames = ["coverurl", "url", "cover", "image"]

    private let id, title, artist, genre, year: Int?
    private let cover: Int?
    /// The columns of other cover locations.
    private let sources: [(name: String, column: Int)]
    private let count: Int

    /// - Throws: `ListProblem`: no column locates covers, or, where covers are not needed, holds titles.
    init(_ row: CSVRow, _ place: ListPlace, needsCovers: Bool = true) throws(ListProblem) {
        let names = row.texts.map(Album.SourceField.normalise)
        cover = Self.coverColumn(names)
        sources = row.texts.enumerated().filter { Album.SourceField(name: $0.element) != nil }
            .map { (name: $0.element, column: $0.offset) }
        guard cover != nil || !sources.isEmpty || (!needsCovers && names.contains("title")) else {
            let found = row.texts.map { "'\($0.inMessage)'" }.prefix(20).joined(separator: ", ")
            throw ListProblem(
                place: place,
                message: needsCovers
                    ? "no column holds the cover's URL: found \(found); name it coverUrl, cover_url, url, cover or image"
                    : "no column holds the album's title: found \(found); name it title")
        }
        id = names.firstIndex(of: "id")
        title = names.firstIndex(of: "title")
        artist = names.firstIndex(of: "artist")
        genre = names.firstIndex(of: "genre")
        year = names.firstIndex(of: "year")
        count = names.count
    }

    /// The element of a row.
    func element(_ row: CSVRow, _ place: ListPlace) -> ListElement {
        let url = row.text(cover)
        let id = row.text(id)
        var album = Album(
            id: id.isEmpty ? nil : id, title: row.text(title), artist: row.text(artist), genre: row.text(genre),
            coverUrl: url.isEmpty ? nil : url, year: row.text(year))
        for (name, column) in sources {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember(name, .string(text))) }
        }
        if !url.isEmpty || row.count == count || !album.otherFields.isEmpty { return .album(album, place) }
        let fields = row.count == 1 ? "1 field" : "\(row.count) fields"
        let message = "the row has \(fields) instead of \(count), and no cover URL; skipped"
        return .problem(ListProblem(place: place, message: message))
    }

    /// The index of the normalised name of the column of cover URLs.
    static func coverColumn(_ names: [String]) -> Int? {
        for name in coverNames {
            if let column = names.firstIndex(of: name) { return column }
        }
        return nil
    }

    /// Whether one of these normalised names is that of a column that locates covers.
    static func saysWhere(_ names: [String]) -> Bool {
        coverColumn(names) != nil || names.contains { Album.SourceField(name: $0) != nil }
    }
}
