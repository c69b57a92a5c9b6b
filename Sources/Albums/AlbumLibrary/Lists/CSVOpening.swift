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
        let isEnough = isWhole || bytes.count > DetectedFormat.limit
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
