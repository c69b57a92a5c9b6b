/// The format of a list, detected from its first bytes.
struct DetectedFormat: Equatable {
    var format: ListFormat
    /// The field separator of a ``ListFormat/csv`` list.
    var separator = Byte.comma
    /// Where the list begins: after a byte order mark and, in CSV, after the lines before the header.
    var start = 0
    /// The number of the line at `start`.
    var line = 1
    /// The byte that ends the lines: a line feed, or a carriage return alone, as in CSV that Excel writes for old Macs.
    var lineEnd = Byte.newline

    /// Maximum number of bytes read before deciding: a longer first line is not a header.
    static let limit = ListLimit.element

    /// Detects the format of the list that begins with `bytes`. Returns nil if it needs more bytes, never if `isWhole`.
    ///
    /// The requested format wins, then the file's extension, then the content. One byte identifies JSON, the first line that
    /// is not a comment the other formats.
    /// - Throws: `ListProblem` if the file is not a list; the message says what it is.
    static func detect(
        _ bytes: UnsafeRawBufferPointer, isWhole: Bool, file: String, _ options: ListOptions = ListOptions()
    ) throws(ListProblem) -> DetectedFormat? {
        let location = ListLocation(file: file)
        if !isWhole && bytes.count < 3 && mayBeMark(bytes) { return nil }
        if let kind = kindOfBinary(bytes, file) { throw ListProblem(location, kind) }
        let markLength = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0

        guard let begin = bytes.dropFirst(markLength).firstIndex(where: { !Byte.isWhitespace($0) }) else {
            if isWhole { throw ListProblem(location, "is empty; \(expected)") }
            guard bytes.count > limit else { return nil }
            throw ListProblem(location, "begins with 1 MiB of blanks; \(expected)")
        }
        var format = options.format
        if format == nil { format = try byExtension(location, first: bytes[begin]) }
        if format == nil { format = try byFirstByte(location, bytes[begin...]) }
        if let format, format == .json || format == .jsonl { return DetectedFormat(format: format, start: markLength) }
        guard let lineEnd = Self.lineEnd(bytes, isWhole: isWhole),
            let opening = CSVOpening(bytes, from: markLength, lineEnd: lineEnd, isWhole: isWhole, options)
        else { return nil }
        var detected = DetectedFormat(format: .urls, start: markLength, lineEnd: lineEnd)
        if format == .csv || (format == nil && opening.isCSV) {
            detected.format = .csv
            (detected.separator, detected.start, detected.line) = (opening.separator, opening.start, opening.line)
        }
        return detected
    }

    /// Nil if the extension does not name a format.
    private static func byExtension(_ location: ListLocation, first: UInt8) throws(ListProblem) -> ListFormat? {
        let path = location.file
        guard let dot = path.lastIndex(of: "."), !path[dot...].contains("/") else { return nil }
        switch path[dot...].lowercased() {
        case ".jsonl", ".ndjson":
            // No line of JSON lines begins with a bracket, so this is an array with the wrong extension.
            return first == Byte.openBracket ? .json : .jsonl
        case ".json":
            if first == Byte.openBracket { return .json }
            if first == Byte.openBrace || first == Byte.quote { return .jsonl }
            throw ListProblem(
                location, "is not JSON: it begins with \(Byte.name(first)); name its format with --format")
        case ".csv", ".tsv": return .csv
        default: return nil
        }
    }

    /// Nil for CSV or URLs.
    private static func byFirstByte(
        _ location: ListLocation, _ bytes: Slice<UnsafeRawBufferPointer>
    ) throws(ListProblem) -> ListFormat? {
        switch bytes.first {
        case Byte.openBracket: return .json
        case Byte.openBrace: return .jsonl
        // A URL may be in angle brackets.
        case Byte.less where !bytes.dropFirst().starts(with: "http".utf8):
            throw ListProblem(
                location, "is HTML or XML; \(expected); `sleeve fill DIR` finds the covers of a music folder")
        default: return nil
        }
    }

    /// The byte that ends the first line; nil if more bytes are needed.
    private static func lineEnd(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) -> UInt8? {
        guard let end = bytes.firstIndex(where: { $0 == Byte.newline || $0 == Byte.carriageReturn }) else {
            return Byte.newline
        }
        guard let next = bytes[end...].first(where: { $0 != Byte.carriageReturn }) else {
            return isWhole || bytes.count > limit ? Byte.carriageReturn : nil
        }
        return next == Byte.newline ? Byte.newline : Byte.carriageReturn
    }

    private static func mayBeMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = bytes.first else { return true }
        return first == 0xEF || first == 0xFF || first == 0xFE || first == 0x1F
    }

    /// Describes a list, for messages about a file that is not one.
    static let expected = "expected a list of albums (JSON, JSON lines, CSV, a beets library) or of URLs"

    /// The kind of a file whose bytes are not UTF-8 text, and how to get a list from it; nil if they may be text.
    private static func kindOfBinary(_ bytes: UnsafeRawBufferPointer, _ file: String) -> String? {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "is UTF-16; save it as UTF-8"
        }
        if bytes.starts(with: [0x1F, 0x8B]) {
            return "is compressed; run: gunzip -c \(file == "stdin" ? "FILE" : file) | sleeve prefetch -"
        }
        if BeetsLibrary.isDatabase(bytes) { return "is a SQLite database; name the file instead of piping it" }
        if bytes.contains(0) { return "is a binary file; \(expected)" }
        return nil
    }
}
