/// Parses comma, tab, semicolon or `|` separated albums. A header names the columns, in any order and case.
struct CSVParser: ListParser {
    static let element = "the row"

    var location: ListLocation
    private let separator: UInt8
    private let options: ListOptions
    private var header: CSVHeader?
    private var row = CSVRow()

    /// - Parameter line: The number of the header's line.
    init(file: String, separator: UInt8, line: Int = 1, _ options: ListOptions = ListOptions()) {
        location = ListLocation(file: file, line: line)
        self.separator = separator
        self.options = options
    }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        guard let length = row.read(bytes, separator, isLast: isLast) else {
            if !isLast { return 0 }
            let message = "a quoted field is never closed; the line is skipped"
            elements.append(.problem(ListProblem(location, message)))
            let end = bytes.firstOffset(of: Byte.newline, from: 0).map { $0 + 1 } ?? bytes.count
            advance(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            return end
        }
        if let header {
            if !row.isBlank { elements.append(header.element(row, location)) }
        } else if !row.isBlank {
            let line = UnsafeRawBufferPointer(rebasing: bytes[..<length])
            if options.keepsOtherFields, let offset = UTF8Check.firstInvalidOffset(line) {
                throw ListProblem(location, UTF8Check.message(line, at: offset, in: location.file))
            }
            header = try CSVHeader(row, location, options)
        }
        advance(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        return length
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) { advance(bytes) }

    private mutating func advance(_ bytes: UnsafeRawBufferPointer) {
        location.line = location.advanced(by: bytes.count, in: bytes).line
    }
}

/// A row of a CSV file: its unquoted fields, concatenated.
struct CSVRow {
    private var bytes: [UInt8] = []
    /// The end of each field in `bytes`.
    private var ends: [Int] = []

    var count: Int { ends.count }
    /// A blank line is not a row.
    var isBlank: Bool { ends.count == 1 && bytes.isEmpty }

    /// The text of a field, without surrounding whitespace; `""` if the row has no such field.
    func text(_ field: Int?) -> String {
        guard let field, field < ends.count else { return "" }
        let start = field == 0 ? 0 : ends[field - 1]
        return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[start..<ends[field]]).trimmed.text }
    }

    /// The texts of all fields, without invisible characters around them: the names of columns.
    var texts: [String] { ends.indices.map { text($0).trimmingWhitespace() } }

    /// Reads the row that begins with the first of `bytes`, by RFC 4180 section 2: quotes, doubled quotes, line breaks inside
    /// quotes, CRLF or LF. A quote inside a field that did not begin with one is an ordinary character.
    /// - Returns: Its length, line feed included; nil if its end is not among `bytes`.
    mutating func read(_ source: UnsafeRawBufferPointer, _ separator: UInt8, isLast: Bool) -> Int? {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        // Files that were joined have byte order marks in their midst.
        var index = source.first == Byte.orderMark[0] && source.starts(with: Byte.orderMark) ? Byte.orderMark.count : 0
        while true {
            if index < source.count, source[index] == Byte.quote {
                guard let end = readQuoted(source, from: index + 1) else { return nil }
                index = end
            }
            let start = index
            while index < source.count, source[index] != separator && source[index] != Byte.newline { index += 1 }
            if index == source.count, !isLast { return nil }
            bytes.append(contentsOf: source[start..<index])
            let isEnd = index == source.count || source[index] != separator
            // The CR of CRLF. One inside quotes goes too, like all whitespace around a field.
            if isEnd, bytes.count > ends.last ?? 0, bytes.last == Byte.carriageReturn { bytes.removeLast() }
            ends.append(bytes.count)
            index = min(index + 1, source.count)
            if isEnd { return index }
        }
    }

    /// Reads the rest of a quoted field. - Returns: The offset after its closing quote; nil if that is not among the bytes.
    private mutating func readQuoted(_ source: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var start = start
        while let quote = source.firstOffset(of: Byte.quote, from: start) {
            bytes.append(contentsOf: source[start..<quote])
            start = quote + 1
            guard start < source.count, source[start] == Byte.quote else { return start }
            bytes.append(Byte.quote)
            start += 1
        }
        return nil
    }
}

