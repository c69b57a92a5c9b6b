package import CurlHTTP
package import HTTPCaching
package import ImageHeader

/// A judged transfer on its way to the disk.
package struct Download: Sendable {
    package enum Content: Sendable {
        /// `replacing` is the version that was stored when the cover was requested; nil if it was missing.
        case cover(ImageHeader, StoredResponse, [UInt8], replacing: StoredVersion?)
        /// A cover that the server forbids to store.
        case notStorable([UInt8])
        /// The server confirmed the stored version with this 304.
        case notModified(StoredVersion, StoredResponse)
        /// `stored` stays as it is; the failed attempt is recorded with it.
        case failure(CoverFailure, stored: StoredVersion?)

        /// Memory that the content holds, in bytes.
        var footprint: Int {
            switch self {
            case .cover(_, _, let body, _), .notStorable(let body): body.capacity
            case .notModified, .failure: 512
            }
        }
    }

    package var url: HTTPURL
    /// The URL that answered: `url`, or the target of a redirect.
    package var target: HTTPURL
    /// The normalised URL: the cover's key in the cache.
    package var key: String { url.string }
    package var content: Content
    /// The server answered 404 or 410: the status, and until when it is cached, in milliseconds since 1970.
    package var absence: (status: Int, until: Int64)?
    /// The names of the header fields that callers gave and the download sent, in lower case, by the origin that got them.
    package var fieldNames: [String: Set<String>] = [:]
    /// Duration of the last attempt with its redirects, in microseconds.
    package var microseconds = 0
    package var timings: CoverTimings
    /// Another download's transfer brought the content: of a target that redirects led both to.
    package var isShared = false
}

extension CoverOutcome {
    /// A cover of a download that will be true with its commit.
    /// - Parameters:
    ///   - kind: what its requests are told, unless `fail` is called.
    ///   - download: whose transfer has ended.
    package init(_ kind: Kind, of download: Download) {
        self.init(kind, url: download.key)
        duration = .microseconds(download.microseconds)
        timings = download.timings
        isJoined = download.isShared
    }
}

/// Downloads that the disk takes together.
package struct WriteBatch: Sendable {
    package var downloads: [Download] = []
    /// No job waits for a transfer or is in flight: nothing else is coming for now.
    package var isLast = false
    /// Memory that the downloads hold, in bytes.
    package var footprint = 0
}

/// Stores downloads.
package protocol DownloadStore: Sendable {
    /// Takes downloads. Returns when it no longer needs their bodies, so that the scheduler holds back while the disk is behind.
    ///
    /// The store ends each download once its outcome is certain, by `PendingStores.complete`, or by `DownloadScheduler.resubmit`.
    func store(_ batch: WriteBatch) async

    /// Forgets covers that may be another's, as far as they were stored since, and has them downloaded again.
    func distrust(_ suspects: SuspectCovers) async
}

/// Covers whose responses came over a connection with an answer that nobody asked for (`UnaskedAnswer`), and that have an outcome: each may have
/// another's bytes, or another's failure.
package struct SuspectCovers: Sendable {
    package struct Suspect: Sendable {
        package var cover: RequestedCover
        /// How it ended last; nil if that is not remembered, as it was long ago, or it has not ended at all.
        package var outcome: CoverOutcome?
    }

    package var suspects: [Suspect] = []
    /// The number of those that have no outcome yet. They are requested again before they get one.
    package var pending = 0
    /// Host and port of the servers.
    package var hosts: [String]
    /// When the connection was opened, in milliseconds since 1970. What was stored before did not come over it.
    package var openedAt: Int64

    init(_ answer: UnaskedAnswer) {
        hosts = answer.origins.compactMap { try? HTTPURL($0).authority }
        openedAt = answer.openedAt
    }
}
