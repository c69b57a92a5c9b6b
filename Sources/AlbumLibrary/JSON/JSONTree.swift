/// A JSON value of an unknown shape, as other programs write a cover or an artist.
indirect enum JSONTree {
    case string(String)
    /// As written.
    case number(String)
    case array([JSONTree])
    case object([(name: String, value: JSONTree)])
    /// `true`, `false` or `null`, as written.
    case literal(String)

    init?(_ json: String) {
        guard let tree = JSONCursor.read(json, Self.read) else { return nil }
        self = tree
    }

    private static func read(_ cursor: inout JSONCursor) throws(JSONCursor.SyntaxError) -> JSONTree {
        switch cursor.peek() {
        case Byte.quote?: return .string(try cursor.string())
        case Byte.openBrace?:
            var members: [(String, JSONTree)] = []
            try cursor.object { (cursor, name) throws(JSONCursor.SyntaxError) in
                members.append((name, try read(&cursor)))
            }
            return .object(members)
        case Byte.openBracket?:
            var elements: [JSONTree] = []
            try cursor.array { (cursor) throws(JSONCursor.SyntaxError) in elements.append(try read(&cursor)) }
            return .array(elements)
        case UInt8(ascii: "t")?, UInt8(ascii: "f")?, UInt8(ascii: "n")?:
            return .literal(try cursor.rawValue(depth: 0))
        default: return .number(try cursor.number())
        }
    }

    private subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The text of a value, an object's name, or the names in an array, separated by commas.
    var text: String? {
        switch self {
        case .string(let text), .number(let text): return text
        case .object: return (self["name"] ?? self["#text"] ?? self["title"])?.text
        case .array(let elements):
            let texts = elements.compactMap(\.text).filter { !$0.isEmpty }
            return texts.isEmpty ? nil : texts.joined(separator: ", ")
        case .literal: return nil
        }
    }

    /// The URL of a picture: the value, that of an object, or that of the largest picture in an array.
    var pictureURL: String? {
        switch self {
        case .string(let text): return text.isURL ? text.trimmingWhitespace() : nil
        case .object:
            let names = ["url", "#text", "uri", "image", "src", "href", "original", "xl", "large", "medium", "small"]
            return names.lazy.compactMap { self[$0]?.pictureURL }.first
        case .array(let elements):
            var best: (url: String, size: Double)?
            for element in elements {
                guard let url = element.pictureURL else { continue }
                let size = element.pictureSize
                if best.map({ size > $0.size }) ?? true { best = (url, size) }
            }
            return best?.url
        case .number, .literal: return nil
        }
    }

    /// A size for comparison: pixels, or the rank of Last.fm's word for it. A front cover is larger than any other picture.
    private var pictureSize: Double {
        var size = 0.0
        if case .number(let pixels)? = self["width"] ?? self["height"] { size = Double(pixels) ?? 0 }
        if case .string(let word)? = self["size"] {
            size = Double(["small", "medium", "large", "extralarge", "mega"].firstIndex(of: word) ?? -1)
        }
        if case .string("primary")? = self["type"] { size += 1e9 }
        if case .literal("true")? = self["front"] { size += 1e9 }
        return size
    }
}
