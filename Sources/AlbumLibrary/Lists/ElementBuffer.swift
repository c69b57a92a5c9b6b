/// Holds the beginning of an element whose end is in a later chunk. An element longer than `limit` bytes is dropped.
struct ElementBuffer {
    private let limit: Int
    private var bytes: [UInt8] = []
    private(set) var isTooLong = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether an element of these bytes needs no copy: it is whole and short enough.
    @inline(__always)
    func canPass(_ element: UnsafeRawBufferPointer) -> Bool {
        bytes.isEmpty && !isTooLong && element.count <= limit
    }

    /// Appends bytes of the element. Returns true once for an element, when these bytes make it too long.
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

    /// Passes the element to `body` unless it was too long, and empties the buffer.
    mutating func take(_ body: (UnsafeRawBufferPointer) throws(ListProblem) -> Void) throws(ListProblem) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if !isTooLong { try bytes.withBytes(body) }
    }

    var isEmpty: Bool { bytes.isEmpty }
}

extension [UInt8] {
    /// `withUnsafeBytes` with typed throws.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ListProblem) -> Result
    ) throws(ListProblem) -> Result {
        try withUnsafeBufferPointer { (bytes) throws(ListProblem) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}
