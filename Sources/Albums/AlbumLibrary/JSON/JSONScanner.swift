/// Finds the end of a JSON value in chunks of any length, without checking it.
struct JSONScanner {
    private var depth: Int
    private var isEscaped = false
    /// The offset of the string in which the last bytes ended, in those bytes; 0 if it began before them.
    private(set) var stringStart: Int?
    /// A line ends in a string. JSON strings contain no line feed, so a quote is missing.
    private(set) var isBroken = false

    /// - Parameter depth: the number of containers that are open before the first byte.
    init(depth: Int = 0) { self.depth = depth }

    /// - Returns: The end of the value, or the line feed in a string; nil if the value goes on after `bytes`.
    mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        if stringStart != nil { stringStart = 0 }
        for (index, byte) in bytes.enumerated() {
            guard stringStart == nil else {
                if isEscaped {
                    isEscaped = false
                } else if byte == Byte.backslash {
                    isEscaped = true
                } else if byte == Byte.newline {
                    isBroken = true
                    return index
                } else if byte == Byte.quote {
                    stringStart = nil
                    if depth == 0 { return index + 1 }
                }
                continue
            }
            switch byte {
            case Byte.quote: stringStart = index
            case Byte.openBrace, Byte.openBracket: depth += 1
            case Byte.closeBrace, Byte.closeBracket:
                depth -= 1
                if depth <= 0 { return depth == 0 ? index + 1 : index }
            case _ where depth == 0 && (byte == Byte.comma || Byte.isWhitespace(byte)): return index
            default: break
            }
        }
        return nil
    }
}
