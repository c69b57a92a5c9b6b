/// Splits bytes into lines. It is fed chunks of any length, copies only a line that spans two chunks, and holds at most
/// ``ListLimit/element`` bytes.
struct LineSplitter {
    enum Piece {
        /// A line without its line feed, valid during the call only.
        case line(UnsafeRawBufferPointer, number: Int)
        /// A line longer than the limit, reported at the byte that exceeds it.
        case tooLong(number: Int)
    }

    private var held: ElementBuffer
    private var number = 1

    init(limit: Int = ListLimit.element) {
        held = ElementBuffer(limit: limit)
    }

    @inline(__always)
    mutating func feed(
        _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        var start = 0
        while let end = bytes.firstOffset(of: Byte.newline, from: start) {
            let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            if held.canPass(line) {
                try body(.line(line, number: number))
            } else {
                try hold(line, body)
                try close(body)
            }
            number += 1
            start = end + 1
        }
        if start < bytes.count { try hold(UnsafeRawBufferPointer(rebasing: bytes[start...]), body) }
    }

    /// A last line without a line feed is a line.
    mutating func finish(_ body: (Piece) throws(ListProblem) -> Void) throws(ListProblem) {
        if !held.isEmpty { try close(body) }
    }

    private mutating func hold(
        _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws(ListProblem) -> Void
    ) throws(ListProblem) {
        if held.append(bytes) { try body(.tooLong(number: number)) }
    }

    private mutating func close(_ body: (Piece) throws(ListProblem) -> Void) throws(ListProblem) {
        let number = number
        try held.take { (line) throws(ListProblem) in try body(.line(line, number: number)) }
    }
}
