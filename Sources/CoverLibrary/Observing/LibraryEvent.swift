import CoverCache

/// What observers are told.
public enum LibraryEvent: Sendable {
    /// A cover is on the disk and in the index, and would survive power loss.
    case arrived(CoverArrival)
    /// A cover could not be had.
    case failed(CoverFailure)
    /// The albums are others than before, whoever changed them; noticed when the library is next asked.
    case albumsChanged
    /// The observer was too slow: so many events were left out here.
    case missed(Int)
}

/// A cover that has been stored.
public struct CoverArrival: Sendable, Hashable {
    /// The normalised URL: the cover's key in the cache.
    public var url: String
    /// SHA-256 of its bytes, in hexadecimal.
    public var digest: String
    /// Length of the cover.
    public var bytes: Int
    /// The same bytes were in the cache already, under another URL.
    public var isDuplicate: Bool
    /// When it was in the cache, in milliseconds since 1970.
    public var time: Int64
}

extension LibraryEvent {
    /// Nil: nothing is here that was not before.
    init?(_ settlement: Settlement) {
        switch settlement.result {
        case .success(let stored):
            if stored.isConfirmed { return nil }
            self = .arrived(
                CoverArrival(
                    url: settlement.key, digest: stored.digest.description, bytes: stored.bytes,
                    isDuplicate: stored.isDuplicate, time: stored.time))
        case .failure(let failure): self = .failed(failure)
        }
    }
}
