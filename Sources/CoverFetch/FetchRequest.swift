package import CurlHTTP
package import HTTPTypes
package import ImageHeader
public import Platform

/// A caller's request for a cover. Requests for one URL share a transfer.
package struct FetchRequest: Sendable {
    package enum Priority: Sendable {
        case normal
        /// Start at once, whatever the host's state and limits.
        case immediate
    }

    /// `DownloadScheduler.cancelRequests` cancels the requests of an owner.
    package var owner: ObjectIdentifier
    package var priority = Priority.normal
    /// The stored version to revalidate; nil to download the cover.
    package var stored: (any StoredVersion)?
    /// The URL's remembered permanent redirect.
    package var redirect: HTTPURL?
    /// How long to cache a 404 that states no lifetime, in milliseconds; nil for the default.
    package var negativeTimeToLive: Int64?
    /// When the scheduler took the request.
    var submitted: ContinuousClock.Instant?
    /// Called once, on the event loop, after the commit that makes a success true.
    package var completion: @Sendable (FetchResult) -> Void

    package init(owner: ObjectIdentifier, completion: @escaping @Sendable (FetchResult) -> Void) {
        self.owner = owner
        self.completion = completion
    }

    func cancel() { completion(FetchResult(.failure(.cancelled("")))) }
}

/// A stored response that can be revalidated.
package protocol StoredVersion: AnyObject, Sendable {
    /// The header fields of the conditional request.
    var conditions: HTTPFields { get }
    /// The stored `ETag`.
    var entityTag: String? { get }
}

/// How a `FetchRequest` ended.
package struct FetchResult: Sendable {
    package var result: Result<StoredCover, CoverFailure>
    /// The request joined another request's transfer.
    package var isJoined = false
    /// Another process had stored the cover before a transfer started.
    package var isCached = false
    /// Duration of the last attempt with its redirects, in microseconds.
    package var microseconds = 0
    /// Where the time went; nil without a response.
    package var timings: CoverTimings?
    /// The cover, if the server forbids storing it. `result` is then the failure `notStorable`.
    package var unstored: (header: ImageHeader, body: [UInt8])?

    package init(_ result: Result<StoredCover, CoverFailure>, microseconds: Int = 0) {
        self.result = result
        self.microseconds = microseconds
    }
}

/// A cover that is stored: on disk, indexed, and safe from power loss.
public struct StoredCover: Sendable, Hashable {
    /// The normalised URL: the cover's key in the cache.
    public var url: String
    /// SHA-256 of its bytes, in hexadecimal.
    public var digest: String
    /// Length of the cover in bytes.
    public var byteCount: Int
    /// The same bytes were already stored under another URL.
    public var isDuplicate: Bool
    /// The server confirmed the stored version (304); no body was transferred.
    public var isRevalidated: Bool
    /// When it was committed.
    public var date: Date

    package init(
        url: String, digest: String, byteCount: Int, isDuplicate: Bool = false, isRevalidated: Bool = false, date: Date
    ) {
        self.url = url
        self.digest = digest
        self.byteCount = byteCount
        self.isDuplicate = isDuplicate
        self.isRevalidated = isRevalidated
        self.date = date
    }
}
