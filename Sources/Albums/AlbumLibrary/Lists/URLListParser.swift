/// Parses a URL on each line, as in lists for `wget -i`. Ignores blank lines and comments (`#`).
///
/// As in lists for `aria2c -i`, URLs separated by tabs are alternatives of one cover, and indented lines with an option, such
/// as `  out=cover.jpg`, are ignored.
struct URLListParser: LineParser {
    var location: ListLocation

    init(file: String) { location = ListLocation(file: file, line: 1) }

    @inline(__always)
    mutating func parse(line: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem) {
        let text = line.trimmed
        guard let first = text.first, first != Byte.hash else { return }
        let isPlain = !text.contains { $0 <= 0x20 } && first != Byte.quote && first != Byte.less && line.first == first
        if isPlain { return elements.append(.item(ListItem(url: text.text, line: location.line))) }
        if line.first != first, Self.isOption(text) { return }
        elements.append(element(text))
    }

    private func element(_ text: UnsafeRawBufferPointer) -> ListElement {
        let urls = text.split(separator: Byte.tab).map {
            Self.unquoted(UnsafeRawBufferPointer(rebasing: $0).trimmed.text)
        }
        if urls.contains(where: Self.isSeveral) {
            let message =
                "two URLs are on one line; write each on a separate line, or put a tab between alternatives of one cover; "
                + "skipped"
            return .problem(ListProblem(location, message))
        }
        guard urls.count > 1, urls.allSatisfy(\.isURL) else {
            let url = urls.count == 1 ? urls[0] : text.text
            return .item(ListItem(url: url, line: location.line))
        }
        var album = Album(coverURL: urls[0])
        album.alternateCoverURLs = Array(urls.dropFirst())
        return .item(ListItem(url: urls[0], album: album, line: location.line))
    }

    /// Whether a URL follows another after whitespace.
    private static func isSeveral(_ text: String) -> Bool {
        text.split(whereSeparator: \.isWhitespace).dropFirst().contains { part in
            ["http://", "https://"].contains { part.lowercased().hasPrefix($0) }
        }
    }

    /// The text without quotes or angle brackets around it (RFC 3986 appendix C).
    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count > 1, let first = text.first, let last = text.last,
            [["\"", "\""], ["<", ">"]].contains([first, last])
        else { return text }
        return String(text.dropFirst().dropLast()).trimmingWhitespace()
    }

    /// Whether an indented line is an option of aria2: a name of lowercase letters, digits and `-`, and `=`.
    private static func isOption(_ text: UnsafeRawBufferPointer) -> Bool {
        let name = text.prefix { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (Byte.zero...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-")
        }
        return !name.isEmpty && name.count < text.count && text[name.count] == UInt8(ascii: "=")
    }
}
