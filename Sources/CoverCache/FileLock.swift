#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An advisory lock on a file (`flock`). The kernel lets go of it when its holder dies, however it dies.
package struct FileLock: ~Copyable {
    private let descriptor: Int32
    private let path: String

    package init(path: String) throws(CacheError) {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        if descriptor < 0 { throw .last("open", path) }
    }

    deinit { close(descriptor) }

    /// Runs `body` while nobody else holds the lock.
    /// - Throws: `CacheError.busy` when it cannot be had for 15 seconds: its holder commits many times a second, so one that
    ///   keeps it that long has been stopped, and no process waits for ever for another.
    package func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        var waited: UInt32 = 0
        var pause: UInt32 = 100
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw CacheError.last("lock", path) }
            guard waited < 15_000_000 else { throw CacheError.busy(path, seconds: 15) }
            usleep(pause)
            waited += pause
            pause = min(pause * 2, 5_000)
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
