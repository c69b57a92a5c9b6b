package import Platform
import SQLite

/// Why an operation of the cache failed. Each message says what the user can do, in words that suit any program: the command adds its options.
package enum CacheError: Error, Sendable, Hashable, CustomStringConvertible {
    case notADirectory(String)
    case notWritable(String, reason: String)
    /// A cover's file cannot be written, and others can be.
    case unwritableCover(String, reason: String)
    case networkFileSystem(String, kind: String)
    case newerFormat(String)
    /// Something that has a name that a cache uses, in a directory that is no cache.
    case foreign(String)
    /// A file of the cache is a symbolic link.
    case linked(String)
    case diskFull(String)
    /// The disk has room, and no inode for another file.
    case noInodes(String)
    /// Another process has held the writer's lock for `seconds`.
    case busy(String, seconds: Int)
    case largerThanCapacity(bytes: Int, capacity: Int)
    /// The URL and the header fields of a cover are longer than `EntryMetadata.maximumLength`.
    case longMetadata
    case file(String, operation: String, reason: String)
    case index(String)
    /// SQLite could not write. It does not tell an exceeded quota from a failing disk.
    case unwritableIndex(String)
    /// The index is corrupt.
    case corruptIndex(String)
    /// The index names covers, and none has a file.
    case noCovers(String)
    case closed
    /// The cover does not fit beside the pinned ones; both in bytes, counted in whole blocks.
    case noRoom(pinned: Int, capacity: Int)
    /// The covers that a run has stored and used take the whole cache.
    case full(capacity: Int)
    /// Not a pack.
    case notAPack(String)
    /// A pack of another version.
    case newerPack(String, format: String)
    /// The covers precede `entries.jsonl`, and the pack cannot be read twice.
    case unorderedPack(String)

    package var description: String {
        switch self {
        case .notADirectory(let path):
            "\(path) is a file, not a cache directory; choose another directory"
        case .notWritable(let path, let reason):
            "the cache directory \(path) cannot be written: \(reason); reading needs that, too: correct its permissions or choose another directory"
        case .unwritableCover(let path, let reason):
            "the cover's file \(path) cannot be written: \(reason); correct the permissions of its folder"
        case .networkFileSystem(let path, let kind):
            "\(path) is on a network file system (\(kind)), where SQLite's locks are not reliable; use a local disk"
        case .newerFormat(let path):
            "the cache in \(path) was written by a newer version of Sleeve; update Sleeve or choose another directory"
        case .foreign(let path):
            "\(path) would be in the way of a cache, and nothing beside it says that it is Sleeve's; choose a new or an empty directory"
        case .linked(let path):
            "\(path) is a symbolic link, and what it leads to may be of others; link the whole cache directory instead"
        case .diskFull(let path):
            "the disk that holds \(path) is full, or a quota on it is used up; free some room, or evict covers if they take it"
        case .noInodes(let path):
            "the disk that holds \(path) has no inodes left for another file (df -i); delete some files, or evict covers"
        case .unwritableIndex(let message):
            "the index cannot be written: \(message); the disk may be full or failing, a quota used up, or too many files open"
        case .busy(let path, let seconds):
            "another process has kept \(path) locked for \(seconds) s; check whether it is stopped, then try again"
        case .largerThanCapacity(let bytes, let capacity):
            "the cover has \(ByteCount(bytes)); a cache of \(ByteCount(capacity)) has no room for it; raise the capacity"
        case .longMetadata:
            "the URL and the header fields of the cover are longer than \(ByteCount(EntryMetadata.maximumLength)), the most that is kept of a cover; its server sends too many"
        case .file(let path, let operation, let reason):
            "cannot \(operation) \(path): \(reason)"
        case .index(let message):
            "the index cannot be used: \(message); check the disk that holds the cache, then try again"
        case .noCovers(let path):
            "\(path) is empty, so nothing was dropped; if it is elsewhere, put it back; if it is lost, evict all covers: that forgets them"
        case .closed:
            "the library is closed"
        case .noRoom(pinned: 0, _):
            "larger than the cache has room for; raise the capacity"
        case .noRoom(let pinned, let capacity):
            "no room: pinned covers take \(ByteCount(pinned)) of the capacity of \(ByteCount(capacity)); raise the capacity, or unpin some"
        case .full(let capacity):
            "the cache is full of the covers of this run: its capacity of \(ByteCount(capacity)) is too small for all of them; raise the capacity, or request fewer"
        case .notAPack(let path):
            "\(path) is not a pack of covers: a tar file of entries.jsonl and covers/"
        case .newerPack(let path, let format):
            "\(path) is of the format \"\(format)\", which a newer version of Sleeve has written; update Sleeve"
        case .unorderedPack(let path):
            "entries.jsonl follows the covers in \(path), so it cannot be read from a pipe; unpack it from a file"
        case .corruptIndex(let message):
            "the index is damaged: \(message); repair the cache, which rebuilds it"
        }
    }

    /// Whether only this cover cannot be stored, while others may.
    package var isOfCover: Bool {
        switch self {
        case .largerThanCapacity, .longMetadata, .noRoom, .full, .unwritableCover: true
        default: false
        }
    }

    /// Whether free room on the disk may be all that is missing.
    var mayNeedRoom: Bool {
        switch self {
        case .diskFull, .noInodes, .unwritableIndex: true
        default: false
        }
    }

    /// The error for the system call that has just failed.
    package static func last(_ operation: String, _ path: String) -> CacheError {
        system(SystemError(operation, path: path))
    }

    private static func system(_ error: SystemError) -> CacheError {
        let path = error.path ?? "the cache"
        return switch error.number {
        case ENOSPC where !AllocatedSpace.hasInodes(at: FilePath.directory(of: path)): .noInodes(path)
        case ENOSPC, EDQUOT: .diskFull(path)
        case EMFILE, ENFILE:
            .file(path, operation: error.call, reason: "\(error.reason); \(DescriptorLimit.advice)")
        case EACCES, EPERM:
            .file(path, operation: error.call, reason: "\(error.reason); correct the cache's permissions")
        default: .file(path, operation: error.call, reason: error.reason)
        }
    }
}

