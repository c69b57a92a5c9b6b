/// The lines of a list up to its header, if it is CSV: comments (`#`, as PowerShell's `#TYPE`), and `sep=;`, with which Excel
/// names the separator.
struct CSVOpening {
    private(set) var separator = Byte.comma
    /// Whether the first line that is no comment is a header, or the separator is named.
    private(set) var isCSV = false
    /// Where the header begins.
    private(set) var start: Int
    /// The number of the header's line.
    private(set) var line = 1
    private(set) var endsLinesWithReturn = false

    /// Returns nil if more bytes are needed.
    /// - Parameter start: The length of a byte order mark.
    init?(_ bytes: UnsafeRawBufferPointer, from start: Int, isWhole: Bool, _ options: ListOptions) {
        self.start = start
        let isEnough = isWhole || bytes.count > DetectedFormat.limit
        var (index, number) = (start, 1)
        var named: UInt8?
        while index < bytes.count {
            guard let (end, next) = Self.lineEnd(bytes, from: index, isEnough, &endsLinesWithReturn) else { return nil }
            let text = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
            if let separator = Self.namedSeparator(text) {
                named = separator
            } else if !text.trimmed.isEmpty {
                let found = Self.header(text, named, options)
                if text.trimmed.first != Byte.hash
                    || (found.isHeader && text.trimmed.dropFirst().first == found.separator)
                {
                    (self.start, line, separator) = (index, number, found.separator)
                    isCSV = found.isHeader || named != nil
                    return
                }
            }
            (index, number) = (next, number + 1)
        }
        if !isEnough { return nil }
    }

    /// The end of a line, and the beginning of the next. Nil if the end is not among `bytes`.
    private static func lineEnd(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ isEnough: Bool, _ endsWithReturn: inout Bool
    ) -> (end: Int, next: Int)? {
        let isEnd: (UInt8) -> Bool = { $0 == Byte.newline || $0 == Byte.carriageReturn }
        guard let end = bytes[start...].firstIndex(where: isEnd) else {
            return isEnough ? (bytes.count, bytes.count) : nil
        }
        if bytes[end] == Byte.newline { return (end, end + 1) }
        guard end + 1 < bytes.count || isEnough else { return nil }
        if end + 1 < bytes.count, bytes[end + 1] == Byte.newline { return (end, end + 2) }
        endsWithReturn = true
        return (end, end + 1)
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
