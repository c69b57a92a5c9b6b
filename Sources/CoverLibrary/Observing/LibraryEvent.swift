public import CoverFetch

/// What observers of a library receive.
public enum LibraryEvent: Sendable {
    /// A cover is stored: on disk, indexed, and safe from power loss.
    case arrived(StoredCover)
    /// A cover could not be downloaded or stored.
    case failed(CoverFailure)
    /// The albums have changed, in this process or another. Noticed at the library's next access to them.
    case albumsChanged
    /// The observer was too slow: this many events were dropped here.
    case missed(Int)
}

extension LibraryEvent {
    /// Nil for a revalidated cover: nothing has changed.
    init?(_ result: FetchResult) {
        switch result.result {
        case .success(let cover):
            if cover.isRevalidated { return nil }
            self = .arrived(cover)
        case .failure(let failure): self = .failed(failure)
        }
    }
}
