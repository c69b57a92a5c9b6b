/// Reads the elements of a small XML document: their names, attributes and texts.
///
/// It is for the flat files that media programs write beside the music. It needs no more than Kodi's own reader, which takes what is not
/// well-formed: Foundation's parser would add a library of 5 MB. Entities that a document declares are not expanded, so none can grow.
struct XMLReader {
    struct SyntaxError: Error, Equatable {
        var message: String
        /// The offset of the markup.
        var offset: Int
    }

    enum Token: Equatable {
        case open(name: String, attributes: [String: String], isEmpty: Bool)
        case close(name: String)
        case text(String)
    }

    private let bytes: [UInt8]
    /// The offset of the next token.
    private(set) var offset = 0

    /// - Parameter bytes: UTF-8.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private static let (less, greater, slash) = (UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "/"))

    /// The next token; nil at the end. Comments, declarations and instructions are left out.
    /// - Throws: `SyntaxError` if the document ends within one.
    mutating func next() throws(SyntaxError) -> Token? {
        while offset < bytes.count {
            guard bytes[offset] == Self.less else { return .text(Self.decoded(take(until: Self.less))) }
            if has("<!--") {
                try skip(past: "-->", "a comment")
            } else if has("<![CDATA[") {
                let start = offset + 9
                try skip(past: "]]>", "a CDATA section")
                return .text(String(decoding: bytes[start..<(offset - 3)], as: UTF8.self))
            } else if has("<?") {
                try skip(past: "?>", "an instruction")
            } else if has("<!") {
                try skipDeclaration()
            } else {
                return try tag()
            }
        }
        return nil
    }

    private func has(_ text: StaticString) -> Bool {
        bytes[offset...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func take(until end: UInt8) -> ArraySlice<UInt8> {
        let text = bytes[offset...].prefix { $0 != end }
        offset = text.endIndex
        return text
    }

    private mutating func skip(past end: String, _ what: String) throws(SyntaxError) {
        let end = Array(end.utf8)
        let start = offset
        while offset + end.count <= bytes.count {
            if bytes[offset] == end[0], bytes[offset...].starts(with: end) {
                offset += end.count
                return
            }
            offset += 1
        }
        throw SyntaxError(message: "\(what) is never closed", offset: start)
    }

    /// Skips `<!DOCTYPE … [ … ]>` with what it declares.
    private mutating func skipDeclaration() throws(SyntaxError) {
        let start = offset
        var (depth, quote): (Int, UInt8?) = (0, nil)
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case Byte.quote, UInt8(ascii: "'"): quote = byte
            case Byte.openBracket, Self.less: depth += 1
            case Byte.closeBracket: depth -= 1
            case Self.greater:
                depth -= 1
                if depth <= 0 { return }
            default: break
            }
        }
        throw SyntaxError(message: "a declaration is never closed", offset: start)
    }

    private mutating func tag() throws(SyntaxError) -> Token {
        let start = offset
        offset += 1
        let isClosing = offset < bytes.count && bytes[offset] == Self.slash
        if isClosing { offset += 1 }
        let name = takeName()
        var attributes: [String: String] = [:]
        while offset < bytes.count {
            switch bytes[offset] {
            case Self.greater:
                offset += 1
                return isClosing ? .close(name: name) : .open(name: name, attributes: attributes, isEmpty: false)
            case Self.slash where offset + 1 < bytes.count && bytes[offset + 1] == Self.greater:
                offset += 2
                return .open(name: name, attributes: attributes, isEmpty: true)
            case let byte where Byte.isWhitespace(byte) || byte == Self.slash: offset += 1
            case Self.less: throw SyntaxError(message: "the tag <\(name.inMessage) is never closed", offset: start)
            default:
                let key = takeName()
                guard let value = takeValue() else {
                    if key.isEmpty { offset += 1 }
                    continue
                }
                attributes[key] = value
            }
        }
        throw SyntaxError(message: "the tag <\(name.inMessage) is never closed", offset: start)
    }

    private mutating func takeName() -> String {
        let name = bytes[offset...].prefix { byte in
            !Byte.isWhitespace(byte) && byte != UInt8(ascii: "=") && byte != Self.slash && byte != Self.greater
                && byte != Self.less
        }
        offset = name.endIndex
        return String(decoding: name, as: UTF8.self)
    }

    /// The quoted value after `=`; nil if there is none.
    private mutating func takeValue() -> String? {
        while offset < bytes.count, Byte.isWhitespace(bytes[offset]) { offset += 1 }
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: "=") else { return nil }
        offset += 1
        while offset < bytes.count, Byte.isWhitespace(bytes[offset]) { offset += 1 }
        guard offset < bytes.count, [Byte.quote, UInt8(ascii: "'")].contains(bytes[offset]) else { return takeName() }
        let quote = bytes[offset]
        offset += 1
        let value = take(until: quote)
        offset = min(offset + 1, bytes.count)
        return Self.decoded(value)
    }

    // MARK: Entities

    /// The text with the entities of XML and references to characters replaced. Others stay as written.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let ampersand = UInt8(ascii: "&")
        guard bytes.contains(ampersand) else { return String(decoding: bytes, as: UTF8.self) }
        var (text, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes)
        while let start = rest.firstIndex(of: ampersand) {
            text += rest[..<start]
            // No name or number is longer.
            let name = rest[(start + 1)...].prefix(10).prefix { $0 != Byte.semicolon }
            if name.endIndex < rest.endIndex, rest[name.endIndex] == Byte.semicolon, let value = value(of: name) {
                text += value.utf8
                rest = rest[(name.endIndex + 1)...]
            } else {
                text.append(ampersand)
                rest = rest[(start + 1)...]
            }
        }
        return String(decoding: text + rest, as: UTF8.self)
    }

    private static func value(of name: ArraySlice<UInt8>) -> String? {
        let name = String(decoding: name, as: UTF8.self)
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let isHexadecimal = name.dropFirst().first == "x" || name.dropFirst().first == "X"
            let number = isHexadecimal ? UInt32(name.dropFirst(2), radix: 16) : UInt32(name.dropFirst())
            return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
        }
    }
}
