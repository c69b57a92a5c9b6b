import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes

/// Entries of one origin that are to be revalidated, and the requests that ask for it, written already.
// because: it is filled before anybody else sees it, and only read from then on.
final class RevalidationBatch: @unchecked Sendable {
    /// What became of some of the entries, by their numbers.
    enum Outcome {
        /// Their server has said that they stand, and the index says so too. - microseconds: how long the answer took.
        case stand([Int], microseconds: Int)
        /// What their server said is not about them: they are to come whole.
        case differ([Int])
        case failed([Int], CoverFailure)
        /// Nobody was asked, or the answer was not waited for.
        case left(Int)
    }

    /// Whom `DownloadScheduler.abandon` takes away.
    let owner: ObjectIdentifier
    let requests: WrittenRequests
    private(set) var entries: [CachedEntry] = []
    private(set) var urls: [HTTPURL] = []
    /// Called from any thread.
    let settle: @Sendable (RevalidationBatch, Outcome) -> Void
    /// One who waits for an entry that is asked for by itself.
    let waiter: @Sendable (CachedEntry) -> Waiter

    /// - Parameter url: any of the origin's.
    init(
        to url: HTTPURL, userAgent: String, owner: ObjectIdentifier,
        settle: @escaping @Sendable (RevalidationBatch, Outcome) -> Void,
        waiter: @escaping @Sendable (CachedEntry) -> Waiter
    ) {
        self.owner = owner
        self.settle = settle
        self.waiter = waiter
        requests = WrittenRequests(to: url, userAgent: userAgent)
    }

    /// False: it is not one of those that can be asked for along with others.
    func add(_ entry: CachedEntry, _ url: HTTPURL) -> Bool {
        let isAdded = entry.metadata.fields.withBytes { lines -> Bool in
            guard let kept = KeptFields(lines), kept.hasPlainValidators else { return false }
            requests.add(url) { kept.writeConditions(to: &$0) }
            return true
        }
        guard isAdded else { return false }
        entries.append(entry)
        urls.append(url)
        return true
    }
}

/// What a server has said of entries that stand, on its way to the index.
struct Standing: Sendable {
    var batch: RevalidationBatch
    /// The entries' numbers, and where what was told of each ends in `told`.
    var stood: [(request: Int, end: Int)]
    /// Lines of `name: value`.
    var told: [UInt8]
    /// When the requests were sent and the responses had come, in milliseconds since 1970.
    var requestTime, responseTime: Int64
    var microseconds: Int

    func settle(_ outcome: RevalidationBatch.Outcome) { batch.settle(batch, outcome) }

    /// What the index is to say of the entries from now on, whose numbers these are, and those that what was said is not about.
    func renewals(into renewals: inout [Renewal]) -> (renewed: [Int], differing: [Int]) {
        var (renewed, differing): ([Int], [Int]) = ([], [])
        renewed.reserveCapacity(stood.count)
        told.withUnsafeBufferPointer { told in
            var start = 0
            for (number, end) in stood {
                let lines = Bytes(rebasing: told[start..<end])
                let renewal = KeptFields.renewal(of: batch.entries[number], by: lines, requestTime, responseTime) {
                    HTTPFields(kept: lines)
                }
                if let renewal {
                    renewals.append(renewal)
                    renewed.append(number)
                } else {
                    differing.append(number)
                }
                start = end
            }
        }
        return (renewed, differing)
    }
}
