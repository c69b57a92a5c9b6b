/// Parses a URL on each line, as in lists for `wget -i`. Ignores blank lines and comments (`#`).
struct URLListParser: ListParser {
    static let element = "the line"

    private(set) var location: ListLocation

    init(file: String) { location = ListLocation(file: file, line: 1) }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let end = bytes.firstOffset(of: Byte.newline, from: 0)
        // A last line without a line feed is a line.
        guard end != nil || isLast else { return 0 }
        let text = UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]).trimmed
        if let element = element(text) { elements.append(element) }
        location.line += 1
        return end.map { $0 + 1 } ?? bytes.count
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {}

    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        guard let end = bytes.firstOffset(of: Byte.newline, from: 0) else { return nil }
        location.line += 1
        return end + 1
    }

    /// Nil for a blank line and a comment.
    private func element(_ text: UnsafeRawBufferPointer) -> ListElement? {
        guard let first = text.first, first != Byte.hash else { return nil }
        var item = ListItem(url: text.text, line: location.line)
        if first != Byte.quote && first != Byte.less && !text.contains(where: { $0 <= 0x20 || $0 >= 0x80 }) {
            return .item(item)
        }
        if item.url.isEmpty || item.url.utf8.first == Byte.hash { return nil }
        item.url = Self.unquoted(item.url)
        if !Self.isSeveral(item.url) { return .item(item) }
        return .problem(ListProblem(location, "two URLs are on one line; write each on a separate line; skipped"))
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
}
