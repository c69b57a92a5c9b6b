/// What a removal did.
package struct Removal: Sendable, Hashable {
    package var entries = 0
    /// Bytes no longer charged to the capacity. A blob that other entries name stays.
    package var bytes = 0
    /// Entries that stay because they are pinned.
    package var pinned = 0
}

// Pinning and removing entries by key.
extension CacheWriter {
    private struct DryRun: Error {}

    /// Pins keys, whether or not they have an entry. Call `savePins` before reporting success.
    /// - Returns: for each, whether it was not pinned before.
    /// - Throws: `CacheError`.
    package func pin(_ keys: some Sequence<String>) throws -> [Bool] {
        try changingPins { pins in try keys.map { try pins.add($0) } }
    }

    /// Unpins keys. Call `savePins` before reporting success.
    /// - Returns: for each, whether it was pinned before.
    /// - Throws: `CacheError`.
    package func unpin(_ keys: some Sequence<String>) throws -> [Bool] {
        try changingPins { pins in try keys.map { try pins.remove($0) } }
    }

    /// Unpins everything, also keys without an entry. Call `savePins` before reporting success.
    /// - Returns: how many were pinned before.
    /// - Throws: `CacheError`.
    package func unpinAll() throws -> Int { try changingPins { try $0.removeAll() } }

    private func changingPins<Result>(_ body: (PinTable) throws -> Result) throws -> Result {
        guard let pins else { throw CacheError.diskFull(directory.path) }
        let result = try transaction { _, _ in try body(pins) }
        try? checkpointIfLong()
        return result
    }

    /// Makes the pins durable, in the index and in the file from which a lost index is rebuilt.
    ///
    /// A process that is killed before it gets here leaves its pins in the index, and the next call writes them.
    /// - Throws: `CacheError`, or `SystemError`.
    package func savePins() throws {
        guard let pins else { throw CacheError.diskFull(directory.path) }
        // In a transaction, so that of two processes the later one writes the pins of both.
        try transaction { _, _ in try PinFile.write(pins, to: directory.pins) }
        try directory.syncLog()
    }

    /// Removes entries, and the blobs that no other entry names. Keys without an entry are ignored. A removed key is unpinned.
    /// - Parameters:
    ///   - includesPinned: Remove pinned entries as well. Call `savePins` then, before reporting success.
    ///   - isDryRun: Count, and change nothing.
    /// - Throws: `CacheError`.
    package func remove(
        _ keys: some Sequence<String>, includingPinned includesPinned: Bool, dryRun isDryRun: Bool = false
    ) throws -> Removal {
        var removal = Removal()
        do {
            try usingReserve {
                try transaction { state, _ in
                    removal = Removal()
                    let before = state.charged
                    for key in keys {
                        guard let entry = try index.entry(key) else { continue }
                        let isPinned = try pins?.contains(key) ?? false
                        if isPinned, !includesPinned {
                            removal.pinned += 1
                            continue
                        }
                        try remove(entry, &state)
                        if isPinned { try pins?.remove(key) }
                        removal.entries += 1
                    }
                    removal.bytes = before - state.charged
                    if isDryRun { throw DryRun() }
                }
            }
        } catch is DryRun {
            return removal
        }
        // Power loss must not bring back entries whose blob stays; those whose blob goes are synced before it is punched.
        try directory.syncLog()
        reclaimSpace()
        try? checkpointIfLong()
        return removal
    }
}
