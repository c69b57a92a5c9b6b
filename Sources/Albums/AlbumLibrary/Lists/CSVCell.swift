/// The text of a JSON value in a CSV file. Reading it back gives the same value.
enum CSVCell {
    /// A number with more digits may not be one: a bar code, or an id.
    private static let maximumDigits = 15

    /// The value of a cell: JSON if the cell holds a JSON value, else its text.
    static func json(_ text: String) -> String {
        guard let first = text.utf8.first, JSONCursor.beginsValue(first) else { return text.json }
        let isNumber = first == UInt8(ascii: "-") || (Byte.zero...UInt8(ascii: "9")).contains(first)
        if isNumber, text.utf8.count > maximumDigits { return text.json }
        let isValue =
            JSONCursor.read(text) { (cursor) throws(JSONCursor.SyntaxError) in
                try cursor.skipValue()
                return true
            } ?? false
        return isValue ? text : text.json
    }

    /// The cell of a value. A text that would be read as another value, or without its blanks, is written as JSON.
    static func text(_ member: JSONMember) -> String {
        if let field = Album.CoverField(name: member.name) {
            if field == .alternates, let urls = member.strings { return urls.joined(separator: " ") }
            return member.text ?? member.json
        }
        guard member.json.utf8.first == Byte.quote, let text = member.text else { return member.json }
        return text == text.trimmingWhitespace() && !text.isEmpty && json(text) == text.json ? text : member.json
    }

    /// A field as RFC 4180 section 2 writes it.
    static func quoted(_ field: String) -> String {
        let isPlain = field.utf8.allSatisfy { byte in
            byte >= 0x20 && byte != Byte.quote && byte != Byte.comma && byte != Byte.semicolon
        }
        if isPlain, field == field.trimmingWhitespace() { return field }
        return "\"" + field.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
}
