/// Parses JSON: arrays of albums or URLs, or values one after another (JSON lines, or what `jq` prints). A value may be an object
/// that holds such an array, which is read instead.
///
/// Malformed JSON inside an array ends the list: nothing after it can be trusted. Between values on lines of their own, the line is
/// skipped. A well-formed element that is not a cover is skipped.
struct JSONListParser: ListParser {
    static let element = "the element"

    private enum State {
        case outside
        /// In an array, at its beginning or behind something.
        case first, afterValue, afterComma
        /// After an array, in the objects that hold it.
        case afterArray
    }

    var location: ListLocation
    private let options: ListOptions
    /// Whether each value stands on a separate line.
    private let hasLines: Bool
    private var state = State.outside
    /// Whether an array has ended, or a value on a line was read.
    private var hasValue = false
    private var skipped = JSONScanner()
    /// The number of objects that hold the array.
    private var depth = 0

    /// - Parameter hasLines: The list is not one array: each value stands on a separate line.
    init(file: String, hasLines: Bool, _ options: ListOptions = ListOptions()) {
        location = ListLocation(file: file, line: 1, column: 1)
        self.options = options
        self.hasLines = hasLines
    }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var length = bytes.firstIndex { !Byte.isWhitespace($0) } ?? bytes.count
        if length == 0 {
            length =
                switch state {
                case .outside: try top(bytes, isLast, &elements)
                case .afterArray: try end(bytes)
                default: try inside(bytes, isLast, &elements)
                }
        }
        location = location.advanced(by: length, in: bytes)
        return length
    }

    // MARK: Outside of arrays

    private mutating func top(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let byte = bytes[0]
        if byte == Byte.orderMark[0] {
            if bytes.starts(with: Byte.orderMark) { return Byte.orderMark.count }
            if bytes.count < Byte.orderMark.count, !isLast { return 0 }
        }
        if byte == Byte.openBracket, !hasValue || !options.isLibraryFile {
            state = .first
            return 1
        }
        if hasLines { return try line(bytes, isLast, &elements) }
        throw problem(
            (hasValue ? "expected nothing after the array" : "expected '['") + ", found \(Byte.name(byte))")
    }

    /// Parses a value that begins a line, and checks that nothing but another value follows on its last line.
    private mutating func line(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var cursor = JSONCursor(bytes)
        let failure: JSONCursor.SyntaxError
        do throws(JSONCursor.SyntaxError) {
            let element = try ListElement.read(&cursor, location, options)
            if element == nil, let length = enter(bytes) { return length }
            let rest = bytes[cursor.offset...].first { $0 != 0x20 && $0 != Byte.tab }
            if rest == nil, !isLast { return 0 }
            let follows = [Byte.newline, Byte.carriageReturn, Byte.openBrace, Byte.openBracket, Byte.quote]
            guard rest.map(follows.contains) ?? true else { throw cursor.unexpected("nothing more after the value") }
            elements.append(element ?? .noAlbum(location))
            hasValue = true
            return cursor.offset
        } catch {
            failure = error
        }
        let end = bytes.firstOffset(of: Byte.newline, from: 0).map { $0 + 1 } ?? bytes.count
        let isLong = bytes.count > options.limit
        if !isLong, !isLast, cursor.isAtEnd || end == bytes.count { return 0 }
        let isBeforeValue =
            end < bytes.count && [Byte.openBrace, Byte.openBracket, Byte.quote].contains(bytes[end])
        // No album is that long, but an object that holds albums may be. A malformed one is read as far as it can be, unless it is
        // one line of several: that costs itself alone.
        if isLong || !isBeforeValue || failure.offset > end, let length = enter(bytes, isMalformed: !isLong) {
            return length
        }
        if cursor.isAtEnd, !isLast { return 0 }
        elements.append(.problem(ListProblem(malformed: failure, location, in: bytes, "; skipped")))
        // An error in a later line is that of a value over several lines, unless another value begins there.
        if failure.offset < end || end == bytes.count || isBeforeValue { return end }
        return bytes.firstOffset(of: Byte.newline, from: failure.offset).map { $0 + 1 } ?? bytes.count
    }

    /// Goes on in the array of albums or URLs that an object holds.
    /// - Returns: where its first element may begin; nil if there is none.
    private mutating func enter(_ bytes: UnsafeRawBufferPointer, isMalformed: Bool = false) -> Int? {
        guard !options.isLibraryFile, let array = HeldArray(in: bytes, location, options, isMalformed: isMalformed)
        else { return nil }
        (state, depth) = (.first, array.depth)
        return array.start
    }

    /// Skips what follows the array in the objects that hold it.
    private mutating func end(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int {
        let end = skipped.end(in: bytes)
        if skipped.isBroken { throw problem("a string is not closed on its line") }
        if end != nil { (state, depth) = (.outside, 0) }
        return end ?? bytes.count
    }

    // MARK: Inside

    /// Parses an element of an array, or a comma or bracket there.
    private mutating func inside(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let byte = bytes[0]
        switch (state, byte) {
        case (.afterValue, Byte.comma):
            state = .afterComma
            return 1
        case (.first, Byte.closeBracket), (.afterValue, Byte.closeBracket):
            (state, hasValue) = (depth == 0 ? .outside : .afterArray, true)
            skipped = JSONScanner(depth: depth)
            return 1
        case (.afterValue, _): throw problem("expected ',' or ']' after an element, found \(Byte.name(byte))")
        case _ where !JSONCursor.beginsValue(byte): throw problem("expected an element, found \(Byte.name(byte))")
        default: return try element(bytes, isLast, &elements)
        }
    }

    /// Parses the album or URL that begins with the first of `bytes`.
    private mutating func element(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var cursor = JSONCursor(bytes)
        do throws(JSONCursor.SyntaxError) {
            let element = try ListElement.read(&cursor, location, options)
            guard cursor.offset < bytes.count || cursor.isDelimited || isLast else { return 0 }
            elements.append(element ?? .noAlbum(location))
        } catch {
            var scanner = JSONScanner()
            guard scanner.end(in: bytes) == nil else { throw ListProblem(malformed: error, location, in: bytes) }
            if !isLast { return 0 }
            guard let start = scanner.stringStart else {
                throw problem("the element that begins here is not closed; the file ends inside it")
            }
            throw ListProblem(
                malformed: .init(offset: start, message: "the string that begins here is not closed"), location,
                in: bytes)
        }
        state = .afterValue
        return cursor.offset
    }

    // MARK: Long elements and the end

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {
        skipped = JSONScanner()
        _ = skipped.end(in: bytes)
        location = location.advanced(by: bytes.count, in: bytes)
    }

    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        let end = skipped.end(in: bytes)
        location = location.advanced(by: end ?? bytes.count, in: bytes)
        if skipped.isBroken, state != .outside || !hasLines { throw problem("a string is not closed on its line") }
        if end != nil { if state == .outside { hasValue = true } else { state = .afterValue } }
        return end
    }

    func finish(into elements: inout [ListElement]) throws(ListProblem) {
        if state == .afterArray { throw problem("the object is not closed: expected '}', found the end of the file") }
        if state != .outside { throw problem("the array is not closed: expected ']', found the end of the file") }
        if !hasLines, !hasValue { throw problem("expected '[', found the end of the file") }
    }

    private func problem(_ message: String) -> ListProblem { ListProblem(location, "malformed JSON: \(message)") }
}

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
    private let isMalformed: Bool

    /// Nil if there is none.
    /// - Parameters:
    ///   - bytes: begin with the object, which may end after them.
    ///   - isMalformed: The object may be a part of an album. Only an array that is named for albums counts.
    init?(in bytes: UnsafeRawBufferPointer, _ location: ListLocation, _ options: ListOptions, isMalformed: Bool) {
        self.location = location
        self.options = options
        self.isMalformed = isMalformed
        if isMalformed {
            var (cursor, album) = (JSONCursor(bytes), AlbumParser(options))
            try? album.read(&cursor)
            if !album.mayHoldAlbums { return nil }
        }
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
        guard !isMalformed, cursor.accept(Byte.openBracket),
            case .item(let item)? = try? ListElement.read(&cursor, location, options)
        else { return false }
        return item.album != nil || item.url.isURL
    }
}
