package import CoverSizes
package import Platform
import Synchronization

/// The likenesses of pictures, each of which is read once, by its digest.
package final class Likenesses: Sendable {
    private struct State {
        /// Of pictures that cannot be read, nil.
        var known: [Digest: Likeness?]
        var added: [Digest: Likeness] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter known: Those of earlier runs.
    package init(_ known: [Digest: Likeness] = [:]) { state = Mutex(State(known: known)) }

    /// Those of this run that were read.
    package var added: [Digest: Likeness] { state.withLock { $0.added } }

    package subscript(digest: Digest) -> Likeness? { state.withLock { $0.known[digest] ?? nil } }

    /// - Parameter read: Reads the picture, the first time.
    func likeness(of digest: Digest, _ read: () -> Likeness?) -> Likeness? {
        if let known = state.withLock({ $0.known[digest] }) { return known }
        let likeness = read()
        state.withLock { state in
            state.known[digest] = .some(likeness)
            state.added[digest] = likeness
        }
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
