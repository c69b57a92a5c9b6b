/// Converts the bytes of one format to elements. ``ListBuffer`` feeds it.
protocol ListParser {
    /// The name of an element of the format in messages.
    static var element: String { get }
    /// Where the next byte is.
    var location: ListLocation { get set }

    /// Parses what begins with the first of `bytes`, of which there is at least one: an element, or what is between two.
    /// - Parameters:
    ///   - bytes: At most one more than the list's limit, which is ``ListLimit/element`` by default.
    ///   - isLast: The list ends after `bytes`.
    /// - Returns: The number of bytes parsed; 0 if the end of the element is not among them. Never 0 if `isLast`.
    /// - Throws: `ListProblem` if the rest of the list cannot be read.
    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int

    /// Begins to skip an element that is too long, by its first bytes, as many as the limit.
    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer)

    /// Skips to the end of the element.
    /// - Returns: The number of bytes up to its end; nil if the end is not among `bytes`.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int?

    /// Called once, after the last byte. Appends an element that only the end of the list completes.
    /// - Throws: `ListProblem` if the list is not complete.
    mutating func finish(into elements: inout [ListElement]) throws(ListProblem)
}

extension ListParser {
    /// Skips to the next line feed, of CSV even inside quotes: a row this long has a quote that was never closed.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        guard let end = bytes.firstOffset(of: Byte.newline, from: 0) else { return nil }
        location.line += 1
        return end + 1
    }

    mutating func finish(into elements: inout [ListElement]) throws(ListProblem) {}

    /// Parses every element that `bytes` complete. - Returns: The number of bytes parsed.
    fileprivate mutating func parseAll(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, _ options: ListOptions, isSkipping: inout Bool,
        badText: inout ListProblem?, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            if isSkipping {
                guard let end = try skip(rest) else { return bytes.count }
                isSkipping = false
                start += end
                continue
            }
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(options.limit + 1))
            let (first, begin) = (elements.count, location)
            let length = try parse(part, isLast: isLast && rest.count <= options.limit, into: &elements)
            start += length
            if elements.count > first {
                let element = UnsafeRawBufferPointer(rebasing: part[..<length])
                if let offset = UTF8Check.firstInvalidOffset(element) {
                    let message = UTF8Check.message(element, at: offset, in: begin.file)
                    let problem = ListProblem(begin.advanced(by: offset, in: element), message)
                    for index in first..<elements.count {
                        elements[index] = elements[index].withBadText(problem, options)
                        if badText == nil, case .item = elements[index] { badText = problem }
                    }
                }
            }
            if length > 0 { continue }
            guard rest.count > options.limit else { break }
            elements.append(
                .problem(ListProblem(location, "\(Self.element) is longer than 1 MiB; skipped")))
            isSkipping = true
            beginSkipping(UnsafeRawBufferPointer(rebasing: rest[..<options.limit]))
            start += options.limit
        }
        return start
    }
}

extension ListElement {
    /// An element whose text is not UTF-8. It is a problem for a caller that would write the text again, and if a location of
    /// the cover is part of that text. Otherwise the cover can be found, and the album's texts have U+FFFD for such bytes.
    fileprivate func withBadText(_ problem: ListProblem, _ options: ListOptions) -> ListElement {
        switch self {
        case .problem(let other): return other.album != nil && options.keepsOtherFields ? .problem(problem) : self
        case .item(let item):
            let locations = [item.url] + (item.album?.alternateCoverURLs ?? [])
            guard options.keepsOtherFields || locations.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") })
            else { return self }
            var problem = problem
            problem.message += "; skipped"
            return .problem(problem)
        }
    }
}

/// Feeds a parser chunks of any length, in order. Between two chunks it holds the beginning of an element, at most
/// ``ListOptions/limit`` bytes: a list of any length streams, and the elements do not depend on where it is cut.
struct ListBuffer {
    var parser: any ListParser
    private var bytes: [UInt8] = []
    private var isSkipping = false
    /// The number of bytes to hold before parsing goes on: a long element is not parsed again with every chunk.
    private var needed = 0
    private let options: ListOptions
    /// The first text that is not UTF-8 in an element that can be used nonetheless.
    private(set) var badText: ListProblem?

