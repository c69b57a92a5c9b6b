package import Platform
import Synchronization

/// Which process downloads which URL: locks on bytes of a file that all processes of a cache open.
///
///     byte N   locked by the process that downloads a URL whose hash is N (fcntl(2), "open file description locks")
///
/// The bytes need not exist. A lease ends with its holder at the latest: the kernel releases the locks of an open file when it is closed.
/// The kernel searches a file's locks one after another; with 500 held, taking one takes 8 µs.
///
/// The file's length is the number of commits to the index, by all processes: each appends one byte, a line feed.
package final class LeaseTable: Sendable {
    private static let commit = UInt8(ascii: "\n")
    /// A longer file is emptied when it is opened. The others then take the next commit for another process's, which is safe.
    private static let maximumLength = 1 << 20

    private struct State {
        /// The keys of each lease that this table holds.
        var held: [Int: Int] = [:]
        /// The file's length if no other process has made a commit.
        var commits: Int
        /// This process appends a byte, which may take the disk's time, so no lock is held meanwhile.
        var isCommitting = false
        var hasForeignCommits = false
    }

    private let descriptor: Int32
    private let state: Mutex<State>

    /// Opens the cache's file, and creates it if it is missing.
    /// - Throws: `SystemError` if it cannot be written, or has something else in it.
    package init(_ directory: CacheDirectory) throws(SystemError) {
        let path = directory.leases
        descriptor = OwnedPath.create(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError("open", path: path) }
        var first = Self.commit
        guard pread(descriptor, &first, 1, 0) >= 0, first == Self.commit else {
            close(descriptor)
            throw SystemError("read", path: path, number: EINVAL)
        }
        if Self.length(descriptor) > Self.maximumLength { ftruncate(descriptor, 0) }
        state = Mutex(State(commits: Self.length(descriptor)))
    }

    /// The kernel releases every lease.
    deinit { close(descriptor) }

    private static func length(_ descriptor: Int32) -> Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    // MARK: Leases

    /// Takes the lease of a key. - Returns: the lease, for `release`; nil while another process holds it.
    package func take(_ key: String) -> Int? {
        let lease = Self.lease(of: key)
        return state.withLock { state in
            if state.held[lease] == nil, !lock(lease) {
                // It is about to commit, and may end before it has counted that.
                state.hasForeignCommits = true
                return nil
            }
            state.held[lease, default: 0] += 1
            return lease
        }
    }

    package func release(_ lease: Int) {
        state.withLock { state in
            guard let count = state.held[lease] else { return }
            state.held[lease] = count > 1 ? count - 1 : nil
            if count == 1 { _ = set(F_UNLCK, lease) }
        }
    }

    /// Returns false while another process has locked the byte. Where it cannot be locked at all, two processes may download a URL.
    private func lock(_ lease: Int) -> Bool { set(F_WRLCK, lease) == 0 || errno != EAGAIN && errno != EACCES }

    private func set(_ type: Int32, _ lease: Int) -> Int32 {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        (lock.l_start, lock.l_len) = (off_t(lease), 1)
        return fcntl(descriptor, FileLock.setLock, &lock)
    }

    /// The byte of a key. Two keys hardly ever have the same one; it costs a wait.
    static func lease(of key: String) -> Int { Int(FNV1a.hash(key) >> 2) }

    // MARK: Commits

    /// Counts a commit of this process. Call it before the leases of the committed keys are released, from one thread.
    package func didCommit() {
        state.withLock { $0.isCommitting = true }
        var byte = Self.commit
        // Appending moves the position to the end of what was appended.
        let length = write(descriptor, &byte, 1) == 1 ? Int(lseek(descriptor, 0, SEEK_CUR)) : nil
        state.withLock { state in
            state.isCommitting = false
            guard let length else { return }
            if length != state.commits + 1 { state.hasForeignCommits = true }
            state.commits = length
        }
    }

    /// Whether another process has committed anything since the table was opened: what was missing may be stored by now.
    package var hasForeignCommits: Bool {
        state.withLock { state in
            if state.isCommitting { return true }
            if !state.hasForeignCommits { state.hasForeignCommits = Self.length(descriptor) != state.commits }
            return state.hasForeignCommits
        }
    }
}
