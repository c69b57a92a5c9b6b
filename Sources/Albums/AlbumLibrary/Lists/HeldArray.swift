/// The array of albums or URLs that an object holds, as `{"albums": […]}` and `{"data": {"items": […]}}`.
struct HeldArray {
    /// Where its first element may begin, in bytes from the object's beginning.
    private(set) var start = 0
    /// The number of objects that are open there.
    private(set) var depth = 0

    /// The names, as `Album.CoverField.normalize` returns them, of arrays of albums. One of another name is known by its first element.
    static let names: Set<String> = ["albums", "releases"]
    private static let maximumDepth = 4

    private let location: ListLocation
    private let options: ListOptions

    /// Nil if there is none.
    /// - Parameter bytes: begin with the object, which may end after them.
    init?(in bytes: UnsafeRawBufferPointer, _ location: ListLocation, _ options: ListOptions) {
        self.location = location
        self.options = options
        var cursor = JSONCursor(bytes)
        // What is malformed behind the array is found when it is read.
        try? search(&cursor, depth: 1)
        if depth == 0 { return nil }
    }

    private mutating func search(_ cursor: inout JSONCursor, depth: Int) throws(JSONCursor.SyntaxError) {
        try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in
            if cursor.peek() == Byte.openBrace, depth < Self.maximumDepth {
                return try search(&cursor, depth: depth + 1)
            }
            if cursor.peek() == Byte.openBracket, self.depth == 0, isHeld(name, cursor) {
                (start, self.depth) = (cursor.offset + 1, depth)
            }
            try cursor.skipValue(depth: depth)
        }
    }

    /// Whether the array at the cursor holds covers.
    private func isHeld(_ name: String, _ cursor: JSONCursor) -> Bool {
        if Self.names.contains(Album.CoverField.normalize(name)) { return true }
        var cursor = cursor
        guard cursor.accept(Byte.openBracket), case .item(let item)? = try? ListElement.read(&cursor, location, options)
        else { return false }
        return item.album != nil || item.url.isURL
    }
}
