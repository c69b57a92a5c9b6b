import Platform

/// What the system says of a file: stat(2).
struct FileStatus {
    enum Kind: String {
        case file, folder, link
        case fifo = "a FIFO"
        case socket = "a socket"
        case device = "a device"
    }

    /// Identifies a file or a folder on this machine, whatever its names.
    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    var kind: Kind
    var identity: Identity
    var size: Int64
    /// When the contents changed, in nanoseconds since 1970.
    var modified: Int64
    /// When the contents, the name or the permissions changed. Unlike `modified`, programs cannot set it.
    var changed: Int64

    /// - Parameter followsLinks: Look at what a link leads to.
    /// - Throws: `SystemError`.
    init(_ name: [UInt8], in folder: Int32, followsLinks: Bool) throws(SystemError) {
        var status = stat()
        let code = name.withCString { fstatat(folder, $0, &status, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW) }
        guard code == 0 else { throw SystemError("stat") }
        self.init(status)
    }

    /// - Throws: `SystemError`.
    init(descriptor: Int32) throws(SystemError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("stat") }
        self.init(status)
    }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            default: .device
            }
        identity = Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
        size = Int64(status.st_size)
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.modified = Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec)
        self.changed = Int64(changed.tv_sec) &* 1_000_000_000 &+ Int64(changed.tv_nsec)
    }
}
