extension CacheWriter {
    /// Puts covers and commits them in groups. A cover that has lost the bytes it shared, because another process evicted them, is put
    /// again with its own.
    /// - Returns: for each, what the commit did with it, never `.lost`, or why it was not put.
    /// - Throws: the disk's error. Groups committed before it are stored.
    package func store(
        _ covers: [(metadata: EntryMetadata, body: [UInt8])]
    ) throws -> [Result<PutOutcome, CacheError>] {
        var results = try storeOnce(covers)
        while true {
            let lost = results.indices.filter { results[$0] == .success(.lost) }
            if lost.isEmpty { return results }
            for (index, result) in zip(lost, try storeOnce(lost.map { covers[$0] })) { results[index] = result }
        }
    }

    private func storeOnce(
        _ covers: [(metadata: EntryMetadata, body: [UInt8])]
    ) throws -> [Result<PutOutcome, CacheError>] {
        var results: [Result<PutOutcome, CacheError>] = []
        results.reserveCapacity(covers.count)
        var pending: [Int] = []
        func commitPending() throws {
            for (index, outcome) in zip(pending, try commit()) { results[index] = .success(outcome) }
            pending = []
            try makeRoom(headroom)
        }
        for (index, (metadata, body)) in covers.enumerated() {
            if !pending.isEmpty, pendingBytes + body.count > groupLimit { try commitPending() }
            results.append(.success(.noRoom))
            do {
                _ = try body.withUnsafeBytes { try put(metadata, body: $0) }
                pending.append(index)
            } catch let error as CacheError {
                switch error {
                case .largerThanCapacity, .embedsRecord: results[index] = .failure(error)
                default: throw error
                }
            }
        }
        try commitPending()
        return results
    }
}
