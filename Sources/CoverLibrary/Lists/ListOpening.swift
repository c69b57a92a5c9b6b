/// What the first bytes of a list say about it.
struct ListOpening: Equatable {
    var format: ListFormat
    /// What separates the fields; for ``ListFormat/csv`` only.
    var separator = Byte.comma
    /// The length of a byte order mark before the list.
    var markLength = 0

    /// Bytes after which a decision is made in any case: a first line that long is none.
    static let limit = ListLimit.element

    /// Recognises the list that begins with `bytes`; `nil` when more of it is needed, which cannot be when `isWhole`.
    ///
    /// The format asked for wins, then the file's extension, then the content. Only as much is waited for as decides:
    /// one byte for JSON, the first line for the others.
    static func recognise(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, file: String, asked: ListFormat?
    ) throws(ListProblem) -> ListOpening? {
        let place = ListPlace(file: file)
        if !isWhole && bytes.count < 3 && mayBeMark(bytes) { return nil }
        if let encoding = unreadable(bytes) { throw ListProblem(place: place, message: encoding) }
        let markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0

        guard let begin = bytes.dropFirst(markLength).firstIndex(where: { !Byte.isBlank($0) }) else {
            if isWhole { throw ListProblem(place: place, message: "is empty; expected albums or URLs") }
            guard bytes.count > limit else { return nil }
            throw ListProblem(place: place, message: "begins with more than 1 MiB of blanks; not a list")
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

    /// `nil`: the extension says nothing.
    private static func byExtension(_ path: String, first: UInt8) throws(ListProblem) -> ListFormat? {
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].lowercased() {
        case ".jsonl", ".ndjson":
            // No line of such a list begins with a bracket, so this is an array under the wrong name.
            return first == Byte.openBracket ? .json : .jsonl
        case ".json":
            if first == Byte.openBracket { return .json }
            if first == Byte.openBrace || first == Byte.quote { return .jsonl }
            throw ListProblem(
                place: ListPlace(file: path),
                message: "is not JSON: it begins with \(Byte.name(first)); choose another format with --format")
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
        case Byte.less: throw ListProblem(place: place, message: "is HTML or XML; expected albums or URLs")
        default: return nil
        }
    }

    private static func mayBeMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        return first == 0xEF || first == 0xFF || first == 0xFE || first == 0x1F
    }

    /// Why these bytes are no text this reader knows.
    private static func unreadable(_ bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16; save it as UTF-8"
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            return "is compressed; pipe it through gunzip: gunzip -c FILE | sleeve prefetch -"
        }
        return nil
    }
}

/// The first line of what may be a CSV file.
struct CSVHeaderLine {
    let separator: UInt8
    let looksLikeHeader: Bool

    /// The separator is the one that makes a column of cover URLs appear, else the one that makes most columns.
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
            CSVHeader.normalise(UnsafeRawBufferPointer(rebasing: field).trimmed.text.filter { $0 != "\"" })
        }
    }
}
