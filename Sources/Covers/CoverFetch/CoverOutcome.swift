import CurlHTTP
public import Platform

/// How a request for a cover ended. Published after the commit that makes it true.
public struct CoverOutcome: Sendable, Hashable, Codable {
    /// The words of the report. Further ones may be added: switch with `default`.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Kind: String, Sendable, Codable {
        /// A transfer brought it.
        case downloaded
        /// The server confirmed the cached cover (304).
        case revalidated
        /// It was already cached.
        case fresh
        /// Another request of the same run brought it, or a transfer of the URL that both are redirected to.
        case joined
        /// The request has no usable URL.
        case skipped
        /// It could not be downloaded or stored.
        case failed
    }

    /// The kind of the outcome.
    public var kind: Kind
    /// The URL as the caller gave it; in an event, the normalised URL: the cover's key in the cache.
    public var url: String
    /// The line of the list that named the cover, counted from 1, or the number of its request. Nil if it came from neither.
    public var line: Int?
    /// SHA-256 in hexadecimal; nil without a cover. Setting it to anything else than 64 hexadecimal digits makes it nil.
    public var digest: String? {
        get { contentDigest?.description }
        set { contentDigest = newValue.flatMap { Digest($0) } }
    }
    /// SHA-256 of the cover's bytes; nil without a cover.
    package var contentDigest: Digest?
    /// Length of the cover in bytes; 0 without one.
    public var bytes = 0
    /// Duration of the transfer; 0 without one.
    public var duration = Duration.zero
    /// Why there is no cover.
    public var failure: CoverFailure?
    /// The same bytes were already stored.
    package var isDuplicate = false
    /// When the cover was committed; nil if nothing was stored.
    public var date: Date?
    /// The request joined another request's transfer.
    package var isJoined = false
    /// Where the time went; nil without a transfer of its own.
    package var timings: CoverTimings?
    /// The cover, if the server forbids storing it. `failure` is `notStorable` then.
    package var bodyIfNotStored: [UInt8]?

    /// `duration` in milliseconds.
    package var milliseconds: Double { duration / .milliseconds(1) }

    private enum CodingKeys: String, CodingKey {
        case kind, url, line, contentDigest = "digest", bytes, duration, failure, isDuplicate, date
    }

    /// An outcome made by the caller, for previews and tests. The other parts have their defaults.
    public init(_ kind: Kind, url: String, line: Int? = nil) {
        self.kind = kind
        self.url = url
        self.line = line
    }

    /// The outcome of a request that failed.
    public init(failed failure: CoverFailure, duration: Duration = .zero) {
        self.init(.failed, url: failure.url, line: failure.line)
        self.failure = failure
        self.duration = duration
    }

    /// A cover that was given by the caller, and has just been committed.
    package init(stored key: String, _ digest: Digest, _ bytes: Int, _ isDuplicate: Bool) {
        self.init(.downloaded, url: key)
        (contentDigest, self.bytes, self.isDuplicate, date) = (digest, bytes, isDuplicate, Date())
    }

    /// Turns the outcome into a failure.
    package mutating func fail(_ failure: CoverFailure) {
        kind = .failed
        self.failure = failure
        contentDigest = nil
        bytes = 0
    }
}

/// Where the time of a cover went, from its request to the commit, in microseconds. The stages follow each other without a gap.
package struct CoverTimings: Sendable, Hashable {
    /// Waiting for its turn, for a connection, and between attempts. Attempts that failed are in it.
    package var queue: Int
    /// Name resolution. This and the following stages of the transfer are summed over redirects.
    package var name: Int
    /// TCP handshake.
    package var connect: Int
    /// TLS handshake.
    package var tls: Int
    /// From the connection to the first byte of the response.
    package var firstByte: Int
    /// From the first byte of the response to its last.
    package var body: Int
    /// Waiting for the disk thread.
    package var storeQueue = 0
    package var hash = 0
    /// Looking up the digest and appending the record to its group.
    package var append = 0
    /// Waiting for the group to fill, writing and syncing it.
    package var sync = 0
    /// Waiting for the transaction, and committing it.
    package var commit = 0
    /// Identifies the connection of the last transfer; 0 if it is unknown.
    package var connection: Int
    /// The end of the last stage, in microseconds since 1970; 0 before.
    package var end: Int64 = 0
    /// The end of the latest stage so far.
    private var stageEnd: ContinuousClock.Instant

    /// - Parameters:
    ///   - submitted: when the cover was requested.
    ///   - now: the end of the transfer.
    init(submitted: ContinuousClock.Instant, transfer: TransferTimings, now: ContinuousClock.Instant) {
        queue = max(0, submitted.microseconds(to: now) - transfer.total)
        (name, connect, tls) = (transfer.name, transfer.connect, transfer.tls)
        (firstByte, body, connection) = (transfer.firstByte, transfer.body, transfer.connection)
        stageEnd = now
    }

    /// Ends a stage.
    package mutating func end(_ stage: WritableKeyPath<CoverTimings, Int>, at now: ContinuousClock.Instant) {
        self[keyPath: stage] = stageEnd.microseconds(to: now)
        stageEnd = now
    }

    /// - Parameter end: in microseconds since 1970.
    package mutating func endCommit(at now: ContinuousClock.Instant, end: Int64) {
        self.end(\.commit, at: now)
        self.end = end
    }
}

extension KeyedDecodingContainer {
    /// What decodes an outcome calls it in place of the container's own. An outcome of an unknown kind promises no cover.
    package func decode(_ type: CoverOutcome.Kind.Type, forKey key: Key) throws -> CoverOutcome.Kind {
        CoverOutcome.Kind(rawValue: try decode(String.self, forKey: key)) ?? .failed
    }
}
