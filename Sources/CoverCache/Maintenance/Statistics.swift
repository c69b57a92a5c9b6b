/// Counts and sizes of a cache; all sizes in bytes, times in milliseconds since 1970.
package struct Statistics: Sendable {
    package var entries = 0
    package var covers = 0
    /// The length of all bodies.
    package var bytes = 0
    /// The length of all bodies if no two entries shared one.
    package var entryBytes = 0
    /// Bytes that count towards the capacity.
    package var charged = 0
    /// The part of it that covers in smaller sizes take.
    package var sizeBytes = 0
    /// Blocks allocated to the covers, the index and the files beside it.
    package var onDisk = 0
    package var capacity = 0
    package var hits = 0
    package var misses = 0
    /// Covers that eviction spares.
    package var pinnedCovers = 0
    /// The length of their bodies.
    package var pinnedBytes = 0
    /// When the first and the last entry were stored.
    package var oldest: Int64?
    package var newest: Int64?

    init(_ state: IndexState) {
        (entries, covers, bytes, entryBytes) = (state.entries, state.covers, state.bytes, state.entryBytes)
        (charged, capacity, hits, misses) = (state.charged, state.capacity, state.hits, state.misses)
        (pinnedCovers, pinnedBytes) = (state.pinnedCovers, state.pinnedBytes)
    }
}
