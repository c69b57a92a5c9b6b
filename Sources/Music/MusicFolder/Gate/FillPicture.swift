package import CoverSources
package import Platform

/// A picture that is about to be written, with what the gate asks of it.
package struct FillPicture: Sendable {
    package var path: BytePath
    /// Of the file at the path.
    package var digest: Digest
    /// By what a person's decision about it is found, with the digest of the bytes that were found: those at the path may be a smaller copy.
    var name: PictureName
    /// Of what was found.
    var facts: CoverFacts
    /// False if that was not looked at: what a person has given, or accepted, may have one colour.
    var hasOneColour = false
    var giver = Giver.fill
    /// What is known of pictures; nil to compare none.
    var likenesses: Likenesses?
    /// nil for a picture in the tags.
    var url: String?
    var origin = Origin.own
    /// What a source has offered; nil for a picture that the album had.
    var offer: SourceCandidate?

    /// Where a cover is from.
    package enum Origin: Sendable, Hashable {
        /// A URL that the album had.
        case own
        /// The tags of the album's songs.
        case tags
        case source(SourceName)
    }

    /// Whose it is. What a person has given outweighs what was said of what services offered.
    enum Giver: Sendable { case fill, address, file }

    package init(path: BytePath, digest: Digest, name: PictureName, facts: CoverFacts? = nil) {
        (self.path, self.digest, self.name, self.facts) = (path, digest, name, facts ?? CoverFacts(of: path))
        self.name.digest = digest.description
    }
}
