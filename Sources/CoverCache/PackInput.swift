import Platform

/// Reads a file or a pipe ahead, as far as is asked for.
struct PackInput {
    private static let blockSize = 1 << 20

    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    /// Where the bytes begin that were not consumed.
    private var start = 0
    private var isAtEnd = false
    /// The offset in the file of the first byte that was not consumed.
    private(set) var offset = 0

    /// Bytes that were read and not consumed.
    var available: Int { buffer.count - start }

    /// - Parameters:
    ///   - descriptor: stays the caller's to close.
    ///   - path: for errors.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Reads until `count` bytes are available. Returns false if the input ends before.
    /// - Throws: `CacheError` if the input cannot be read.
    mutating func fill(_ count: Int) throws(CacheError) -> Bool {
        if available >= count { return true }
        buffer.removeFirst(start)
        start = 0
        // Memory grows with what was read: the length that a damaged record states may be any.
        while available < count, !isAtEnd { try readBlock() }
        return available >= count
    }

    private mutating func readBlock() throws(CacheError) {
        var number: Int32 = 0
        let block = [UInt8](unsafeUninitializedCapacity: Self.blockSize) { [descriptor] block, filled in
            var count = -1
            repeat {
                count = read(descriptor, block.baseAddress!, Self.blockSize)
            } while count < 0 && errno == EINTR
            if count < 0 { number = errno }
            filled = max(count, 0)
        }
        if number != 0 { throw .file(path, operation: "read", reason: String(cString: strerror(number))) }
        buffer += block
        isAtEnd = block.isEmpty
    }

    /// Calls `body` with the first `count` available bytes.
    func withBytes<Result>(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    /// The next number, without consuming it; nil at the end.
    mutating func peek() throws(CacheError) -> UInt64? {
        guard try fill(8) else { return nil }
        return withBytes(8) { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    mutating func consume(_ count: Int) {
        start += count
        offset += count
    }

    /// Consumes at least one byte, and goes on to the next of these numbers, or to the end.
    mutating func skip(to numbers: UInt64...) throws(CacheError) {
        consume(1)
        let firsts = Set(numbers.map { UInt8(truncatingIfNeeded: $0) })
        while try fill(8) {
            let count = available
            let found = withBytes(count) { bytes -> Int? in
                var offset = 0
                while offset + 8 <= count {
                    if firsts.contains(bytes[offset]),
                        numbers.contains(
                            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                    {
                        return offset
                    }
                    offset += 1
                }
                return nil
            }
            consume(found ?? count - 7)
            if found != nil { return }
        }
        consume(available)
    }
}
