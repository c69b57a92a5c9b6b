package import CoverSizes
package import Platform
import Synchronization

/// The likenesses of pictures, each of which is read once, by its digest.
package final class Likenesses: Sendable {
    /// Of pictures that cannot be read, nil.
    private let known: Mutex<[Digest: Likeness?]>
    private let new = Mutex<[Digest: Likeness]>([:])

    /// - Parameter known: Those of earlier runs.
    package init(_ known: [Digest: Likeness] = [:]) { self.known = Mutex(known) }

    /// Those of this run that were read.
    package var added: [Digest: Likeness] { new.withLock { $0 } }

    package subscript(digest: Digest) -> Likeness? { known.withLock { $0[digest] ?? nil } }

    /// - Parameter read: Reads the picture, the first time.
    func likeness(of digest: Digest, _ read: () -> Likeness?) -> Likeness? {
        if let known = known.withLock({ $0[digest] }) { return known }
        let likeness = read()
        known.withLock { $0[digest] = .some(likeness) }
        if let likeness { new.withLock { $0[digest] = likeness } }
        return likeness
    }

    /// The likeness of a file with a digest.
    func likeness(of digest: Digest, at path: BytePath) -> Likeness? { likeness(of: digest) { Likeness(of: path) } }
}

extension Likeness {
    /// Reads a file; nil if it is no picture that can be read.
    init?(of path: BytePath) {
        guard
            let (bytes, isWhole) = try? RegularFile.contents(of: path, maximumLength: RegularFile.maximumPictureLength),
            isWhole,
            let likeness = bytes.withUnsafeBytes({ Likeness($0) })
        else { return nil }
        self = likeness
    }
}
