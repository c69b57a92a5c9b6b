/// Parses comma, tab or semicolon separated albums. A header names the columns, in any order and case.
struct CSVParser: ListParser {
    private var splitter: CSVSplitter
    private var reader: RowReader

    /// - Parameter needsCovers: Require a column of cover URLs; else a column of titles suffices.
    init(file: String, separator: UInt8, needsCovers: Bool = true) {
        splitter = CSVSplitter(separator: separator)
        reader = RowReader(file: file, needsCovers: needsCovers)
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        try splitter.feed(bytes) { (piece) throws(ListProblem) in try reader.append(piece, to: &elements) }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        try splitter.finish { (piece) throws(ListProblem) in try reader.append(piece, to: &elements) }
    }

    private struct RowReader {
        let file: String
        let needsCovers: Bool
        private var header: CSVHeader?

        init(file: String, needsCovers: Bool) {
            self.file = file
            self.needsCovers = needsCovers
        }

        @inline(__always)
        mutating func append(_ piece: CSVSplitter.Piece, to elements: inout [ListElement]) throws(ListProblem) {
            switch piece {
            case .row(let row, let line):
                let location = ListLocation(file: file, line: line)
                if let header {
                    elements.append(header.element(row, location))
                } else {
                    header = try CSVHeader(row, location, needsCovers: needsCovers)
                }
            case .tooLong(let line):
                elements.append(.problem(.tooLong("the row", ListLocation(file: file, line: line))))
            case .unclosed(let line):
                let message = "a quoted field is never closed; this row and the rest of the file are skipped"
                elements.append(.problem(ListProblem(ListLocation(file: file, line: line), message)))
            }
        }
    }
}
