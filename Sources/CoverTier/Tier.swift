/// The covers that several caches share.
package enum Tier {
    /// The contents of `sleeve-tier`: the name and the version of the format.
    package static let format = "sleeve tier 1\n"
}
