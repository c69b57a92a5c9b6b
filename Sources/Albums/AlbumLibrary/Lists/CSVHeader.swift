/// The columns of a CSV list.
struct CSVHeader {
    private struct Column {
        /// As written.
        let name: String
        let normalized: String
    }

    private let columns: [Column]
    private let id: Int?
    /// For each field, its columns in the order of preference.
    private let fields: [ListField.Kind: [Int]]
    /// The columns of other cover locations.
    private let otherCovers: [Int]
    /// The columns to keep as other fields, with the names of these; empty for callers that do not write the albums.
    private let extra: [(column: Int, name: String)]
    private let keepsOtherFields: Bool

    /// - Throws: `ListProblem` if no column locates covers or, for callers that write the albums again, holds titles.
    init(_ row: CSVRow, _ location: ListLocation, _ options: ListOptions) throws(ListProblem) {
        let columns = row.texts.map { Column(name: $0, normalized: Album.CoverField.normalize($0)) }
        self.columns = columns
        keepsOtherFields = options.keepsOtherFields
        let found = columns.map { "'\($0.name.inMessage)'" }.prefix(20).joined(separator: ", ")
        var fields: [ListField.Kind: [Int]] = [:]
        for kind in ListField.Kind.allCases { fields[kind] = Self.indices(of: kind, columns) }
        if let name = options.urlColumn {
            let index =
                columns.firstIndex { $0.name == name }
                ?? columns.firstIndex { $0.normalized == Album.CoverField.normalize(name) }
            guard let index else {
                throw ListProblem(location, "no column is named '\(name.inMessage)': found \(found)")
            }
            fields[.cover] = [index]
        }
        let id = columns.firstIndex { $0.normalized == "id" }
        let otherCovers = columns.indices.filter {
            Album.CoverField(name: columns[$0].name) != nil && fields[.cover]?.contains($0) != true
        }
        let hasCovers = fields[.cover]?.isEmpty == false || !otherCovers.isEmpty
        guard hasCovers || (options.keepsOtherFields && fields[.title]?.isEmpty == false) else {
            throw ListProblem(
                location,
                options.keepsOtherFields
                    ? "no column holds the album's title: found \(found); name it title"
                    : "no column holds the cover's URL: found \(found); name it coverUrl, cover_url, url, cover or image, "
                        + "or choose it with --url-column")
        }
        self.fields = fields
        self.id = id
        self.otherCovers = otherCovers
        // A field with the library's own name is the album's. Others are kept unless their text becomes that of a field.
        let own = ListField.Kind.allCases.compactMap { fields[$0]?.count == 1 ? fields[$0]?.first : nil }
            .filter { Self.isOwn(columns[$0].normalized) }
        var taken: Set<String> = []
        extra =
            !options.keepsOtherFields
            ? []
            : columns.indices.filter { $0 != id && !otherCovers.contains($0) && !own.contains($0) }
                .map { ($0, Self.name(of: $0, columns[$0].name, &taken)) }
    }

    /// Whether a column has the library's own name.
    private static func isOwn(_ name: String) -> Bool {
        ["title", "artist", "genre", "year", "coverurl"].contains(name)
    }

    /// A column with the library's own name, else all with names of other programs, the preferred one first.
    private static func indices(of kind: ListField.Kind, _ columns: [Column]) -> [Int] {
        let found = columns.indices.compactMap { index -> (rank: Int, index: Int)? in
            guard let field = ListField(columns[index].normalized), field.kind == kind else { return nil }
            return (field.rank, index)
        }.sorted { $0 < $1 }
        if let first = found.first, first.rank == 0 { return [first.index] }
        return found.map(\.index)
    }

    /// The name of a column's field: its own, made unique.
    private static func name(of column: Int, _ name: String, _ taken: inout Set<String>) -> String {
        Album.unusedID(name.isEmpty ? "column \(column + 1)" : name, &taken)
    }

    /// Whether `names` may be a header: one of its columns locates covers, or it has more than one and they hold albums.
    static func isLikely(_ texts: [String], _ options: ListOptions) -> Bool {
        if texts.contains(where: \.isURL) { return false }
        let names = texts.map(Album.CoverField.normalize)
        if let column = options.urlColumn.map(Album.CoverField.normalize) { return names.contains(column) }
        let fields = names.map { ListField($0) }
        if fields.contains(where: { $0?.kind == .cover })
            || texts.contains(where: { Album.CoverField(name: $0) != nil })
        {
            return true
        }
        return names.count > 1 && fields.contains { $0?.kind == .title }
    }

    /// The element of a row.
    func element(_ row: CSVRow, _ location: ListLocation) -> ListElement {
        func value(_ kind: ListField.Kind) -> (text: String, column: Int?) {
            guard let columns = fields[kind], let first = columns.first else { return ("", nil) }
            let hasDates = kind == .year && !Self.isOwn(self.columns[first].normalized)
            if columns.count == 1, !hasDates {
                let text = row.text(first)
                return (text, text.isEmpty ? nil : first)
            }
            let texts = columns.map { (text: row.text($0), column: Int?.some($0)) }.filter { !$0.text.isEmpty }
            if hasDates {
                return texts.lazy.compactMap { text, column in ListField.year(of: text).map { ($0, column) } }.first
                    ?? ("", nil)
            }
            let preferred = kind == .cover ? texts.first { $0.text.isURL } : nil
            return preferred ?? texts.first ?? ("", nil)
        }
        let (title, artist, genre, cover) = (value(.title), value(.artist), value(.genre), value(.cover))
        var year = value(.year)
        if year.text == "0" || year.text == "0000" { year = ("", nil) }
        let id = row.text(id)
        var album = Album(
            id: id.isEmpty ? nil : id, title: title.text, artist: artist.text, genre: genre.text,
            coverURL: cover.text.isEmpty ? nil : cover.text, year: year.text)
        for column in otherCovers {
            let text = row.text(column)
            if text.isEmpty { continue }
            album.otherFields.append(JSONMember(columns[column].name, text))
            if keepsOtherFields, Album.CoverField(name: columns[column].name) == .alternates {
                album.alternateCoverURLs = album.alternateCoverURLs
            }
        }
        let hasLocation = cover.column != nil || !album.otherFields.isEmpty
        if keepsOtherFields {
            let used = [title, artist, genre, year, cover].filter { value in
                value.column.map { row.text($0) == value.text } ?? false
            }.compactMap(\.column)
            keep(row, except: used, in: &album)
        }
        if hasLocation || row.count == columns.count || !album.otherFields.isEmpty { return .album(album, location) }
        let count = row.count == 1 ? "1 field" : "\(row.count) fields"
        return .problem(
            ListProblem(location, "the row has \(count) instead of \(columns.count), and no cover URL; skipped"))
    }

    private func keep(_ row: CSVRow, except used: [Int], in album: inout Album) {
        for (column, name) in extra where !used.contains(column) {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember(name, json: CSVCell.json(text))) }
        }
        for column in columns.count..<max(row.count, columns.count) {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember("column \(column + 1)", json: CSVCell.json(text))) }
        }
    }
}
