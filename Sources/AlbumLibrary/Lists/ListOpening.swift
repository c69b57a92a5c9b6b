import ImageHeader

/// The format of a list, recognised by its first bytes.
struct ListOpening: Equatable {
    var format: ListFormat
    /// What separates the fields; for ``ListFormat/csv`` only.
    var separator = Byte.comma
    /// The length of a byte order mark before the list.
    var markLength = 0

    /// The most bytes read before deciding: a longer first line is not a header.
    static let limit = ListLimit.element

    /// Recognises the list that begins with `bytes`; `nil` if it needs more of them, which is never so if `isWhole`.
    ///
    /// The format asked for wins, then the file's extension, then the content. One byte decides for JSON, the first line for
    /// the other formats.
    /// - Throws: `ListProblem`: the file is not a list, and the message says what it is.
    static func recognise(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, file: String, asked: ListFormat?
    ) throws(ListProblem) -> ListOpening? {
        let place = ListPlace(file: file)
        if !isWhole && bytes.count < 3 && mayBeMark(bytes) { return nil }
        if let content = unreadable(bytes, file) { throw ListProblem(place: place, message: content) }
        let markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0

        guard let begin = bytes.dropFirst(markLength).firstIndex(where: { !Byte.isBlank($0) }) else {
            if isWhole { throw ListProblem(place: place, message: "is empty; \(expected)") }
            guard bytes.count > limit else { return nil }
            throw ListProblem(place: place, message: "begins with 1 MiB of blanks; \(expected)")
        }
        var format = asked
        if format == nil { format = try byExtension(file, first: bytes[begin]) }
        if format == nil { format = try byFirstByte(bytes[begin], place) }
        if let format, format != .csv { return ListOpening(format: format, markLength: markLength) }

        // CSV, or a list of URLs: the first line tells.
        let end = bytes.firstOffset(of: Byte.newline, from: begin)
        guard end != nil || isWhole || bytes.count > limit else { return nil }
        let line = UnsafeRawBufferPointer(rebasing: bytes[begin..<(end ?? bytes.count)])
        let header = CSVHeaderLine(line)
        guard format == .csv || header.looksLikeHeader else {
            return ListOpening(format: .urls, markLength: markLength)
        }
        return ListOpening(format: .csv, separator: header.separator, markLength: markLength)
    }

    /// `nil` if the extension does not name a format.
    private static func byExtension(_ path: String, first: UInt8) throws(ListProblem) -> ListFormat? {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].lowercased() {
        case ".jsonl", ".ndjson":
            // No line of JSON lines begins with a bracket, so this is an array with the wrong extension.
            return first == Byte.openBracket ? .json : .jsonl
        case ".json":
            if first == Byte.openBracket { return .json }
            if first == Byte.openBrace || first == Byte.quote { return .jsonl }
            throw ListProblem(
                place: ListPlace(file: path),
                message: "is not JSON: it begins with \(Byte.name(first)); name its format with --format")
        case ".csv", ".tsv": return .csv
        default: return nil
        }
    }

    /// `nil`: CSV or URLs.
    private static func byFirstByte(_ byte: UInt8, _ place: ListPlace) throws(ListProblem) -> ListFormat? {
        switch byte {
        case Byte.openBracket: return .json
        case Byte.openBrace: return .jsonl
        case Byte.hash: return .urls
        case Byte.less: throw ListProblem(place: place, message: "is HTML or XML; \(expected)")
        default: return nil
        }
    }

    private static func mayBeMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        return first == 0xEF || first == 0xFF || first == 0xFE || first == 0x1F
    }

    /// What a list is, for a message about a file that is none.
    static let expected = "expected a list of albums (JSON, JSON lines, CSV) or of URLs"

    /// Why these bytes are not text in UTF-8; `nil` if they may be.
    private static func unreadable(_ bytes: UnsafeRawBufferPointer, _ file: String) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16; save it as UTF-8"
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            return "is compressed; run: gunzip -c \(file == "stdin" ? "FILE" : file) | sleeve prefetch -"
        }
        if let type = imageType(bytes) { return "is an image (\(type)); \(expected)" }
        if bytes.contains(0) { return "is a binary file; \(expected)" }
        return nil
    }
}

extension ListOpening {
    /// The media type of a cover that was named in place of a list.
    private static func imageType(_ bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if bytes.starts(with: [0x89] + "PNG".utf8) { return "image/png" }
        if bytes.starts(with: "GIF8".utf8) { return "image/gif" }
        if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return "image/webp" }
        return nil
    }
}

/// The first line of what may be a CSV file.
struct CSVHeaderLine {
    let separator: UInt8
    let looksLikeHeader: Bool

    /// Chooses the separator that yields a column of cover URLs, else the one that yields the most columns.
    init(_ line: UnsafeRawBufferPointer) {
        let candidates = [Byte.comma, Byte.tab, Byte.semicolon].map { separator in
            let names = Self.names(line, separator)
            // A URL with a comma in it is no header.
            let hasURL = names.contains { $0.contains("://") }
            let hasCover = names.count > 1 && !hasURL && CSVHeader.saysWhere(names)
            return (separator: separator, columns: names.count, hasCover: hasCover)
        }
        let best = candidates.first { $0.hasCover } ?? candidates.max { $0.columns < $1.columns }
        separator = best?.separator ?? Byte.comma
        looksLikeHeader = best?.hasCover ?? false
    }

    private static func names(_ line: UnsafeRawBufferPointer, _ separator: UInt8) -> [String] {
        line.split(separator: separator, omittingEmptySubsequences: false).map { field in
            Album.SourceField.normalise(UnsafeRawBufferPointer(rebasing: field).trimmed.text.filter { $0 != "\"" })
        }
    }
}
