/// Converts the bytes of one format to elements. ``ListBuffer`` feeds it.
protocol ListParser {
    /// What an element of the format is called in messages.
    static var element: String { get }
    /// Where the next byte is.
    var location: ListLocation { get }

    /// Parses what begins with the first of `bytes`, of which there is at least one: an element, or what is between two.
    /// - Parameters:
    ///   - bytes: At most one more than ``ListLimit/element``.
    ///   - isLast: The list ends after `bytes`.
    /// - Returns: The number of bytes parsed; 0 if the end of the element is not among them. Never 0 if `isLast`.
    /// - Throws: `ListProblem` if the rest of the list cannot be read.
    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int

    /// Begins to skip an element that is too long, by its first ``ListLimit/element`` bytes.
    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer)

    /// Skips to the end of the element.
    /// - Returns: The number of bytes up to its end; nil if the end is not among `bytes`.
    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int?

    /// Called once, after the last byte.
    /// - Throws: `ListProblem` if the list is not complete.
    func finish() throws(ListProblem)
}

extension ListParser {
    func finish() throws(ListProblem) {}

    /// Parses every element that `bytes` complete. - Returns: The number of bytes parsed.
    fileprivate mutating func parseAll(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, isSkipping: inout Bool, into elements: inout [ListElement]
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
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(ListLimit.element + 1))
            let length = try parse(part, isLast: isLast && rest.count <= ListLimit.element, into: &elements)
            start += length
            if length > 0 { continue }
            guard rest.count > ListLimit.element else { break }
            elements.append(
                .problem(ListProblem(location, "\(Self.element) is longer than 1 MiB; skipped")))
            isSkipping = true
            beginSkipping(UnsafeRawBufferPointer(rebasing: rest[..<ListLimit.element]))
            start += ListLimit.element
        }
        return start
    }
}

/// Feeds a parser chunks of any length, in order. Between two chunks it holds the beginning of an element, at most
/// ``ListLimit/element`` bytes: a list of any length streams, and the elements do not depend on where it is cut.
struct ListBuffer {
    var parser: any ListParser
    private var bytes: [UInt8] = []
    private var isSkipping = false
    /// The number of bytes to hold before parsing goes on: a long element is not parsed again with every chunk.
    private var needed = 0

    init(_ parser: any ListParser) { self.parser = parser }

    /// Appends the elements that these bytes complete.
    /// - Parameter isLast: The list ends after `chunk`. It may be empty.
    /// - Throws: `ListProblem` if the rest cannot be read. The elements before the problem have been appended.
    mutating func feed(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool = false, into elements: inout [ListElement]
    ) throws(ListProblem) {
        bytes.append(contentsOf: chunk)
        if bytes.count < needed, !isLast { return }
        let parsed = try bytes.withBytes { (bytes) throws(ListProblem) in
            try parser.parseAll(bytes, isLast: isLast, isSkipping: &isSkipping, into: &elements)
        }
        bytes.removeFirst(parsed)
        needed = bytes.count > ListLimit.chunk ? min(2 * bytes.count, ListLimit.element + 1) : 0
        if isLast { try parser.finish() }
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

/// A parser of a format whose elements are lines.
protocol LineParser: ListParser {
    var location: ListLocation { get set }

    /// Parses the line at `location`, without its line feed.
    mutating func parse(line: UnsafeRawBufferPointer, into elements: inout [ListElement]) throws(ListProblem)
}

extension LineParser {
    static var element: String { "the line" }

    mutating func parse(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, into elements: inout [ListElement]
    ) throws(ListProblem) -> Int {
        let end = bytes.firstOffset(of: Byte.newline, from: 0)
        // A last line without a line feed is a line.
        guard end != nil || isLast else { return 0 }
        try parse(line: UnsafeRawBufferPointer(rebasing: bytes[..<(end ?? bytes.count)]), into: &elements)
        location.line += 1
        return end.map { $0 + 1 } ?? bytes.count
    }

    mutating func beginSkipping(_ bytes: UnsafeRawBufferPointer) {}

    mutating func skip(_ bytes: UnsafeRawBufferPointer) throws(ListProblem) -> Int? {
        guard let end = bytes.firstOffset(of: Byte.newline, from: 0) else { return nil }
        location.line += 1
        return end + 1
    }
}
