/// What a person wants of a fill.
package struct FillOptions: Sendable, Hashable {
    /// Write covers that match an album doubtfully.
    package var acceptsDoubtful = false
    /// Look for larger covers in place of files that an earlier fill wrote.
    package var upgrades = false

    package init() {}
}
