/// Parses one JSON array of albums or URLs, also one on a single line. Malformed JSON ends the list: nothing after it can be
/// trusted. A well-formed element that is not a cover is skipped.
struct JSONArrayParser: ListParser {
    static let element = "the element"

    private enum State {
        case beforeArray, first, afterElement, afterComma, afterArray
    }

    private(set) var location: ListLocation
    private let keepsOtherFields: Bool
    private var state = State.beforeArray
    private var skipped = JSONScanner()

    init(file: String, keepsOtherFields: Bool = false) {
        location = ListLocation(file: file, line: 1, column: 1)
        self.keepsOtherFields = keepsOtherFields
    }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var length = bytes.firstIndex { !Byte.isWhitespace($0) } ?? bytes.count
        if length == 0 {
            if try punctuation(bytes[0]) {
                length = 1
            } else {
                guard let (element, end) = try element(bytes, isLast) else { return 0 }
                elements.append(element)
                state = .afterElement
                length = end
            }
        }
        location = location.advanced(by: length, in: bytes)
        return length
    }

    /// Returns true if `byte` is a bracket or comma that is allowed here, false if an element begins with it.
    private mutating func punctuation(_ byte: UInt8) throws(ListProblem) -> Bool {
        switch (state, byte) {
        case (.beforeArray, Byte.openBracket): state = .first
        case (.first, Byte.closeBracket), (.afterElement, Byte.closeBracket): state = .afterArray
        case (.afterElement, Byte.comma): state = .afterComma
        case (.beforeArray, _): throw problem("expected '[', found \(Byte.name(byte))")
        case (.afterArray, _): throw problem("expected nothing after the array, found \(Byte.name(byte))")
        case (.afterElement, _): throw problem("expected ',' or ']' after an element, found \(Byte.name(byte))")
        case (.first, _), (.afterComma, _):
            guard JSONCursor.beginsValue(byte) else { throw problem("expected an element, found \(Byte.name(byte))") }
            return false
        }
        return true
    }

    /// The element that begins with the first of `bytes`, and its length. Nil if it may go on in the next bytes.
    private func element(_ bytes: UnsafeRawBufferPointer, _ isLast: Bool) throws(ListProblem) -> (ListElement, Int)? {
        var cursor = JSONCursor(bytes)
        do {
            let element = try JSONElement.read(&cursor, location, keepsOtherFields)
            // A number may have more digits.
            return cursor.offset < bytes.count || cursor.isDelimited || isLast ? (element, cursor.offset) : nil
        } catch {
            var scanner = JSONScanner()
            guard scanner.end(in: bytes) == nil else { throw ListProblem(malformed: error, location, in: bytes) }
            if !isLast { return nil }
            guard let start = scanner.stringStart else {
                throw problem("the element that begins here is not closed; the file ends inside it")
            }
            throw ListProblem(
                malformed: .init(offset: start, message: "the string that begins here is not closed"), location,
                in: bytes)
        }
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {
        skipped = JSONScanner()
        _ = skipped.end(in: bytes)
        location = location.advanced(by: bytes.count, in: bytes)
    }

    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        let end = skipped.end(in: bytes)
        location = location.advanced(by: end ?? bytes.count, in: bytes)
        if skipped.isBroken { throw problem("a string is not closed on its line") }
        if end != nil { state = .afterElement }
        return end
    }

    func finish() throws(ListProblem) {
        if state != .afterArray { throw problem("the array is not closed: expected ']', found the end of the file") }
    }

    private func problem(_ message: String) -> ListProblem { ListProblem(location, "malformed JSON: \(message)") }
}

/// Finds the end of a JSON value in chunks of any length, without checking it.
struct JSONScanner {
    private var depth = 0
    private var isEscaped = false
    /// The offset of the string in which the last bytes ended, in those bytes; 0 if it began before them.
    private(set) var stringStart: Int?
    /// A line ends in a string. JSON strings contain no line feed, so a quote is missing.
    private(set) var isBroken = false

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
