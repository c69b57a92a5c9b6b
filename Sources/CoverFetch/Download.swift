package import CurlHTTP
package import HTTPCaching
package import ImageHeader

/// A finished job on its way to the disk.
package struct Download: Sendable {
    package enum Content: Sendable {
        case cover(ImageHeader, StoredResponse, [UInt8])
        /// A cover that the server forbids to store.
        case unstorable(ImageHeader, [UInt8])
        /// The server confirmed the stored version with this 304.
        case notModified(any StoredVersion, StoredResponse)
        /// `stored` stays as it is; the failed attempt is recorded with it.
        case failure(CoverFailure, stored: (any StoredVersion)?)

        /// Memory that the content holds, in bytes.
        var footprint: Int {
            switch self {
            case .cover(_, _, let body), .unstorable(_, let body): body.capacity
            case .notModified, .failure: 512
            }
        }
    }

    package var job: JobID
    package var url: HTTPURL
    /// The normalised URL: the cover's key in the cache.
    package var key: String { url.string }
    package var content: Content
    /// What to remember of the URL.
    package var hints = URLHints()
    /// Duration of the last attempt with its redirects, in microseconds.
    package var microseconds = 0
    package var timings: CoverTimings
}

/// What a response says about its URL beyond the cover itself. Hints are disposable.
package struct URLHints: Sendable {
    /// The URL redirects there permanently; until when that is remembered, in milliseconds since 1970.
    package var redirect: (target: HTTPURL, until: Int64)?
    /// The remembered redirect no longer holds.
    package var forgetsRedirect = false
    /// The server answered 404 or 410: the status, and until when it is cached, in milliseconds since 1970.
    package var absence: (status: Int, until: Int64)?
}

/// Finished jobs that the disk takes together.
package struct WriteBatch: Sendable {
    package var downloads: [Download] = []
    /// What was learnt about hosts, by origin.
    package var hosts: [String: HostMemory] = [:]
    /// No job waits for a transfer or is in flight: nothing else is coming for now.
    package var isLast = false
    /// Memory that the downloads hold, in bytes.
    package var footprint = 0
}

/// What stores finished jobs.
package protocol DownloadStore: Sendable {
    /// Takes finished jobs. Returns when it no longer needs their bodies. Calls `DownloadScheduler.didStore` for each job once it
    /// is committed.
    func store(_ batch: WriteBatch) async
}

/// How the store ended a job.
package enum StoreResult: Sendable {
    case finished(JobID, FetchResult)
    /// The stored bytes that the cover shared, or that a 304 is about, were evicted meanwhile: it has to be downloaded again.
    case lost(JobID)
}
