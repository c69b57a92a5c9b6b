import CoverCache
public import CoverFetch
public import Platform

/// A cached cover without its bytes.
public struct CoverListing: Sendable, Hashable, Codable {
    /// The key in the cache. `url` may differ: Foundation percent-encodes more characters.
    package var key: String
    /// SHA-256 of the bytes, in hexadecimal.
    public var digest: String
    /// Length of the cover in bytes.
    public var bytes: Int
    /// Such as `image/jpeg`.
    public var mediaType: String
    /// In pixels; nil if the image's header does not say.
    public var width: Int?
    /// In pixels; nil if the image's header does not say.
    public var height: Int?
    /// When the bytes were stored.
    public var storedAt: Date
    /// When the server last sent or confirmed them.
    public var validatedAt: Date
    /// Nil if the cover was stale on arrival.
    public var freshUntil: Date?
    /// The cover is never evicted.
    public var isPinned: Bool
    /// Nil unless its server has answered the last checks without it.
    public var loss: Loss?

    /// A server's final answers to checks of a cover that it gave before, and that stays.
    public struct Loss: Sendable, Hashable, Codable {
        /// The class of the last one: `status`, `notAnImage` or `notStorable`, for example.
        public var kind: CoverFailure.Kind
        /// The HTTP status, if the class is `status`.
        public var status: Int?
        /// When the first of the checks has failed.
        public var since: Date
        /// They were enough: the next ones are no failures of a refresh.
        public var isGone: Bool
    }

    /// The normalised URL: the cover's key in the cache.
    public var url: URL { URL(key: key) }

    private enum CodingKeys: String, CodingKey {
        case key = "url"
        case digest, bytes, mediaType, width, height, storedAt, validatedAt, freshUntil, isPinned, loss
    }

    /// A listing made by the caller, for previews and tests.
    public init(
        url: URL, digest: String, bytes: Int, mediaType: String, width: Int? = nil, height: Int? = nil,
        storedAt: Date, validatedAt: Date? = nil, freshUntil: Date? = nil, isPinned: Bool = false
    ) {
        key = url.absoluteString
        self.digest = digest
        self.bytes = bytes
        self.mediaType = mediaType
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.validatedAt = validatedAt ?? storedAt
        self.freshUntil = freshUntil
        self.isPinned = isPinned
    }

    init(_ entry: CachedEntry) {
        let metadata = entry.metadata
        (key, digest, bytes) = (metadata.key, entry.digest.description, entry.bytes)
        (mediaType, width, height) = (metadata.mediaType, metadata.width, metadata.height)
        storedAt = Date(milliseconds: metadata.storedAt)
        validatedAt = Date(milliseconds: entry.validatedAt)
        freshUntil = metadata.freshUntil.map { Date(milliseconds: $0) }
        isPinned = entry.isPinned
        if let failing = EntryAnnotation.failures(in: metadata.fields), let answer = failing.answer {
            loss = Loss(
                kind: answer.kind, status: answer.status, since: Date(milliseconds: failing.first),
                isGone: failing.isGone)
        }
    }

    /// Whether the cover is stale (RFC 9111 §4.2.4): its server may have another one by then.
    public func isStale(at date: Date = Date()) -> Bool {
        !Staleness.isFresh(
            until: freshUntil?.milliseconds, validatedAt: validatedAt.milliseconds, at: date.milliseconds)
    }
}

extension Date {
    /// - Parameter milliseconds: Since 1970.
    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    /// Since 1970, within the years that a cache knows: a program may give any date.
    package var milliseconds: Int64 {
        let milliseconds = timeIntervalSince1970 * 1_000
        return milliseconds.isNaN ? 0 : Int64(min(max(milliseconds, -1e15), 1e15).rounded())
    }
}

/// The cached covers of a selection whose files are there, read from the index as they are asked for: there may be a million.
///
/// ```swift
/// for try await cover in library.listings(.matching(CoverFilter(host: "covers.example.org"))) { print(cover.url) }
/// ```
///
/// It ends with a `LibraryError` if the filter's host is not valid, the library is closed, or the index cannot be read.
public struct CoverListings: AsyncSequence, Sendable {
    let pipeline: CoverPipeline
    let selection: CoverSelection

    /// Starts from the beginning, with what is cached then.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<CoverListing, LibraryError> {
        Iterator(pipeline: pipeline, selection: selection)
    }

    /// Reads the listings in batches.
    private struct Iterator: AsyncIteratorProtocol {
        let pipeline: CoverPipeline
        let selection: CoverSelection
        private var selected: SelectedEntries?
        private var batch: ArraySlice<CoverListing> = []

        init(pipeline: CoverPipeline, selection: CoverSelection) {
            self.pipeline = pipeline
            self.selection = selection
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(LibraryError) -> CoverListing? {
            do {
                var selected = try self.selected ?? SelectedEntries(selection, pipeline)
                defer { self.selected = selected }
                while batch.isEmpty {
                    guard let found = try await selected.next() else { return nil }
                    batch = try await pipeline.shelf.read { reader in
                        found.entries.filter { reader.hasFile($0) }.map { CoverListing($0) }[...]
                    }
                }
                return batch.popFirst()
            } catch {
                throw LibraryError(error)
            }
        }
    }
}

/// That a cover is cached, and as what.
public struct CoverStatus: Sendable, Hashable, Codable {
    /// SHA-256 of the bytes, in hexadecimal.
    public var digest: String
    /// As `Cover.isStale`.
    public var isStale: Bool
    /// Nil if the cover was stale on arrival.
    public var freshUntil: Date?
    /// The dominant colour, as `#rrggbb`, for what is shown before the cover; nil before a size of the cover was made.
    public var color: String?

    /// A status made by the caller, for previews and tests.
    public init(digest: String, isStale: Bool = false, freshUntil: Date? = nil, color: String? = nil) {
        (self.digest, self.isStale, self.freshUntil, self.color) = (digest, isStale, freshUntil, color)
    }

    /// - Parameter now: milliseconds since 1970.
    init(_ status: CacheReader.Status, at now: Int64) {
        self.init(
            digest: status.digest.description,
            isStale: !Staleness.isFresh(until: status.freshUntil, validatedAt: status.validatedAt, at: now),
            freshUntil: status.freshUntil.map { Date(milliseconds: $0) },
            color: status.color.map { "#\(String($0 & 0xFF_FFFF | 1 << 24, radix: 16).dropFirst())" })
    }
}
