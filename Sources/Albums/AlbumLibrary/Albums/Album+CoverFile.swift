package import Files
import Platform

// The cover file that a person has beside an album's music, read where it is.
extension Album {
    /// In bytes. A larger file is no cover.
    private static let maximumCoverFileLength = 64 << 20

    /// The cover file, open. Nil if there is none, it cannot be read, or something else than a file is in its place.
    ///
    /// A link in its place is not followed: it may lead to any file. What is no file is not opened: opening some devices does something.
    package func openCoverFile() -> SourceFile? {
        let slash = UInt8(ascii: "/")
        guard let path = coverFilePath, path.first == slash, !path.contains(0), let last = path.lastIndex(of: slash),
            let name = FileName(path[(last + 1)...]),
            let folder = try? OpenFolder(path: last == 0 ? [slash] : Array(path[..<last])),
            let status = try? folder.status(of: name), status.st_mode & S_IFMT == S_IFREG,
            status.st_size <= Self.maximumCoverFileLength, let file = try? folder.file(name),
            file.length <= Self.maximumCoverFileLength
        else { return nil }
        return file
    }

    /// What says whether the cover file has changed: its place, its length and its time. Nil if there is no file that may be read.
    package var coverFileVersion: String? {
        guard let status = openCoverFile()?.status else { return nil }
        let time = status.modificationTime
        return "\(status.st_dev) \(status.st_ino) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)"
    }
}