/// The columns of a CSV list.
struct CSVHeader {
    /// As written.
    private let names: [String]
    private let id: Int?
    /// For each field, its columns in the order of preference.
    private let fields: [ListField.Kind: [Int]]
    /// Whether the years are at the beginning of dates.
    private let hasDates: Bool
    /// The columns of other cover locations.
    private let otherCovers: [Int]
    /// The columns to keep as other fields, with the names of these; empty for callers that do not write the albums.
    private let extra: [(column: Int, name: String)]
    private let options: ListOptions

    /// - Throws: `ListProblem` if no column locates covers or, for callers that write the albums again, holds titles.
    init(_ row: CSVRow, _ location: ListLocation, _ options: ListOptions) throws(ListProblem) {
        let names = row.texts
        let normalized = names.map(Album.CoverField.normalize)
        let known = normalized.map { ListField($0) }
        (self.names, self.options) = (names, options)
        let found = names.map { "'\($0.inMessage)'" }.prefix(20).joined(separator: ", ")
        var fields: [ListField.Kind: [Int]] = [:]
        for kind in ListField.Kind.allCases { fields[kind] = Self.indices(of: kind, known) }
        if let name = options.urlColumn {
            let index = names.firstIndex(of: name) ?? normalized.firstIndex(of: Album.CoverField.normalize(name))
            guard let index else {
                throw ListProblem(location, "no column is named '\(name.inMessage)': found \(found)")
            }
            fields[.cover] = [index]
        }
        let id = normalized.firstIndex(of: "id")
        let otherCovers = names.indices.filter {
            Album.CoverField(name: names[$0]) != nil && fields[.cover]?.contains($0) != true
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
        (self.fields, self.id, self.otherCovers) = (fields, id, otherCovers)
        hasDates = fields[.year]?.first.map { known[$0]?.isOwn != true } ?? false
        // A field with the library's own name is the album's. Others are kept unless their text becomes that of a field.
        let own = ListField.Kind.allCases.compactMap { fields[$0]?.count == 1 ? fields[$0]?.first : nil }
            .filter { known[$0]?.isOwn == true }
        var taken: Set<String> = []
        extra =
            !options.keepsOtherFields
            ? []
            : names.indices.filter { $0 != id && !otherCovers.contains($0) && !own.contains($0) }
                .map { ($0, Album.unusedID(names[$0].isEmpty ? "column \($0 + 1)" : names[$0], &taken)) }
    }

    /// A column with the library's own name, else all with names of other programs, the preferred one first.
    private static func indices(of kind: ListField.Kind, _ columns: [ListField?]) -> [Int] {
        let found = columns.enumerated().compactMap { index, field -> (field: ListField, index: Int)? in
            guard let field, field.kind == kind else { return nil }
            return (field, index)
        }.sorted { ($0.field.rank, $0.index) < ($1.field.rank, $1.index) }
        if let first = found.first, first.field.isOwn { return [first.index] }
        return found.map(\.index)
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
            let hasDates = kind == .year && self.hasDates
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
            album.otherFields.append(JSONMember(names[column], text))
            if options.keepsOtherFields, Album.CoverField(name: names[column]) == .alternates {
                album.alternateCoverURLs = album.alternateCoverURLs
            }
        }
        let hasLocation = cover.column != nil || !album.otherFields.isEmpty
        if options.keepsOtherFields {
            let used = [title, artist, genre, year, cover].filter { value in
                value.column.map { row.text($0) == value.text } ?? false
            }.compactMap(\.column)
            keep(row, except: used, in: &album)
        }
        if hasLocation || row.count == names.count || !album.otherFields.isEmpty {
            return .album(album, location, options)
        }
        let count = row.count == 1 ? "1 field" : "\(row.count) fields"
        return .problem(
            ListProblem(location, "the row has \(count) instead of \(names.count), and no cover URL; skipped"))
    }

    private func keep(_ row: CSVRow, except used: [Int], in album: inout Album) {
        for (column, name) in extra where !used.contains(column) {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember(name, cell: text)) }
        }
        for column in names.count..<max(row.count, names.count) {
            let text = row.text(column)
            if !text.isEmpty { album.otherFields.append(JSONMember("column \(column + 1)", cell: text)) }
        }
    }
}

