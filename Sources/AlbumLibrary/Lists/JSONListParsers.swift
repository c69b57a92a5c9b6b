/// One JSON array of albums or URLs, streamed. Malformed JSON throws, as nothing after it can be trusted. An element that is
/// well-formed but not a cover is skipped.
struct JSONArrayParser: ListParser {
    private var splitter: JSONArraySplitter
    private let keepsOtherFields: Bool

    init(file: String, keepsOtherFields: Bool = false) {
        splitter = JSONArraySplitter(file: file)
        self.keepsOtherFields = keepsOtherFields
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let keepsOtherFields = keepsOtherFields
        try splitter.feed(bytes) { (piece) throws(ListProblem) in
            switch piece {
            case .element(let bytes, let place):
                elements.append(try JSONElement.read(bytes, at: place, keepsOtherFields: keepsOtherFields))
            case .tooLong(let place): elements.append(.problem(.tooLong("the element", place)))
            }
        }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        try splitter.finish()
    }
}

/// An album or a URL on each line (JSON lines, NDJSON). A malformed line is skipped.
struct JSONLinesParser: ListParser {
    private let context: Context
    private var lines = LineSplitter()
    private var isFirst = true

    private struct Context {
        var file: String
        var keepsOtherFields: Bool
    }

    init(file: String, keepsOtherFields: Bool = false) {
        context = Context(file: file, keepsOtherFields: keepsOtherFields)
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let context = context
        var isFirst = isFirst
        defer { self.isFirst = isFirst }
        try lines.feed(bytes) { (piece) throws(ListProblem) in
            try Self.append(piece, context, &isFirst, to: &elements)
        }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        let context = context
        var isFirst = isFirst
        try lines.finish { (piece) throws(ListProblem) in
            try Self.append(piece, context, &isFirst, to: &elements)
        }
    }

    private static func append(
        _ piece: LineSplitter.Piece, _ context: Context, _ isFirst: inout Bool, to elements: inout [ListElement]
    ) throws(ListProblem) {
        switch piece {
        case .line(let line, let number):
            let json = line.trimmed
            guard let base = json.baseAddress, let start = line.baseAddress, let last = json.last else { return }
            let place = ListPlace(file: context.file, line: number, column: base - start + 1)
            // Without this check every line of a pretty-printed object would be reported.
            if isFirst && (last == Byte.openBrace || last == Byte.openBracket) {
                throw ListProblem(
                    place: place,
                    message: "a JSON object spans several lines; write an array of albums, or one album on each line")
            }
            isFirst = false
            do throws(ListProblem) {
                elements.append(
                    try JSONElement.read(json, at: place, keepsOtherFields: context.keepsOtherFields))
            } catch {
                elements.append(.problem(ListProblem(place: error.place, message: error.message + "; skipped")))
            }
        case .tooLong(let number):
            isFirst = false
            elements.append(.problem(.tooLong("the line", ListPlace(file: context.file, line: number))))
        }
    }
}
