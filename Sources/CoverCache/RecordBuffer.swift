/// Records gathered in memory, as they will lie in the segment: each padded to the alignment, so that the whole can be
/// written past the page cache in one call.
// because: one thread fills it; once sealed it is only read, until the group is committed.
final class RecordBuffer: @unchecked Sendable {
    private(set) var count = 0
    private var base: UnsafeMutableRawPointer
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = RecordHead.charge(capacity)
        base = .allocate(byteCount: self.capacity, alignment: RecordHead.alignment)
    }

    deinit { base.deallocate() }

    /// A multiple of the alignment.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Where the record begins in the buffer.
    func append(head: [UInt8], body: UnsafeRawBufferPointer) -> Int {
        let start = count
        let span = head.count + body.count
        let end = start + RecordHead.charge(span)
        reserve(end)
        head.withUnsafeBytes { (base + start).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
        if let source = body.baseAddress { (base + start + head.count).copyMemory(from: source, byteCount: body.count) }
        (base + start + span).initializeMemory(as: UInt8.self, repeating: 0, count: end - start - span)
        count = end
        return start
    }

    func removeAll() { count = 0 }

    private func reserve(_ needed: Int) {
        if needed <= capacity { return }
        capacity = max(needed, capacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: RecordHead.alignment)
        grown.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = grown
    }
}
