import Files
package import AlbumLibrary
import Files
import ImageHeader
import Platform

extension Cover {
    /// In bytes. A larger file is no cover.
    private static let maximumFileLength = 64 << 20

    /// The cover file that a person has beside an album's music, read where it is, on the caller's thread. Nil if there is none, or it cannot be
    /// read, or it is no image, or something else than a file is in its place.
    package init?(fileOf album: Album) {
        guard let path = album.coverFilePath, let file = Self.file(path),
            let bytes = try? file.bytes(at: 0, count: file.length),
            let header = bytes.withUnsafeBytes({ ImageHeader($0) })
        else { return nil }
        self.init("file://" + String(decoding: path.flatMap(Self.encoded), as: UTF8.self), header, bytes)
    }

    /// What says whether a cover file has changed: its place, its length and its time. Nil if there is no file that may be read.
    package static func fileVersion(of album: Album) -> String? {
        guard let path = album.coverFilePath, let file = file(path) else { return nil }
        let status = file.status
        let time = status.modificationTime
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)"
    }

    /// Opens a regular file. A link in its place is not followed: it may lead to any file. What is no file is not opened: opening some devices
    /// does something.
    private static func file(_ path: [UInt8]) -> SourceFile? {
        guard path.first == UInt8(ascii: "/"), !path.contains(0), let slash = path.lastIndex(of: UInt8(ascii: "/")),
            let name = FileName(path[(slash + 1)...]),
            let folder = try? OpenFolder(path: slash == 0 ? [UInt8(ascii: "/")] : Array(path[..<slash])),
            let status = try? folder.status(of: name), status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= maximumFileLength, let file = try? folder.file(name), file.length <= maximumFileLength
        else { return nil }
        return file
    }

    private static func encoded(_ byte: UInt8) -> [UInt8] {
        byte == UInt8(ascii: "/") || PercentEncoding.isUnreserved(byte) ? [byte] : PercentEncoding.encoded(byte)
    }
}