extension CacheError {
    /// Converts an error of this module or of SQLite.
    package init(_ error: any Error) {
        switch error {
        case let error as CacheError: self = error
        case let error as SystemError: self = .system(error)
        case let error as FileLock.Timeout: self = .busy(error.path, seconds: error.seconds)
        case let error as SQLiteError: self = .index(error)
        default: self = .index("\(error)")
        }
    }

    private static func index(_ error: SQLiteError) -> CacheError {
        if let cause = error.cause {
            // SQLite opens a file for reading that it could not create, and logs that it is missing.
            return cause.number == ENOENT
                ? .unwritableIndex("\(cause.path ?? "a file") cannot be created") : system(cause)
        }
        if error.isCorruption { return .corruptIndex(error.message) }
        return switch error.extendedCode {
        case .full: .diskFull("the index")
        case .write, .resizeSharedMemory, .truncate: .unwritableIndex(error.message)
        default: .index(error.message)
        }
    }
}

/// What a cache has found or done by itself, and a person should know.
package enum CacheNotice: Sendable, Hashable, CustomStringConvertible {
    case rebuilding
    /// Another process has replaced or removed the index.
    case replaced
    /// - Parameter capacity: in bytes.
    case evicted(covers: Int, capacity: Int)
    /// Covers have no entry any more, and their files are gone: evicted, removed or damaged.
    case removed([Digest])
    /// Housekeeping could not do its work, which costs room. A later opening tries again.
    case unfinished(CacheError)

    package var description: String {
        switch self {
        case .rebuilding: "the cache's index is lost or damaged: rebuilding it from entries.jsonl and the covers"
        case .replaced: "the cache's index was replaced or removed by another process; reading the new one"
        case .evicted(let covers, let capacity):
            "\(covers) covers were evicted: the cache exceeded its capacity of \(ByteCount(capacity))"
        case .removed(let digests): "\(digests.count) covers were removed"
        case .unfinished(let error): "the cache could not be tidied up: \(error)"
        }
    }
}
