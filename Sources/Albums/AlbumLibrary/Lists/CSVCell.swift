/// The JSON value that a cell of a CSV file stands for.
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
}
