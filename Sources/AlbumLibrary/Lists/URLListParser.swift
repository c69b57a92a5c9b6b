/// Parses a URL on each line, as in lists for `wget -i`. Ignores blank lines and comments (`#`, as in M3U playlists).
struct URLListParser: ListParser {
    private let file: String
    private var lines = LineSplitter()

    init(file: String) {
        self.file = file
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        try lines.feed(bytes) { piece in Self.append(piece, file, to: &elements) }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        try lines.finish { piece in Self.append(piece, file, to: &elements) }
    }

    @inline(__always)
    private static func append(_ piece: LineSplitter.Piece, _ file: String, to elements: inout [ListElement]) {
        switch piece {
        case .line(let line, let number):
            let url = line.trimmed
            guard let first = url.first, first != Byte.hash else { return }
            elements.append(.item(ListItem(url: url.text, line: number)))
        case .tooLong(let number):
            elements.append(.problem(.tooLong("the line", ListLocation(file: file, line: number))))
        }
    }
}
