import Platform

extension CacheWriter {
    /// Sizes take at most this part of the capacity.
    private static let share = 16

    /// Keeps sizes of covers that are cached. Those that were not used for longest make room for them, covers do not. The covers' colours
    /// are kept in any case.
    /// - Throws: `CacheError`. The sizes are not kept then.
    package func keep(_ sizes: [SmallCover]) throws {
        if sizes.isEmpty { return }
        index.marker.begin()
        defer { index.marker.end() }
        do {
            try index.transaction { changes in
                let room = index.room(of: changes.state.capacity) - index.marker.reservedByAll
                for size in sizes {
                    guard let cover = try index.table.cover(size.digest) else { continue }
                    try index.table.setColor(of: cover.id, size.color)
                    let limit = min(
                        changes.state.capacity / Self.share, room - changes.state.charged + changes.state.sizes)
                    let left = limit - size.bytes.count - 4_096
                    if left < 0 { continue }
                    if changes.state.sizes > left {
                        changes.countSizes(directory.sizes.trim(to: min(left, limit / 4 * 3)))
                    }
                    guard changes.state.sizes <= left else { continue }
                    // One that cannot be written is made again.
                    do {
                        let growth = try directory.sizes.write(size)
                        changes.countSizes(changes.state.sizes + growth)
                    } catch  where !CacheError(error).mayNeedRoom { continue }
                }
            }
        } catch {
            // Those that were kept before go, too.
            for size in sizes where !directory.sizes.remove(size.digest) { index.marker.keep() }
            throw error
        }
    }

    /// Unlinks the sizes of no cover, in slices: each holds the lock for a few milliseconds. Then counts the others.
    func sweepSizes() throws {
        for step in directory.sizes.all {
            for folder in (try? step.folders()) ?? [] {
                try index.transaction { _ in
                    for digest in readable({ () throws(CacheError) in try step.sweep(folder) })
                    where try index.table.cover(digest) == nil { step.remove(digest) }
                }
            }
        }
        try index.transaction { $0.countSizes(directory.sizes.trim()) }
    }
}
