/// The result of a removal.
package struct Removal: Sendable, Hashable {
    package var entries = 0
    /// Bytes no longer charged to the capacity. A cover that other entries name stays.
    package var bytes = 0
    /// Entries that stay because they are pinned.
    package var pinned = 0
}
