import Files
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

/// Reads files of a music folder: FIFOs and devices have the names of music, too.
enum RegularFile {
    /// Of a picture, in bytes. Of a larger file only the beginning is read, and whether it is cut off stays unknown.
    static let maximumPictureLength = 64 << 20

    /// Opens a regular file for reading.
    static func open(_ path: BytePath) throws(MusicProblem) -> (descriptor: Int32, status: FileStatus) {
        // A FIFO would block without O_NONBLOCK.
        let descriptor = path.withCString { Platform.open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw MusicProblem(path, SystemError("open").reason) }
        if let status = try? FileStatus(descriptor: descriptor), status.kind == .file { return (descriptor, status) }
        close(descriptor)
        throw MusicProblem(path, "is no regular file")
    }

    /// The bytes of a file, up to a length.
    static func contents(
        of path: BytePath, maximumLength: Int = maximumPictureLength
    ) throws(MusicProblem) -> (bytes: [UInt8], isWhole: Bool) {
        do throws(SystemError) {
            let file = try SourceFile(path: path.bytes)
            // One byte more shows the end of a file that has not grown.
            let capacity = min(file.length, maximumLength) + 1
            let bytes = try file.bytes(at: 0, count: capacity)
            return (bytes, bytes.count < capacity)
        } catch {
            throw MusicProblem(path, error.number == EINVAL ? "is no regular file" : error.reason)
        }
    }
}
