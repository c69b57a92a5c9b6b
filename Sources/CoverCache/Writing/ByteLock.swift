import CLinux
import Platform

/// Exclusive advisory locks on single bytes of an open file (fcntl(2), "open file description locks"). The bytes need not exist.
///
/// The kernel releases the locks of an open file when it is closed, which is at the latest when its process ends.
enum ByteLock {
    #if os(Linux)
        private static let (getLock, setLock) = (sleeve_get_lock, sleeve_set_lock)
    #else
        private static let (getLock, setLock) = (F_OFD_GETLK, F_OFD_SETLK)
    #endif

    /// Takes a byte's lock if it is free. - Returns: whether it was.
    static func take(_ offset: Int, of descriptor: Int32) throws(SystemError) -> Bool {
        var lock = exclusive(offset)
        if fcntl(descriptor, setLock, &lock) == 0 { return true }
        guard errno == EAGAIN || errno == EACCES else { throw SystemError("lock") }
        return false
    }

    /// Whether another open file, of this process or of another one, holds a byte's lock.
    static func isHeldElsewhere(_ offset: Int, of descriptor: Int32) throws(SystemError) -> Bool {
        var lock = exclusive(offset)
        guard fcntl(descriptor, getLock, &lock) == 0 else { throw SystemError("lock") }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static func exclusive(_ offset: Int) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        (lock.l_start, lock.l_len) = (off_t(offset), 1)
        return lock
    }
}
