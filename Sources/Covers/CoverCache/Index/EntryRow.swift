/// An entry's row, and the row of the cover that it named when it was read.
package struct EntryRow: Sendable, Hashable {
    package let id: Int64
    let cover: Int64
}
