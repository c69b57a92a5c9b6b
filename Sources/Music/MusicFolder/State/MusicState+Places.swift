import Files
import Platform
import SQLite

/// Where written files are. A music folder may be at another path by now: moved, mounted elsewhere, or seen by a container. What stays is the
/// path below the scanned folder, and the digest of what is there.
extension MusicState {
    /// The scanned folder that contains a folder; nil if there is none.
    func root(of folder: BytePath) throws(Problem) -> BytePath? { try roots().last { folder.isInside($0) } }

    /// The paths that a folder below a root has below the other scanned folders.
    func otherPlaces(of folder: BytePath, below root: BytePath?) throws(Problem) -> [BytePath] {
        guard let root, folder.isInside(root) else { return [] }
        return try roots().compactMap { $0 == root ? nil : folder.moved(from: root, to: $0) }
    }

    /// The rows of written files and of covers in tags follow the folders of a scan: a file that is found below one of them is remembered there.
    func follow(_ roots: [BytePath]) throws(Problem) {
        for file in try writtenFiles() {
            guard
                let place = newPlace(
                    file.folder, file.root, roots,
                    isSame: { folder in
                        isSame(folder.appending(file.name), as: file.path) { digest(folder, file.name) == file.digest }
                    })
            else { continue }
            try move(file, to: place)
        }
        for cover in try embeddedCovers() {
            guard
                let place = newPlace(
                    cover.folder, cover.root, roots,
                    isSame: { folder in
                        isSame(folder.appending(cover.name), as: cover.path) { true }
                    })
            else { continue }
            try move(cover, to: place)
        }
    }

    private func newPlace(
        _ folder: BytePath, _ root: BytePath?, _ roots: [BytePath], isSame: (BytePath) -> Bool
    ) -> BytePath? {
        guard let root, folder.isInside(root) else { return nil }
        return roots.lazy.filter { $0 != root }.map { folder.moved(from: root, to: $0) }.first(where: isSame)
    }

    /// Whether there is a file that is the former one, or takes its place.
    private func isSame(_ path: BytePath, as former: BytePath, _ hasBytes: () -> Bool) -> Bool {
        var (status, old) = (stat(), stat())
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        if former.withCString({ lstat($0, &old) }) != 0 { return hasBytes() }
        return old.st_dev == status.st_dev && old.st_ino == status.st_ino
    }

    /// What the last fill had remembered of an upgrade, and was killed before, is forgotten: the smaller cover is still there.
    func settleInterrupted() throws(Problem) {
        for file in try filesOfLastRun() {
            var status = stat()
            guard let replaced = file.replaced, replaced.name == file.name,
                file.path.withCString({ lstat($0, &status) }) == 0, FileStatus(status).modified != file.modified,
                digest(file.folder, file.name) == replaced.digest
            else { continue }
            var former = file
            (former.digest, former.run, former.replaced) = (replaced.digest, replaced.run, nil)
            (former.width, former.height, former.modified) = (nil, nil, nil)
            try save(former)
        }
    }

    private func digest(_ folder: BytePath, _ name: [UInt8]) -> Digest? {
        guard let name = FileName(name), let folder = try? OpenFolder(path: folder.bytes) else { return nil }
        return (try? OwnFile(name, in: folder, journal).digest()) ?? nil
    }

    // MARK: Disks

    /// Whether a missing folder is on a disk that is not mounted.
    /// - Parameter disk: The file system on which the folder was; nil if it is not known.
    func isAway(_ folder: BytePath, disk: String?) throws(Problem) -> Bool {
        if let disk, !disk.isEmpty, let found = folder.nearestFolder, found.disk != disk { return true }
        return try isAway(folder)
    }
}

extension BytePath {
    /// The same path below another folder.
    func moved(from root: BytePath, to other: BytePath) -> BytePath {
        let rest = bytes.dropFirst(root.bytes.count).drop { $0 == UInt8(ascii: "/") }
        return rest.isEmpty ? other : other.appending(Array(rest))
    }

    /// The folder, or the nearest one above it that exists.
    fileprivate var nearestFolder: OpenFolder? {
        var path: BytePath? = self
        while let folder = path {
            if let open = try? OpenFolder(path: folder.bytes) { return open }
            path = folder.parent
        }
        return nil
    }
}
