import ArgumentParser
import CommandSupport
import Platform

/// Allows one refresh of a cache at a time. The lock file holds the process id of the refresh that runs.
final class RefreshLock: Sendable {
    private let lock: FileLock

    /// - Throws: An exit code, after an error message: 75 (EX_TEMPFAIL) if another process holds the lock.
    init(_ path: String) throws {
        lock = try FileLock(path: path)
        guard try lock.tryLock() else {
            let holder = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int($0.filter(\.isNumber)) }
            throw fail(
                "\(holder.map { "process \($0)" } ?? "another process") is refreshing this cache; this run did nothing",
                ExitStatus.tryLater)
        }
        lock.note("\(getpid())\n")
    }

    func release() { lock.unlock() }
}
