import Platform
import SQLite

extension CacheWriter {
    /// Keeps sizes of covers that are cached, as far as there is room: older sizes make room for them, covers do not. The covers' colours are
    /// kept in any case.
    /// - Throws: `CacheError`. The sizes are not kept then.
    package func keep(_ sizes: [SmallCover]) throws {
        if sizes.isEmpty { return }
        let length = sizes.reduce(0) { $0 + $1.bytes.count + 4_096 }
        var room = index.room - index.marker.reservedByAll
        if index.state.charged + length > room {
            // No cover was used so early.
            try Eviction(index, isSpared: { _ in true }).run(to: room - max(length, index.room / 64), usedUpTo: -1)
        }
        index.marker.begin()
        defer { index.marker.end() }
        do {
            try index.transaction { changes in
                room = index.room(of: changes.state.capacity) - index.marker.reservedByAll
                for size in sizes {
                    guard let cover = try index.table.cover(size.digest) else { continue }
                    try index.table.setColor(of: cover.id, size.color)
                    guard changes.state.charged + size.bytes.count + 4_096 <= room else { continue }
                    // One that cannot be written is made again.
                    do { try directory.sizes.write(size) } catch  where !CacheError(error).mayNeedRoom { continue }
                    try changes.setSizes(of: cover, directory.sizes.charge(of: size.digest))
                }
            }
        } catch {
            // Those that were kept before go, too; they count until they are evicted.
            for size in sizes where !directory.sizes.remove(size.digest) { index.marker.keep() }
            throw error
        }
    }

    /// Counts the sizes that are there, and unlinks those of no cover. In slices: each holds the lock for a few milliseconds.
    func sweepSizes() throws {
        for step in directory.sizes.all {
            for folder in (try? step.folders()) ?? [] {
                try index.transaction { changes in
                    for digest in readable({ () throws(CacheError) in try step.sweep(folder) }) {
                        let (cover, bytes) = (try index.table.cover(digest), directory.sizes.charge(of: digest))
                        if let cover {
                            try changes.setSizes(of: cover, bytes)
                        } else {
                            changes.removedSizes.insert(digest)
                        }
                    }
                }
            }
        }
    }
}
