/// Everything known of an entry apart from its bytes.
package struct EntryMetadata: Sendable, Hashable {
    /// The normalised URL.
    package var key: String
    package var mediaType: String
    package var width: Int?
    package var height: Int?
    /// Milliseconds since 1970.
    package var storedAt: Int64
    /// Milliseconds since 1970; nil if the entry was not validated after it was stored.
    package var validatedAt: Int64?
    /// Milliseconds since 1970; nil if the response states no lifetime.
    package var freshUntil: Int64?
    /// The response's header fields as lines of `name: value`, and annotations, a line each.
    package var fields: String

    /// The longest key, media type and fields together, in bytes: 16 KiB of header fields, a URL of 8 KiB, and again as much for
    /// annotations, which may have another URL. Capacity counts them as the index's length, once it is measured.
    static let maximumLength = 48 << 10

    /// Whether the index takes it.
    var hasRoom: Bool { key.utf8.count + mediaType.utf8.count + fields.utf8.count <= Self.maximumLength }

    package init(
        key: String, mediaType: String, width: Int? = nil, height: Int? = nil, storedAt: Int64,
        freshUntil: Int64? = nil, fields: String = ""
    ) {
        self.key = key
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.freshUntil = freshUntil
        self.fields = fields
    }
}
