import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Allows one refresh of a cache at a time. The kernel releases the lock when its process ends, however it ends.
final class RunLock: Sendable {
    private let descriptor: Int32

    /// - Throws: an exit code, after an error message: 75 (EX_TEMPFAIL) if another process holds the lock.
    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw fail("cannot open \(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            var text = [UInt8](repeating: 0, count: 32)
            let count = pread(descriptor, &text, text.count, 0)
            close(descriptor)
            let pid = Int(String(decoding: text.prefix(max(count, 0)), as: UTF8.self).filter(\.isNumber))
            let who = pid.map { "process \($0)" } ?? "another process"
            throw fail("\(who) is refreshing this cache; this run did nothing", ExitStatus.tryLater)
        }
        let line = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        pwrite(descriptor, line, line.count, 0)
    }

    func release() { close(descriptor) }
}