    init(_ parser: any ListParser, _ options: ListOptions = ListOptions()) {
        self.parser = parser
        self.options = options
    }

    /// Appends the elements that these bytes complete.
    /// - Parameter isLast: The list ends after `chunk`. It may be empty.
    /// - Throws: `ListProblem` if the rest cannot be read. The elements before the problem have been appended.
    mutating func feed(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool = false, into elements: inout [ListElement]
    ) throws(ListProblem) {
        bytes.append(contentsOf: chunk)
        if bytes.count < needed, !isLast { return }
        let parsed = try bytes.withBytes { (bytes) throws(ListProblem) in
            try parser.parseAll(
                bytes, isLast: isLast, options, isSkipping: &isSkipping, badText: &badText, into: &elements)
        }
        bytes.removeFirst(parsed)
        needed = bytes.count > ListLimit.chunk ? min(2 * bytes.count, options.limit + 1) : 0
        if isLast { try parser.finish(into: &elements) }
    }
}

extension [UInt8] {
    /// `withUnsafeBytes` with typed throws.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ListProblem) -> Result
    ) throws(ListProblem) -> Result {
        try withUnsafeBufferPointer { (bytes) throws(ListProblem) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

/// Finds text that is not UTF-8 (RFC 3629), such as Latin-1 from a spreadsheet or an old editor.
enum UTF8Check {
    /// The offset of the first byte that is not part of a UTF-8 sequence; nil if all are.
    static func firstInvalidOffset(_ bytes: UnsafeRawBufferPointer) -> Int? {
        // Most lists are ASCII: eight bytes at a time.
        var start = 0
        while start + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            start += 8
        }
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes[start...].makeIterator()
        while true {
            switch parser.parseScalar(from: &rest) {
            case .valid(let scalar): start += scalar.count
            case .emptyInput: return nil
            case .error: return start
            }
        }
    }

    /// The message for the wrong byte at `offset`: its likely encoding, and how to convert the file.
    static func message(_ bytes: UnsafeRawBufferPointer, at offset: Int, in file: String) -> String {
        let name = file == "stdin" ? "FILE" : file
        return "the text is not UTF-8 (\(Byte.name(bytes[offset]))); if it is Latin-1, convert it: "
            + "iconv -f LATIN1 -t UTF-8 \(name) > NEW"
    }
}

/// Parses a URL on each line, as in lists for `wget -i`. Ignores blank lines and comments (`#`).
struct URLListParser: ListParser {
    static let element = "the line"

    var location: ListLocation

    init(file: String) { location = ListLocation(file: file, line: 1) }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let end = bytes.firstOffset(of: Byte.newline, from: 0)
        // A last line without a line feed is a line.
        guard end != nil || isLast else { return 0 }
        let text = UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]).trimmed
        if let element = element(text) { elements.append(element) }
        location.line += 1
        return end.map { $0 + 1 } ?? bytes.count
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {}

    /// Nil for a blank line and a comment.
    private func element(_ text: UnsafeRawBufferPointer) -> ListElement? {
        guard let first = text.first, first != Byte.hash else { return nil }
        var item = ListItem(url: text.text, line: location.line)
        if first != Byte.quote && first != Byte.less && !text.contains(where: { $0 <= 0x20 || $0 >= 0x80 }) {
            return .item(item)
        }
        if item.url.isEmpty || item.url.utf8.first == Byte.hash { return nil }
        item.url = Self.unquoted(item.url)
        if !Self.isSeveral(item.url) { return .item(item) }
        return .problem(ListProblem(location, "two URLs are on one line; write each on a separate line; skipped"))
    }

    /// Whether a URL follows another after whitespace.
    private static func isSeveral(_ text: String) -> Bool {
        text.split(whereSeparator: \.isWhitespace).dropFirst().contains { part in
            ["http://", "https://"].contains { part.lowercased().hasPrefix($0) }
        }
    }

    /// The text without quotes or angle brackets around it (RFC 3986 appendix C).
    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count > 1, let first = text.first, let last = text.last,
            [["\"", "\""], ["<", ">"]].contains([first, last])
        else { return text }
        return String(text.dropFirst().dropLast()).trimmingWhitespace()
    }
}
