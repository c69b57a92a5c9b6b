/// Parses comma, tab, semicolon or `|` separated albums. A header names the columns, in any order and case.
struct CSVParser: ListParser {
    static let element = "the row"

    private(set) var location: ListLocation
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

    /// Skips to the next line feed even inside quotes: a row this long has a quote that was never closed.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        guard let end = bytes.firstOffset(of: Byte.newline, from: 0) else { return nil }
        location.line += 1
        return end + 1
    }

    private mutating func advance(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while let end = bytes.firstOffset(of: Byte.newline, from: start) {
            location.line += 1
            start = end + 1
        }
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
