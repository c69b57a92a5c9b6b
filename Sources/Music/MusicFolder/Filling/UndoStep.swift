package import Platform

/// What becomes of one row when its fill is taken back. Decided from what is remembered and what is there, without a disk.
package enum UndoStep: Sendable, Hashable {
    /// It goes.
    case remove
    /// What it replaced comes back.
    case restore(Written)
    /// A person has changed it. It stays as it is, and is a person's.
    case keep
    /// A person has removed it. That stays known, so that no fill writes it again.
    case stayAway
    /// A newer fill has replaced it, and was not taken back.
    case wait
    /// Its disk is not there. The next undo tries again.
    case away
    /// It cannot be taken back now. The next undo tries again.
    case fail(reason: String)

    /// What is in the place.
    package enum Found: Sendable, Hashable {
        case bytes(Digest)
        /// A folder, a link, a pipe.
        case other
        case nothing
        case away
    }

    static let uncached = "the cover that it replaced is not cached any more"

    /// Why a row stays for the next undo; empty if it does not.
    package var obstacle: String {
        switch self {
        case .wait: "a later fill has replaced it"
        case .away: MusicState.awayReason
        case .fail(let reason): reason
        case .remove, .restore, .keep, .stayAway: ""
        }
    }

    /// - Parameters:
    ///   - replaced: The row that it replaced, if that is of the album that is there now.
    ///   - newer: The picture of the row that replaced this one.
    init(_ row: Written, _ found: Found, replaced: Written?, newer: Digest? = nil, isCached: (Digest) -> Bool) {
        switch found {
        case .away: self = .away
        case .nothing: self = newer == nil ? .stayAway : .wait
        case .bytes(row.digest):
            guard let replaced else {
                self = .remove
                return
            }
            self = isCached(replaced.digest) ? .restore(replaced) : .fail(reason: Self.uncached)
        case .bytes(newer): self = .wait
        // An undo was killed.
        case .bytes(replaced?.digest): self = replaced.map { .restore($0) } ?? .keep
        case .bytes, .other: self = .keep
        }
    }
}
