/// Gathers records in memory as they will lie in a segment. Its memory is aligned and every record is padded to the alignment,
/// so the whole buffer can be written with `O_DIRECT` in one call.
// because: it is the only owner of its memory and cannot be copied, so one thread at a time can reach it.
struct RecordBuffer: ~Copyable, @unchecked Sendable {
    /// The length of the records so far, padding included.
    private(set) var count = 0
    private var base: UnsafeMutableRawPointer
    private var capacity: Int

    /// - Parameter capacity: bytes to allocate at first; the buffer grows beyond it if needed.
    init(capacity: Int) {
        self.capacity = RecordHeader.charge(capacity)
        base = .allocate(byteCount: self.capacity, alignment: RecordHeader.alignment)
    }

    deinit { base.deallocate() }

    func withUnsafeBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(CacheError) -> Result
    ) throws(CacheError) -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Appends a record and returns its offset in the buffer.
    mutating func append(header: [UInt8], body: UnsafeRawBufferPointer) -> Int {
        let start = count
        let span = header.count + body.count
        let end = start + RecordHeader.charge(span)
        reserve(end)
        header.withUnsafeBytes { (base + start).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        if let source = body.baseAddress {
            (base + start + header.count).copyMemory(from: source, byteCount: body.count)
        }
        (base + start + span).initializeMemory(as: UInt8.self, repeating: 0, count: end - start - span)
        count = end
        return start
    }

    mutating func removeAll() { count = 0 }

    private mutating func reserve(_ needed: Int) {
        if needed <= capacity { return }
        capacity = max(needed, capacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: RecordHeader.alignment)
        grown.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = grown
    }
}
