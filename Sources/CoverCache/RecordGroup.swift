import Synchronization

/// The records of a sealed group, on their way to the disk.
final class RecordGroup: Sendable {
    private struct State: ~Copyable {
        /// Nil once written.
        var buffer: RecordBuffer?
        var result: Result<Void, CacheError>?
    }
    private let state: Mutex<State>
    private let file: SegmentFile
    private let offset: Int
    private let spare: SpareBuffer

    init(_ buffer: consuming RecordBuffer, file: SegmentFile, offset: Int, spare: SpareBuffer) {
        state = Mutex(State(buffer: buffer, result: nil))
        self.file = file
        self.offset = offset
        self.spare = spare
    }

    /// Writes the records and returns once they would survive power loss. The first call writes; every other call waits for it
    /// and has the same result.
    func sync() throws(CacheError) {
        let result: Result<Void, CacheError> = state.withLock { state in
            if let buffer = state.buffer.take() {
                state.result = write(buffer)
                spare.put(buffer)
            }
            return state.result ?? .success(())
        }
        try result.get()
    }

    private func write(_ buffer: borrowing RecordBuffer) -> Result<Void, CacheError> {
        do throws(CacheError) {
            try buffer.withUnsafeBytes { bytes throws(CacheError) in try file.write(bytes, at: offset) }
            return .success(())
        } catch {
            // No row refers to them. On a full disk, the index may need the room to commit the groups before.
            _ = FreedRange.punchHole(file.descriptor, offset, buffer.count)
            return .failure(error)
        }
    }
}

/// Keeps one used buffer for the next group: its pages are mapped already.
final class SpareBuffer: Sendable {
    private let buffer = Mutex<RecordBuffer?>(nil)

    func take() -> RecordBuffer? { buffer.withLock { $0.take() } }

    func put(_ used: consuming RecordBuffer) {
        used.removeAll()
        var used: RecordBuffer? = used
        buffer.withLock { swap(&$0, &used) }
    }
}
