/// A row of a CSV file: its unquoted fields, concatenated.
struct CSVRow {
    fileprivate(set) var bytes: [UInt8] = []
    /// The end of each field in `bytes`.
    fileprivate(set) var ends: [Int] = []

    var count: Int { ends.count }

    /// The text of a field, without surrounding whitespace; `""` if the row has no such field.
    func text(_ field: Int?) -> String {
        guard let field, field < ends.count else { return "" }
        let start = field == 0 ? 0 : ends[field - 1]
        return bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[start..<ends[field]]).trimmed.text }
    }

    var texts: [String] { ends.indices.map { text($0) } }
}

/// Splits bytes into rows of fields by RFC 4180 section 2: quotes, doubled quotes, line breaks inside quotes, CRLF or LF. A
/// quote inside a field that did not begin with one is an ordinary character. It is fed chunks of any length and holds at most
/// ``ListLimit/element`` bytes.
struct CSVSplitter {
    enum Piece {
        case row(CSVRow, line: Int)
        case tooLong(line: Int)
        /// The file ended inside a quoted field of the row that begins here.
        case unclosed(line: Int)
    }

    private enum State {
        case fieldStart, plain, quoted, quoteInQuoted, skipping
    }

    private let separator: UInt8
    private let limit: Int
    private var state = State.fieldStart
    private var row = CSVRow()
    private var line = 1
    private var rowLine = 1

    init(separator: UInt8, limit: Int = ListLimit.element) {
        self.separator = separator
        self.limit = limit
    }

    @inline(__always)
    mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        var index = 0
        while index < bytes.count {
            switch state {
            case .fieldStart:
                if bytes[index] == Byte.quote {
                    state = .quoted
                    index += 1
                } else {
                    state = .plain
                }
            case .plain:
                let start = index
                while index < bytes.count, bytes[index] != separator && bytes[index] != Byte.newline { index += 1 }
                guard try take(bytes, start, &index, body), index < bytes.count else { continue }
                try end(bytes[index], body)
                index += 1
            case .quoted:
                let start = index
                while index < bytes.count, bytes[index] != Byte.quote { index += 1 }
                guard try take(bytes, start, &index, body), index < bytes.count else { continue }
                state = .quoteInQuoted
                index += 1
            case .quoteInQuoted:
                let isDoubled = bytes[index] == Byte.quote
                state = isDoubled ? .quoted : .plain
                if isDoubled { row.bytes.append(Byte.quote) }
                index += isDoubled ? 1 : 0
            case .skipping:
                // Skips to the next line feed even inside quotes: a row this long has a quote that was never closed.
                guard let end = bytes.firstOffset(of: Byte.newline, from: index) else { return }
                index = end + 1
                line += 1
                startRow()
            }
        }
    }

    mutating func finish(_ body: (Piece) throws(ListProblem) -> Void) throws(ListProblem) {
        switch state {
        case .skipping: return
        case .quoted: try body(.unclosed(line: rowLine))
        case .fieldStart, .plain, .quoteInQuoted: try end(Byte.newline, body)
        }
    }

    /// Appends `start..<index` to the row. If the row is too long then, reports it, moves `index` back to the limit and skips
    /// the rest. Returns whether it fitted.
    private mutating func take(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ index: inout Int,
        _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) -> Bool {
        let room = limit - row.bytes.count - row.ends.count
        let isTooLong = index - start > room
        if isTooLong { index = start + max(room, 0) }
        let part = UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        if state == .quoted {
            var from = 0
            while let newline = part.firstOffset(of: Byte.newline, from: from) {
                line += 1
                from = newline + 1
            }
        }
        guard isTooLong else {
            row.bytes.append(contentsOf: part)
            return true
        }
        state = .skipping
        row = CSVRow()
        try body(.tooLong(line: rowLine))
        return false
    }

    /// Ends a field and, at a line feed, its row.
    private mutating func end(
        _ byte: UInt8, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        state = .fieldStart
        if byte == separator {
            row.ends.append(row.bytes.count)
            return
        }
        // The CR of CRLF. One inside quotes goes too, like all whitespace around a field.
        if row.bytes.count > (row.ends.last ?? 0), row.bytes.last == Byte.carriageReturn { row.bytes.removeLast() }
        row.ends.append(row.bytes.count)
        line += 1
        // A blank line is not a row.
        if row.ends.count > 1 || !row.bytes.isEmpty {
            try body(.row(row, line: rowLine))
        }
        startRow()
    }

    private mutating func startRow() {
        row.bytes.removeAll(keepingCapacity: true)
        row.ends.removeAll(keepingCapacity: true)
        rowLine = line
        state = .fieldStart
    }
}
