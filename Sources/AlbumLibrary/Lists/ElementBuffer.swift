/// The beginning of an element whose end is in a later chunk; at most `limit` bytes of it. One that grows longer is
/// dropped, and the rest of it is not held.
struct ElementBuffer {
    private let limit: Int
    private var bytes: [UInt8] = []
    private(set) var isTooLong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether an element of these bytes needs no copy: nothing came before, and it is short enough.
    @inline(__always)
    func canPass(_ element: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty && !isTooLong && element.count <= limit
    }

    /// Holds more of the element. `true`, once for an element: with these bytes it has become too long.
    mutating func append(_ more: UnsafeRawBufferPointer) -> Bool {
        guard !isTooLong else { return false }
        guard bytes.count + more.count <= limit else {
            bytes = []
            isTooLong = true
            return true
        }
        bytes.append(contentsOf: more)
        return false
    }

    /// Gives the element, unless it was too long, and makes room for the next.
    mutating func take(_ body: (UnsafeRawBufferPointer) throws(ListProblem) -> Void) throws(ListProblem) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if !isTooLong { try bytes.withBytes(body) }
    }

    /// Whether nothing is held.
    var isEmpty: Bool { bytes.isEmpty }
}

extension [UInt8] {
    /// `withUnsafeBytes`, which has no typed throws yet.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ListProblem) -> Result
    ) throws(ListProblem) -> Result {
        try withUnsafeBufferPointer { (bytes) throws(ListProblem) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
