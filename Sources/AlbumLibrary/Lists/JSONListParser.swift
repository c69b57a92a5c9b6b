/// Parses JSON: an array of albums or URLs, values one after another (JSON lines, or what `jq` prints), or objects around such
/// an array, in any nesting, as web services return them.
///
/// Malformed JSON inside an array or an object ends the list: nothing after it can be trusted. Between values on lines of their
/// own, the line is skipped. A well-formed element that is not a cover is skipped.
struct JSONListParser: ListParser {
    static let element = "the element"

    /// An array, or an object around one, that is not read to its end.
    private struct Level {
        var isObject: Bool
        /// The normalized name of the array, or of the member whose value comes next.
        var name = ""
        /// Enter only arrays that are named as lists are.
        var needsName = false
        var state = State.first
    }

    private enum State {
        case first, value, afterValue, afterComma
    }

    private(set) var location: ListLocation
    private let options: ListOptions
    /// Whether each value stands on a separate line.
    private let hasLines: Bool
    private var levels: [Level] = []
    /// Whether an array has ended, or a value on a line was read.
    private var hasValue = false
    private var skipped = JSONScanner()

    /// The maximum nesting of objects and arrays around the albums.
    private static let maximumLevels = 8

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
            let level = levels.last
            if level == nil {
                length = try top(bytes, isLast, &elements)
            } else if level?.isObject == true, level?.state != .value {
                length = try key(bytes, isLast)
            } else {
                length = try value(bytes, isLast, &elements)
            }
        }
        location = location.advanced(by: length, in: bytes)
        return length
    }

    // MARK: Outside of arrays and objects

    private mutating func top(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let byte = bytes[0]
        if byte == Byte.openBracket, !hasValue || !options.isLibraryFile {
            levels.append(Level(isObject: false))
            return 1
        }
        if hasLines { return try line(bytes, isLast, &elements) }
        if byte == Byte.openBrace, !options.isLibraryFile { return try element(bytes, isLast, &elements) }
        throw problem(
            (hasValue ? "expected nothing after the array" : "expected '['") + ", found \(Byte.name(byte))")
    }

    /// Parses a value that begins a line, and checks that nothing but another value follows on its last line.
    private mutating func line(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var cursor = JSONCursor(bytes)
        var parser = AlbumParser(options)
        let failure: JSONCursor.SyntaxError
        do throws(JSONCursor.SyntaxError) {
            let element = try JSONElement.read(&cursor, location, &parser)
            if case .list(let isNamed) = element { return enter(isNamed) }
            let rest = bytes[cursor.offset...].first { $0 != 0x20 && $0 != Byte.tab }
            if rest == nil, !isLast { return 0 }
            let follows = [Byte.newline, Byte.carriageReturn, Byte.openBrace, Byte.openBracket, Byte.quote]
            guard rest.map(follows.contains) ?? true else { throw cursor.unexpected("nothing more after the value") }
            append(element, "", &elements)
            return cursor.offset
        } catch {
            failure = error
        }
        if cursor.isAtEnd, isLast, parser.mayBeCutOffList { return enter(!parser.album.title.isEmpty) }
        if cursor.isAtEnd, !isLast {
            return parser.mayBeLongList && bytes.count > options.limit ? enter(!parser.album.title.isEmpty) : 0
        }
        elements.append(.problem(ListProblem(malformed: failure, location, in: bytes, "; skipped")))
        // An error in a later line is that of a value over several lines, unless another value begins there.
        let end = bytes.firstOffset(of: Byte.newline, from: 0).map { $0 + 1 } ?? bytes.count
        if failure.offset < end || end == bytes.count { return end }
        if [Byte.openBrace, Byte.openBracket, Byte.quote].contains(bytes[end]) { return end }
        return bytes.firstOffset(of: Byte.newline, from: failure.offset).map { $0 + 1 } ?? bytes.count
    }

    private mutating func enter(_ needsName: Bool) -> Int {
        levels.append(Level(isObject: true, needsName: needsName))
        return 1
    }

    private mutating func append(_ element: JSONElement, _ name: String, _ elements: inout [ListElement]) {
        hasValue = true
        switch element {
        case .element(let element): elements.append(element.identified(by: name))
        // Beside a list, an object without an album is no mistake.
        case .structure(let element):
            let found = element.identified(by: name)
            if case .item = found { return elements.append(found) }
            if levels.last?.isObject != true { elements.append(found) }
        case .list: break
        }
    }

    // MARK: Inside

    /// Parses a comma, a closing brace, or the name of a member with its colon.
    private mutating func key(_ bytes: UnsafeRawBufferPointer, _ isLast: Bool) throws(ListProblem) -> Int {
        let index = levels.count - 1
        switch (levels[index].state, bytes[0]) {
        case (.afterValue, Byte.comma):
            levels[index].state = .afterComma
            return 1
        case (.first, Byte.closeBrace), (.afterValue, Byte.closeBrace):
            close()
            return 1
        case (.first, Byte.quote), (.afterComma, Byte.quote):
            var cursor = JSONCursor(bytes)
            do throws(JSONCursor.SyntaxError) {
                levels[index].name = Album.CoverField.normalize(try cursor.string())
                try cursor.expect(Byte.colon, "':' after the key")
            } catch {
                if cursor.isAtEnd, !isLast { return 0 }
                throw ListProblem(malformed: error, location, in: bytes)
            }
            levels[index].state = .value
            return cursor.offset
        case (.afterValue, let byte): throw problem("expected ',' or '}', found \(Byte.name(byte))")
        case (_, let byte): throw problem("expected a key in quotes, found \(Byte.name(byte))")
        }
    }

    /// Parses an element of an array, a comma or bracket there, or the value of a member.
    private mutating func value(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let (index, byte) = (levels.count - 1, bytes[0])
        let level = levels[index]
        if level.isObject { return try member(level, bytes, isLast, &elements) }
        switch (level.state, byte) {
        case (.afterValue, Byte.comma):
            levels[index].state = .afterComma
            return 1
        case (.first, Byte.closeBracket), (.afterValue, Byte.closeBracket):
            close()
            return 1
        case (.afterValue, _): throw problem("expected ',' or ']' after an element, found \(Byte.name(byte))")
        case _ where !JSONCursor.beginsValue(byte): throw problem("expected an element, found \(Byte.name(byte))")
        default: return try element(bytes, isLast, &elements)
        }
    }

    /// Parses the value of a member: enters an array of albums or URLs, takes an album, and skips anything else.
    private mutating func member(
        _ level: Level, _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let isWanted = !level.needsName || ListField.listNames.contains(level.name)
        if bytes[0] == Byte.openBrace, isWanted { return try element(bytes, isLast, &elements) }
        if bytes[0] == Byte.openBracket, isWanted, levels.count < Self.maximumLevels {
            let inside = bytes.dropFirst().drop(while: Byte.isWhitespace)
            if inside.count < 5, !isLast, bytes.count <= options.limit { return 0 }
            if inside.first == Byte.openBrace || inside.starts(with: "\"http".utf8) {
                levels[levels.count - 1].state = .afterValue
                levels.append(Level(isObject: false, name: level.name))
                return 1
            }
        }
        var cursor = JSONCursor(bytes)
        do throws(JSONCursor.SyntaxError) {
            try cursor.skipValue(depth: levels.count)
            // A number may have more digits.
            guard cursor.offset < bytes.count || cursor.isDelimited || isLast else { return 0 }
        } catch {
            if cursor.isAtEnd, !isLast { return 0 }
            throw ListProblem(malformed: error, location, in: bytes)
        }
        levels[levels.count - 1].state = .afterValue
        return cursor.offset
    }

    /// Parses the album or URL that begins with the first of `bytes`, or enters an object around albums.
    private mutating func element(
        _ bytes: UnsafeRawBufferPointer, _ isLast: Bool, _ elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var cursor = JSONCursor(bytes)
        var parser = AlbumParser(options)
        do throws(JSONCursor.SyntaxError) {
            let element = try JSONElement.read(&cursor, location, &parser)
            if case .list(let isNamed) = element, levels.count < Self.maximumLevels {
                didReadValue()
                return enter(isNamed)
            }
            guard cursor.offset < bytes.count || cursor.isDelimited || isLast else { return 0 }
            append(element, levels.last?.name ?? "", &elements)
        } catch {
            // Albums before the end of a file that was cut off are read, like those of an array.
            let isList =
                bytes.count > options.limit ? parser.mayBeLongList : isLast && parser.mayBeCutOffList
            if isList, cursor.isAtEnd, levels.count < Self.maximumLevels {
                didReadValue()
                return enter(!parser.album.title.isEmpty)
            }
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
        didReadValue()
        return cursor.offset
    }

    private mutating func didReadValue() {
        if levels.isEmpty { hasValue = true } else { levels[levels.count - 1].state = .afterValue }
    }

    private mutating func close() {
        levels.removeLast()
        didReadValue()
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
        if skipped.isBroken, !levels.isEmpty || !hasLines { throw problem("a string is not closed on its line") }
        if end != nil { didReadValue() }
        return end
    }

    func finish(into elements: inout [ListElement]) throws(ListProblem) {
        if let level = levels.last {
            throw problem(
                level.isObject
                    ? "the object is not closed: expected '}', found the end of the file"
                    : "the array is not closed: expected ']', found the end of the file")
        }
        if !hasLines, !hasValue { throw problem("expected '[', found the end of the file") }
    }

    private func problem(_ message: String) -> ListProblem { ListProblem(location, "malformed JSON: \(message)") }
}

extension ListElement {
    /// The element with the MusicBrainz id that its `id` is in a list of MusicBrainz: `releases` or `release-groups`.
    fileprivate func identified(by list: String) -> ListElement {
        guard let entity = ["releases": MusicBrainzID.Entity.release, "releasegroups": .releaseGroup][list] else {
            return self
        }
        switch self {
        case .item(var item):
            if let id = item.album?.id { item.album?.addMusicBrainzID(id, entity) }
            return .item(item)
        case .problem(let problem):
            guard var album = problem.album else { return self }
            album.addMusicBrainzID(album.id, entity)
            return album.hasMusicBrainzID ? .album(album, problem.location) : self
        }
    }
}
