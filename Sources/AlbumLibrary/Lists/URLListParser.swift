/// A URL on each line, as in lists for `wget -i`. Blank lines and comments (`#`, so that M3U playlists work) are ignored.
struct URLListParser: ListParser {
    private let file: String
    private var lines = LineSplitter()

    init(file: String) {
        self.file = file
    }

    mutating func feed(_ bytes: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let file = file
        try lines.feed(bytes) { piece in Self.append(piece, file, to: &elements) }
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {
        let file = file
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
            elements.append(.problem(.tooLong("the line", ListPlace(file: file, line: number))))
        }
    }
}

extension ListProblem {
    /// For an element over ``ListLimit/element``.
    static func tooLong(_ what: String, _ place: ListPlace) -> ListProblem {
        ListProblem(place: place, message: "\(what) is longer than 1 MiB; skipped")
    }

    /// For an album without a cover location.
    static func noCover(_ album: Album, _ place: ListPlace) -> ListProblem {
        ListProblem(
            place: place, message: "album '\(album.title.inMessage)' has no cover URL; skipped", album: album)
    }
}
