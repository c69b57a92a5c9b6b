import Synchronization

#if os(Linux)
    import CFiles
#endif

/// An exclusive advisory lock on a file (`flock(2)`; where the file system lacks that, an open file description lock of fcntl(2)). The kernel
/// releases it when the holding process ends, however it ends.
///
/// The lock of a file that was replaced or removed does not keep out processes that open its path now. So the path is opened again, and the lock is
/// that of the new file.
package struct FileLock: ~Copyable {
    /// The lock was not free within `seconds`.
    package struct Timeout: Error, Sendable, Hashable, CustomStringConvertible {
        package var path: String
        package var seconds: Int
        package var description: String {
            "another process has kept \(path) locked for \(seconds) s; check whether it is stopped, then try again"
        }
    }

    /// Maximum time to wait for a holder that shows no progress. Most keep the lock for milliseconds; one that keeps it this long has
    /// been stopped.
    package static let timeoutSeconds = 15

    // Locks bytes of a file for an open file description (fcntl(2)).
    #if os(Linux)
        private static let setLock = sleeve_set_lock
    #else
        private static let setLock = F_OFD_SETLK
    #endif

    private let descriptor: Atomic<Int32>
    private let path: String

    /// Opens the file, and creates it if it is missing. A symbolic link is refused: it may lead elsewhere.
    /// - Throws: `SystemError`.
    package init(path: String) throws(SystemError) {
        self.path = path
        descriptor = Atomic(try Self.open(path))
    }

    /// Closing the descriptor releases the lock.
    deinit { close(file) }

    private static func open(_ path: String) throws(SystemError) -> Int32 {
        let file = OwnedPath.create(path, O_RDWR | O_NOFOLLOW)
        if file < 0 { throw SystemError("open", path: path) }
        return file
    }

    private var file: Int32 { descriptor.load(ordering: .relaxed) }

    /// Whether the open file is the one that the path names.
    private var isCurrent: Bool {
        var (opened, named) = (stat(), stat())
        return fstat(file, &opened) == 0 && lstat(path, &named) == 0
            && (opened.st_ino, opened.st_dev) == (named.st_ino, named.st_dev)
    }

    /// Runs `body` with the lock held. Blocks the thread until the lock is free.
    /// - Parameters:
    ///   - seconds: how long to wait for a holder that shows no progress.
    ///   - sleep: blocks the thread for a number of microseconds.
    /// - Throws: `Timeout` after that time, `SystemError`, or the error of `body`.
    package func withLock<Result: ~Copyable>(
        waiting seconds: Int = FileLock.timeoutSeconds, sleep: (UInt32) -> Void = { usleep($0) },
        _ body: () throws -> Result
    ) throws -> Result {
        var waited: UInt32 = 0
        var pause: UInt32 = 100
        var progress = lastProgress
        while try !tryLock() {
            if waited >= UInt32(seconds) * 1_000_000 {
                guard lastProgress != progress else { throw Timeout(path: path, seconds: seconds) }
                (waited, progress) = (0, lastProgress)
            }
            sleep(pause)
            waited += pause
            pause = min(pause * 2, 5_000)
        }
        defer { unlock() }
        return try body()
    }

    /// Lets waiting processes know that the holder is working. Call it every few seconds when keeping the lock for longer.
    package func showProgress() { futimens(file, nil) }

    /// When a holder last called `showProgress`, in nanoseconds: the file's modification time.
    private var lastProgress: Int {
        var status = stat()
        guard fstat(file, &status) == 0 else { return 0 }
        // The time may be any number, as the file may be any file.
        return status.modificationTime.tv_sec &* 1_000_000_000 &+ status.modificationTime.tv_nsec
    }

    /// Takes the lock if it is free. - Returns: whether it was.
    package func tryLock() throws(SystemError) -> Bool {
        var attempts = 0
        while true {
            let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0 || !Self.mayWait(errno) && lockBytes(F_WRLCK)
            guard isLocked || Self.mayWait(errno) else { throw SystemError("lock", path: path) }
            attempts += 1
            // Some file systems of other machines give a file another number each time.
            if isCurrent || attempts == 3 { return isLocked }
            close(descriptor.exchange(try Self.open(path), ordering: .relaxed))
        }
    }

    private static func mayWait(_ error: Int32) -> Bool { [EWOULDBLOCK, EACCES, EINTR].contains(error) }

    private func lockBytes(_ type: Int32) -> Bool {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(file, Self.setLock, &lock) == 0
    }

    /// Replaces what the file holds, for people and other processes to read. Call it with the lock held.
    package func note(_ text: String) {
        ftruncate(file, 0)
        _ = Array(text.utf8).withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    }

    package func unlock() {
        if flock(file, LOCK_UN) != 0 { _ = lockBytes(F_UNLCK) }
    }
}
