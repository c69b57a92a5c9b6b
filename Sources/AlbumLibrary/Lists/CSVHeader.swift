/// The columns of a CSV list.
struct CSVHeader {
    private let id, title, artist, genre, year, cover: Int?
    /// The columns of other cover locations.
    private let otherCovers: [(name: String, column: Int)]
    private let count: Int

    /// - Throws: `ListProblem` if no column locates covers or, unless `needsCovers`, holds titles.
    init(_ row: CSVRow, _ location: ListLocation, needsCovers: Bool = true) throws(ListProblem) {
        let names = row.texts.map(Album.CoverField.normalize)
        cover = Self.coverColumn(names)
        otherCovers = row.texts.enumerated().filter { Album.CoverField(name: $0.element) != nil }
            .map { (name: $0.element, column: $0.offset) }
        guard cover != nil || !otherCovers.isEmpty || (!needsCovers && names.contains("title")) else {
            let found = row.texts.map { "'\($0.inMessage)'" }.prefix(20).joined(separator: ", ")
            throw ListProblem(
                location,
                needsCovers
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
    func element(_ row: CSVRow, _ location: ListLocation) -> ListElement {
        let url = row.text(cover)
        let id = row.text(id)
        var album = Album(
            id: id.isEmpty ? nil : id, title: row.text(title), artist: row.text(artist), genre: row.text(genre),
            coverURL: url.isEmpty ? nil : url, year: row.text(year))
        for (name, column) in otherCovers {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember(name, text)) }
        }
        if !url.isEmpty || row.count == count || !album.otherFields.isEmpty { return .album(album, location) }
        let fields = row.count == 1 ? "1 field" : "\(row.count) fields"
        return .problem(
            ListProblem(location, "the row has \(fields) instead of \(count), and no cover URL; skipped"))
    }

    /// The index of the column of cover URLs among normalized names; of several, the one with the preferred name.
    private static func coverColumn(_ names: [String]) -> Int? {
        ["coverurl", "url", "cover", "image"].lazy.compactMap { names.firstIndex(of: $0) }.first
    }

    /// Whether a column with one of these normalized names locates covers.
    static func locatesCovers(_ names: [String]) -> Bool {
        coverColumn(names) != nil || names.contains { Album.CoverField(name: $0) != nil }
    }
}
