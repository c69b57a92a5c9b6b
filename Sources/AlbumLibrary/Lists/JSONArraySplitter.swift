/// Splits a JSON array into its elements. It understands strings, nesting and commas; ``JSONCursor`` checks what is inside an
/// element. It is fed chunks of any length, copies only an element that spans two chunks, and holds at most
/// ``ListLimit/element`` bytes, so an array of any length on one line streams.
struct JSONArraySplitter {
    enum Piece {
        /// An element, valid during the call only.
        case element(UnsafeRawBufferPointer, at: ListLocation)
        case tooLong(at: ListLocation)
    }

    private enum State {
        case beforeArray, first, element, afterElement, afterComma, afterArray
    }

    /// The part of an element that the next byte belongs to.
    private enum Part {
        case scalar, container, string, escape
    }

    private let file: String
    private var state = State.beforeArray
    private var part = Part.scalar
    private var depth = 0
    /// The beginnings of the element and of the last string in it.
    private var elementLocation, stringLocation: ListLocation
    private var held: ElementBuffer

    private var line = 1
    /// Bytes fed before the current chunk.
    private var consumed = 0
    /// The offset of the current line in all bytes.
    private var lineStart = 0

    init(file: String, limit: Int = ListLimit.element) {
        self.file = file
        held = ElementBuffer(limit: limit)
        elementLocation = ListLocation(file: file)
        stringLocation = ListLocation(file: file)
    }

    mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        var start = 0
        var index = 0
        while index < bytes.count {
            if state == .element {
                let isWhole = try scan(bytes, &index, from: start, body)
                guard isWhole else { break }
                try close(UnsafeRawBufferPointer(rebasing: bytes[start..<index]), body)
            } else {
                let byte = bytes[index]
                if byte == Byte.newline {
                    newline(at: index)
                } else if !Byte.isWhitespace(byte), try !punctuation(byte, at: index) {
                    start = index
                    try open(byte, at: index)
                }
                index += 1
            }
        }
        if state == .element {
            try hold(UnsafeRawBufferPointer(rebasing: bytes[start...]), body)
        }
        consumed += bytes.count
    }

    /// Throws unless the array was closed.
    func finish() throws(ListProblem) {
        switch state {
        case .afterArray: return
        case .element where part == .string || part == .escape:
            throw problem(stringLocation, "the string that begins here is not closed")
        case .element:
            throw problem(elementLocation, "the element that begins here is not closed; the file ends inside it")
        default:
            throw problem(location(at: 0), "the array is not closed: expected ']', found the end of the file")
        }
    }

    // MARK: Between elements

    /// Returns true if `byte` is a bracket or comma that is allowed here, false if an element must begin with it.
    private mutating func punctuation(_ byte: UInt8, at index: Int) throws(ListProblem) -> Bool {
        switch (state, byte) {
        case (.beforeArray, Byte.openBracket): state = .first
        case (.first, Byte.closeBracket), (.afterElement, Byte.closeBracket): state = .afterArray
        case (.afterElement, Byte.comma): state = .afterComma
        case (.first, _), (.afterComma, _): return false
        case (.beforeArray, _): throw problem(location(at: index), "expected '[', found \(Byte.name(byte))")
        case (.afterArray, _):
            throw problem(location(at: index), "expected nothing after the array, found \(Byte.name(byte))")
        default: throw problem(location(at: index), "expected ',' or ']' after an element, found \(Byte.name(byte))")
        }
        return true
    }

    private mutating func open(_ byte: UInt8, at index: Int) throws(ListProblem) {
        elementLocation = location(at: index)
        depth = 0
        switch byte {
        case Byte.openBrace, Byte.openBracket:
            part = .container
            depth = 1
        case Byte.quote:
            part = .string
            stringLocation = elementLocation
        case UInt8(ascii: "-"), Byte.zero...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            part = .scalar
        default:
            throw problem(elementLocation, "expected an element, found \(Byte.name(byte))")
        }
        state = .element
    }

    // MARK: Inside an element

    /// Moves `index` past the element's end, or to the end of the bytes. Returns whether it found the element's end.
    private mutating func scan(
        _ bytes: UnsafeRawBufferPointer, _ index: inout Int, from start: Int,
        _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) -> Bool {
        while index < bytes.count {
            if part == .string {
                // Most bytes are inside strings and need no decision.
                while index < bytes.count, !Self.isMark(bytes[index]) { index += 1 }
                guard index < bytes.count else { break }
            }
            let byte = bytes[index]
            switch part {
            case .scalar:
                if byte == Byte.comma || byte == Byte.closeBracket || Byte.isWhitespace(byte) { return true }
            case .container:
                switch byte {
                case Byte.quote:
                    part = .string
                    stringLocation = location(at: index)
                case Byte.openBrace, Byte.openBracket: depth += 1
                case Byte.closeBrace, Byte.closeBracket: depth -= 1
                case Byte.newline: newline(at: index)
                default: break
                }
                if depth == 0 {
                    index += 1
                    return true
                }
            case .string:
                if byte == Byte.quote {
                    part = .container
                    if depth == 0 {
                        index += 1
                        return true
                    }
                } else if byte == Byte.backslash {
                    part = .escape
                } else if byte == Byte.newline {
                    // A JSON string contains no line feed, so a missing quote is reported here, not at the end of the file.
                    try hold(UnsafeRawBufferPointer(rebasing: bytes[start..<index]), body)
                    throw problem(stringLocation, "the string that begins here is not closed on its line")
                }
            case .escape:
                part = .string
            }
            index += 1
        }
        return false
    }

    /// Whether `byte` ends a string, begins an escape or is an error in one.
    @inline(__always)
    private static func isMark(_ byte: UInt8) -> Bool {
        byte == Byte.quote || byte == Byte.backslash || byte == Byte.newline
    }

    private mutating func close(
        _ end: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        state = .afterElement
        if held.canPass(end) { return try body(.element(end, at: elementLocation)) }
        try hold(end, body)
        let location = elementLocation
        try held.take { (element) throws(ListProblem) in try body(.element(element, at: location)) }
    }

    private mutating func hold(
        _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        if held.append(bytes) { try body(.tooLong(at: elementLocation)) }
    }

    // MARK: Locations

    private mutating func newline(at index: Int) {
        line += 1
        lineStart = consumed + index + 1
    }

    private func location(at index: Int) -> ListLocation {
        ListLocation(file: file, line: line, column: consumed + index - lineStart + 1)
    }

    private func problem(_ location: ListLocation, _ message: String) -> ListProblem {
        ListProblem(location, "malformed JSON: \(message)")
    }
}