/// The lines of a list up to its header, if it is CSV: comments (`#`, as PowerShell's `#TYPE`), `sep=;`, with which Excel
/// names the separator, and titles, which some programs write above their tables.
struct CSVOpening {
    /// The maximum number of lines that are neither blank nor comments before the header. A line with a URL is none of them.
    private static let maximumTitles = 8

    private(set) var separator = Byte.comma
    /// Whether there is a header, or the separator is named. Else the first line that is no comment stands for one.
    private(set) var isCSV = false
    /// Where the header begins.
    private(set) var start: Int
    /// The number of the header's line.
    private(set) var line = 1

    /// Returns nil if more bytes are needed.
    /// - Parameters:
    ///   - start: The length of a byte order mark.
    ///   - lineEnd: The byte that ends lines.
    init?(
        _ bytes: UnsafeRawBufferPointer, from start: Int, lineEnd: UInt8, isWhole: Bool, _ options: ListOptions
    ) {
        self.start = start
        let isEnough = isWhole || bytes.count > ListLimit.element
        var (index, number) = (start, 1)
        var (named, titles) = (UInt8?.none, 0)
        while index < bytes.count {
            let end = bytes.firstOffset(of: lineEnd, from: index)
            guard end != nil || isEnough else { return nil }
            var line = bytes[index..<(end ?? bytes.count)]
            if line.last == Byte.carriageReturn { line = line.dropLast() }
            let text = UnsafeRawBufferPointer(rebasing: line)
            if let separator = Self.namedSeparator(text) {
                named = separator
            } else if !text.trimmed.isEmpty {
                let found = Self.header(text, named, options)
                if text.trimmed.first != Byte.hash
                    || (found.isHeader && text.trimmed.dropFirst().first == found.separator)
                {
                    isCSV = found.isHeader || named != nil
                    if found.isHeader || titles == 0 {
                        (self.start, self.line, separator) = (index, number, found.separator)
                    }
                    titles += 1
                    if found.isHeader || titles > Self.maximumTitles || text.text.isURL { return }
                }
            }
            (index, number) = (end.map { $0 + 1 } ?? bytes.count, number + 1)
        }
        if !isEnough { return nil }
    }

    /// The separator of a line such as `sep=;` or `"sep=;"`.
    private static func namedSeparator(_ line: UnsafeRawBufferPointer) -> UInt8? {
        let text = line.filter { $0 != Byte.quote }
        guard text.count == 5, String(decoding: text.prefix(4), as: UTF8.self).lowercased() == "sep=" else {
            return nil
        }
        return text[4]
    }

    /// Chooses the separator that makes the line a header, else the one that yields the most columns.
    private static func header(
        _ line: UnsafeRawBufferPointer, _ named: UInt8?, _ options: ListOptions
    ) -> (separator: UInt8, isHeader: Bool) {
        var best: (separator: UInt8, columns: Int)?
        var row = CSVRow()
        for separator in named.map({ [$0] }) ?? [Byte.comma, Byte.tab, Byte.semicolon, UInt8(ascii: "|")] {
            _ = row.read(line, separator, isLast: true)
            if row.count > 1, CSVHeader.isLikely(row.texts, options) { return (separator, true) }
            if row.count > best?.columns ?? 0 { best = (separator, row.count) }
        }
        guard let best, best.columns == 1, named == nil else { return (best?.separator ?? Byte.comma, false) }
        // One column: a URL in it may hold any separator. No text holds a NUL.
        _ = row.read(line, 0, isLast: true)
        return CSVHeader.isLikely(row.texts, options) ? (0, true) : (Byte.comma, false)
    }
}

extension JSONMember {
    /// A member whose value is the JSON value that a cell of a CSV file holds, else the cell's text.
    fileprivate init(_ name: String, cell text: String) {
        self.init(name, json: Self.isValue(text) ? text : text.json)
    }

    private static func isValue(_ cell: String) -> Bool {
        guard let first = cell.utf8.first, JSONCursor.beginsValue(first) else { return false }
        let isNumber = first == UInt8(ascii: "-") || (Byte.zero...UInt8(ascii: "9")).contains(first)
        // A number with more digits may not be one: a bar code, or an id.
        if isNumber, cell.utf8.count > 15 { return false }
        return JSONCursor.read(cell) { (cursor) throws(JSONCursor.SyntaxError) in try cursor.skipValue() } != nil
    }
}
