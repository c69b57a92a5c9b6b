package import CoverSources

/// What a person wants of a fill.
package struct FillOptions: Sendable, Hashable {
    /// Look for larger covers in place of files that an earlier fill wrote.
    package var upgrades = false
    /// Write the covers that a person has accepted, and no others. They replace what fills wrote, larger or not.
    package var writesAcceptedOnly = false
    /// Pixels that the shorter side of a cover must have; nil for any number. An upgrade leaves covers that have them.
    package var minimumPixels: Int?
    /// Write covers with at most this many pixels on the longest side, as baseline JPEG; nil to write them as they are.
    package var longestSide: Int?
    /// Look for the covers of albums that have no folder alone: they go into the tags of their songs.
    package var embeds = false
    /// The services that are asked before the pictures in the tags are looked at; nil to leave those out.
    package var servicesBeforeTags: Set<SourceName>? = []

    /// Nobody watches: what an undo has taken back is not written again.
    package var isUnwatched = false

    package init() {}
}
