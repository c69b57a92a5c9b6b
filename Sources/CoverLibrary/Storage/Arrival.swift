import CoverCache
import CurlHTTP
import HTTPCaching

/// What a transfer brought, on its way to the disk.
struct Arrival: Sendable {
    enum Content: Sendable {
        case cover(EntryMetadata, ResponseBody)
        /// The server said that the stored entry stands.
        case notModified(Revalidation, StoredResponse)
        /// The stored entry stays; its server was asked in vain.
        case failure(Revalidation, CoverFailure)
        /// Nothing is there, which is to be remembered.
        case absent(CoverFailure)

        /// The memory it takes, in bytes.
        var footprint: Int {
            switch self {
            case .cover(_, let body): body.footprint
            case .notModified, .failure, .absent: 512
            }
        }
    }
    var job: JobID
    var key: String
    var content: Content
    /// What is to be remembered with it.
    var changes: [HintChange] = []
}

/// What has come since the disk was last given something.
struct Landing: Sendable {
    var arrivals: [Arrival] = []
    /// What is to be remembered besides.
    var changes: [HintChange] = []
    /// Nothing else is to come for now.
    var isAll = false
    /// The memory all of it takes, in bytes.
    var footprint = 0
    var isEmpty: Bool { arrivals.isEmpty }
}

extension Arrival.Content {
    /// What the index is to say of an entry from now on; nil for a cover, which has an entry of its own.
    func renewal(_ now: Int64) -> Renewal? {
        switch self {
        case .cover, .absent: return nil
        case .failure(let stored, _):
            var metadata = stored.entry.metadata
            metadata.storedAt = stored.entry.validatedAt
            metadata.annotate(.triedAt(now))
            return Renewal(stored.entry, metadata)
        case .notModified(let stored, let told):
            // The scheduler has seen to it that the 304 is about this entry.
            return KeptFields.renewal(of: stored.entry, by: told)
        }
    }
}

/// What became of an arrival.
struct Settlement: Sendable {
    struct Stored: Sendable {
        var digest: Digest
        var bytes: Int
        var isDuplicate: Bool
        /// No body came: the server said that what is stored still stands.
        var isConfirmed = false
        /// When it was committed, in milliseconds since 1970.
        var time: Int64
    }
    var job: JobID
    var key: String
    var result: Result<Stored, CoverFailure>
    /// Another process evicted the bytes this cover was to share: it has to come again.
    var isLost = false
}
