import CoverCache
import CurlHTTP
import HTTPCaching
import HTTPTypes
import ImageHeader

/// One who waits for a cover.
struct Waiter: Sendable {
    /// Whom `DownloadScheduler.abandon` takes away.
    var owner: ObjectIdentifier
    /// Called on the event loop, once, after the commit that makes a success true.
    var done: @Sendable (Delivery) -> Void
    /// What the cache has, to be revalidated; nil: the cover is to come whole.
    var stored: Revalidation?
    /// What is known of the URL from before.
    var remembered: Hints
    /// The transfer starts now, whatever the host's state and limits.
    var isUrgent = false

    init(
        owner: ObjectIdentifier, stored: Revalidation? = nil, remembered: Hints = Hints(),
        done: @escaping @Sendable (Delivery) -> Void
    ) {
        self.owner = owner
        self.stored = stored
        self.remembered = remembered
        self.done = done
    }
}

/// An entry of the cache that is to be revalidated.
final class Revalidation: Sendable {
    let entry: CachedEntry
    /// The fields of the request that asks.
    let conditions: HTTPFields
    let tag: String?

    init(_ entry: CachedEntry) {
        self.entry = entry
        conditions = KeptFields.conditions(of: entry)
        tag = conditions.text(.ifNoneMatch)
    }
}

/// What a waiter gets.
struct Delivery: Sendable {
    var result: Result<Settlement.Stored, CoverFailure>
    /// The request joined another's transfer.
    var isJoined: Bool
    /// From the start of the last transfer to its end.
    var microseconds: Int
    /// A cover that must not be kept, for those who only want to see it.
    var passing: (body: ResponseBody, header: ImageHeader)?
}
