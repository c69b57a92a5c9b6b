/// Parses one JSON array of albums or URLs. Malformed JSON ends the list: nothing after it can be trusted. A well-formed
/// element that is not a cover is skipped.
struct JSONArrayParser: ListParser {
    private var splitter: JSONArraySplitter
    private let keepsOtherFields: Bool

    init(file: String, keepsOtherFields: Bool = false) {
        splitter = JSONArraySplitter(file: file)
        self.keepsOtherFields = keepsOtherFields
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        try splitter.feed(bytes) { (piece) throws(ListProblem) in
            switch piece {
            case .element(let bytes, let location):
                elements.append(try JSONElement.read(bytes, at: location, keepsOtherFields: keepsOtherFields))
            case .tooLong(let location): elements.append(.problem(.tooLong("the element", location)))
            }
        }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        try splitter.finish()
    }
}
