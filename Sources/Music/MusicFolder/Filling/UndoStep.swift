package import Platform

/// What becomes of one file when its fill is taken back. Decided from what is remembered and what is there, without a disk.
package enum UndoStep: Sendable, Hashable {
    /// It goes.
    case remove
    /// The smaller cover that it replaced comes back.
    case restore(WrittenFile.Replaced)
    /// A person has changed it. It stays as it is, and is forgotten.
    case keep
    /// A person has removed it. That stays known, so that no fill writes it again.
    case stayAway
    /// Its disk is not there. It stays remembered.
    case away
    /// It cannot be taken back now, and stays remembered.
    case fail(reason: String)

    /// What has the file's name.
    package enum Found: Sendable, Hashable {
        case bytes(Digest)
        /// A folder, a link, a pipe.
        case other
        case nothing
        case away
    }

    static let uncached = "the cover that it replaced is not cached any more"

    init(_ file: WrittenFile, _ found: Found, isCached: (Digest) -> Bool) {
        switch found {
        case .away: self = .away
        case .nothing: self = .stayAway
        case .bytes(file.digest):
            guard let replaced = file.replaced else {
                self = .remove
                return
            }
            self = isCached(replaced.digest) ? .restore(replaced) : .fail(reason: Self.uncached)
        case .bytes, .other: self = .keep
        }
    }
}
