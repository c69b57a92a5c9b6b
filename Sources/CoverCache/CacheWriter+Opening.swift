import Platform

extension CacheWriter {
    /// Opens the cache. An index that turns out to be corrupt is set aside and rebuilt from the segments.
    /// - Parameter willRebuild: as in `init`.
    package static func open(
        _ path: String, capacity: Int? = nil, willRebuild: (_ isCapacityKnown: Bool) -> Void = { _ in }
    ) throws -> CacheWriter {
        let number = try CacheDirectory(creating: path).indexNumber
        do {
            return try CacheWriter(directory: path, capacity: capacity, willRebuild: willRebuild)
        } catch {
            guard case .corruptIndex = CacheError(error) else { throw error }
            return try open(path, capacity: capacity, settingAsideIndex: number, willRebuild: willRebuild)
        }
    }

    /// Sets a corrupt index aside, unless another process has done so, and opens the cache, which rebuilds it.
    /// - Parameter number: the inode of the corrupt index.
    package static func open(
        _ path: String, capacity: Int?, settingAsideIndex number: UInt64,
        willRebuild: (_ isCapacityKnown: Bool) -> Void = { _ in }
    ) throws -> CacheWriter {
        let directory = try CacheDirectory(creating: path)
        let capacity = capacity ?? IndexFile.capacity(directory)
        try FileLock(path: directory.lock).withLock {
            if directory.indexNumber == number { try IndexFile.setAside(directory) }
        }
        return try CacheWriter(directory: path, capacity: capacity, willRebuild: willRebuild)
    }
}
