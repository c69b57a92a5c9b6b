/// Parses an album or a URL on each line (JSON lines, NDJSON). A malformed line is skipped.
struct JSONLinesParser: LineParser {
    var location: ListLocation
    private let keepsOtherFields: Bool
    private var isFirst = true

    init(file: String, keepsOtherFields: Bool = false) {
        location = ListLocation(file: file, line: 1)
        self.keepsOtherFields = keepsOtherFields
    }

    mutating func parse(line: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let json = line.trimmed
        guard let base = json.baseAddress, let start = line.baseAddress, let last = json.last else { return }
        var location = location
        location.column = base - start + 1
        // Without this check every line of a pretty-printed object would be reported.
        if isFirst && (last == Byte.openBrace || last == Byte.openBracket) {
            throw ListProblem(
                location, "a JSON object spans several lines; write an array of albums, or one album on each line")
        }
        isFirst = false
        var cursor = JSONCursor(json)
        do {
            let element = try JSONElement.read(&cursor, location, keepsOtherFields)
            try cursor.expectEnd()
            elements.append(element)
        } catch {
            elements.append(.problem(ListProblem(malformed: error, location, in: json, "; skipped")))
        }
    }
}
