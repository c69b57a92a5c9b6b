/// A fault that an audit finds in the cover of an album.
package enum AuditKind: String, CaseIterable, Sendable {
    /// Neither a cover file nor a picture in the tags of every track.
    case missing
    /// Fewer pixels than wanted, on the shorter side.
    case small
    /// No image, cut off, or not readable.
    case damaged
    /// A picture that a service shows in place of a cover.
    case placeholder
    /// The picture of albums of several artists.
    case repeated
    /// A fill wrote it for other tags, and it is not certain for today's.
    case outdated
}

/// A fault of one album's cover.
package struct AuditFinding: Sendable, Hashable {
    package var kind: AuditKind
    package var artist: String
    package var title: String
    package var year: Int?
    /// The cover file; a folder of the album if it has none, or for a picture in the tags.
    package var path: BytePath
    /// The picture's size in pixels; nil if it is not known or there is none.
    package var width: Int?
    package var height: Int?
    /// What is wrong, for a person.
    package var detail: String
}
