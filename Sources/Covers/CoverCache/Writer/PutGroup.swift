package import Platform

/// A cover whose file is written and that has no row yet.
struct Put: Sendable {
    var metadata: EntryMetadata
    var digest: Digest
    /// The body's length in bytes.
    var length: Int
    var file: CoverFolder.Written
    /// The bytes, if another process may remove the file: it was there before, or a sweep is in progress.
    var body: [UInt8]?
    var replacing: Replacing
    var charge: Int { file.charge }
}

/// What a put does with another cover that its URL has.
package enum Replacing: Sendable {
    /// It replaces it in any case: a person or a pack says so.
    case always
    /// It replaces it unless it is a placeholder: one picture in place of three covers with different bytes.
    case unlessPlaceholder
    /// The same; what it replaces is kept until `releaseReplaced`, so that it can be put back.
    case keeping
}

/// Covers that become durable together.
package struct PutGroup: Sendable {
    let puts: [Put]
    let covers: CoverFolder
    /// The path of the entry log: what was appended since the last group becomes durable with this one.
    let log: String
    /// The charge of the files that were written for it, in bytes.
    package var length: Int { puts.reduce(0) { $0 + ($1.file.isDuplicate ? 0 : $1.charge) } }

    /// The paths of the files to sync. Lazy: one call for the whole file system needs none of them.
    var files: some Collection<String> {
        (0...puts.count).lazy.map { index in
            if index == puts.count { return log }
            return puts[index].file.temporary ?? covers.path(of: puts[index].digest)
        }
    }

    /// Returns once the covers' files would survive power loss. From any thread.
    /// - Throws: `CacheError`.
    package func sync() throws(CacheError) {
        try covers.sync(files)
    }
}

/// The outcome of a put.
package enum PutOutcome: Sendable, Hashable {
    /// - Parameter deduplicated: the same bytes were already stored.
    case stored(Digest, deduplicated: Bool)
    /// Another process has evicted its bytes before the commit.
    case lost
    /// It is a placeholder, and the cover that its URL has stays.
    /// - Parameter restored: the entries that it had replaced, and that are as they were before.
    case withheld(Digest, restored: [EntryLine])
    /// The disk has no room for its row. Its file has made some for others.
    case unstored(CacheError)

    /// Whether no row of the put names its file.
    var leavesFile: Bool {
        switch self {
        case .lost, .withheld: true
        case .stored, .unstored: false
        }
    }
}
