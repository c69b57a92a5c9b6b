/// Where a pack is written.
package enum PackOutput: Sendable {
    /// Replaced atomically when the pack is complete.
    case file(String)
    /// A pipe or a device. It stays the caller's to close.
    case descriptor(Int32, name: String)
}
