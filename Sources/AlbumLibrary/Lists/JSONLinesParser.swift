/// Parses an album or a URL on each line (JSON lines, NDJSON). A malformed line is skipped.
struct JSONLinesParser: ListParser {
    private var lines = LineSplitter()
    private var reader: LineReader

    init(file: String, keepsOtherFields: Bool = false) {
        reader = LineReader(file: file, keepsOtherFields: keepsOtherFields)
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        try lines.feed(bytes) { (piece) throws(ListProblem) in try reader.append(piece, to: &elements) }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        try lines.finish { (piece) throws(ListProblem) in try reader.append(piece, to: &elements) }
    }

    private struct LineReader {
        let file: String
        let keepsOtherFields: Bool
        private var isFirst = true

        init(file: String, keepsOtherFields: Bool) {
            self.file = file
            self.keepsOtherFields = keepsOtherFields
        }

        mutating func append(
            _ piece: LineSplitter.Piece, to elements: inout [ListElement]
        ) throws(ListProblem) {
            switch piece {
            case .line(let line, let number):
                let json = line.trimmed
                guard let base = json.baseAddress, let start = line.baseAddress, let last = json.last else { return }
                let location = ListLocation(file: file, line: number, column: base - start + 1)
                // Without this check every line of a pretty-printed object would be reported.
                if isFirst && (last == Byte.openBrace || last == Byte.openBracket) {
                    throw ListProblem(
                        location,
                        "a JSON object spans several lines; write an array of albums, or one album on each line")
                }
                do throws(ListProblem) {
                    elements.append(try JSONElement.read(json, at: location, keepsOtherFields: keepsOtherFields))
                } catch {
                    elements.append(.problem(ListProblem(error.location, error.message + "; skipped")))
                }
            case .tooLong(let number):
                elements.append(.problem(.tooLong("the line", ListLocation(file: file, line: number))))
            }
            isFirst = false
        }
    }
}
