import Files
import Platform

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
        of path: BytePath, maximumLength: Int
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
