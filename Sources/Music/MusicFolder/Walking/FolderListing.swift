import Platform

/// A folder with the audio files and the pictures in it.
package struct FolderListing: Sendable {
    /// A file of the folder.
    package struct Entry: Sendable, Hashable {
        package var name: [UInt8]
        package var size: Int64
        var modified: Int64 = 0
        var changed: Int64 = 0

        init(_ name: [UInt8]) { (self.name, size) = (name, 0) }

        init(_ name: [UInt8], _ status: FileStatus) {
            (self.name, size, modified, changed) = (name, status.size, status.modified, status.changed)
        }
    }

    package var path: BytePath
    /// In the order of their bytes.
    package var audio: [Entry] = []
    package var pictures: [Entry] = []

    /// Changes when a file is added, removed, renamed or written. It cannot detect a change that leaves the size as it was on a file
    /// system that keeps no time of the change and whose time of modification was set back.
    package var fingerprint: Int64 {
        var hash = FNV1a.hash([])
        for entry in audio + pictures {
            hash = entry.name.withUnsafeBytes { FNV1a.hash($0, after: hash) }
            for number in [0, entry.size, entry.modified, entry.changed] {
                hash = withUnsafeBytes(of: number) { FNV1a.hash($0, after: hash) }
            }
        }
        // 0 stands for a folder that must be read again.
        return hash == 0 ? 1 : Int64(bitPattern: hash)
    }
}

/// A file or a folder that could not be read.
package struct MusicProblem: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    package var path: BytePath
    package var reason: String

    package init(_ path: BytePath, _ reason: String) { (self.path, self.reason) = (path, reason) }

    package var description: String { "\(path): \(reason)" }
}
