/// Parses a URL on each line, as in lists for `wget -i`. Ignores blank lines and comments (`#`, as in M3U playlists).
struct URLListParser: LineParser {
    var location: ListLocation

    init(file: String) { location = ListLocation(file: file, line: 1) }

    @inline(__always)
    mutating func parse(line: UnsafeRawBufferPointer, into elements: inout [ListElement]) {
        let url = line.trimmed
        guard let first = url.first, first != Byte.hash else { return }
        elements.append(.item(ListItem(url: url.text, line: location.line)))
    }
}
