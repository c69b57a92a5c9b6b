import Synchronization

/// Bytes of a response, handed from thread to thread without a copy.
// because: `append` is called on the event loop alone, before the body is handed to anybody; afterwards it is only read.
package final class ResponseBody: @unchecked Sendable {
    package private(set) var count = 0
    /// The memory it takes, in bytes.
    package var footprint: Int { storage.capacity }
    private var storage: BodyStorage

    /// - Parameter expecting: the length the server announced, or 0.
    package init(expecting: Int = 0) { storage = BodyStorage.take(expecting) }

    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(expecting: bytes.count)
        Array(bytes).withUnsafeBytes { append($0) }
    }

    /// What a response without a body has.
    static let none = ResponseBody()

    deinit { storage.give() }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage.base, count: count) }

    func append(_ chunk: UnsafeRawBufferPointer) {
        guard let source = chunk.baseAddress else { return }
        makeRoom(chunk.count)
        (storage.base + count).copyMemory(from: source, byteCount: chunk.count)
        count += chunk.count
    }

    private func makeRoom(_ more: Int) {
        if count + more <= storage.capacity { return }
        let grown = BodyStorage.take(max(storage.capacity * 2, count + more))
        grown.base.copyMemory(from: storage.base, byteCount: count)
        storage.give()
        storage = grown
    }
}

/// Memory for a body, used again for the next one. A body is filled on one thread and freed on another, which `malloc`
/// answers by giving pages back to the kernel and fetching new ones all the time: a page fault for every 4 KiB.
private struct BodyStorage {
    let base: UnsafeMutableRawPointer
    let capacity: Int

    /// Capacities are 16 KiB times a power of two; those up to 1 MiB are kept.
    private static let smallest = 16 << 10
    private static let kinds = 7
    /// How much memory is kept for later, in bytes.
    private static let mostKept = 8 << 20

    // because: the memory on it belongs to nobody, and whoever takes some holds the mutex.
    private struct Shelf: @unchecked Sendable {
        var kept: [[UnsafeMutableRawPointer]] = Array(repeating: [], count: kinds)
        var bytes = 0
    }

    private static let shelf = Mutex(Shelf())

    static func take(_ needed: Int) -> BodyStorage {
        var (kind, capacity) = (0, smallest)
        while capacity < needed { (kind, capacity) = (kind + 1, capacity * 2) }
        let kept = shelf.withLock { shelf -> UnsafeMutableRawPointer? in
            guard kind < kinds, let base = shelf.kept[kind].popLast() else { return nil }
            shelf.bytes -= capacity
            return base
        }
        return BodyStorage(base: kept ?? .allocate(byteCount: capacity, alignment: 16), capacity: capacity)
    }

    func give() {
        let kind = (capacity / Self.smallest).trailingZeroBitCount
        let isKept = Self.shelf.withLock { shelf in
            guard kind < Self.kinds, shelf.bytes + capacity <= Self.mostKept else { return false }
            shelf.kept[kind].append(base)
            shelf.bytes += capacity
            return true
        }
        if !isKept { base.deallocate() }
    }
}
