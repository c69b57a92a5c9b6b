package import Platform

/// A cover in a smaller size, to be kept.
package struct SmallCover: Sendable {
    package var digest: Digest
    /// One of `SizeFolder.steps`.
    package var longestSide: Int
    /// A JPEG with the comment that `SizeFolder.read` checks.
    package var bytes: [UInt8]
    /// The cover's dominant colour: red, green and blue, 8 bits each.
    package var color: UInt32

    /// - Parameter jpeg: the cover in this size.
    package init(digest: Digest, longestSide: Int, jpeg: [UInt8], color: UInt32) {
        (self.digest, self.longestSide, self.color) = (digest, longestSide, color)
        bytes = SizeFolder.sealed(jpeg[2...], digest, longestSide)
    }
}

/// Covers in smaller sizes, made from their files and named as these are:
///
///     sizes/300/ab/abcdef…   a JPEG whose longer side has at most 300 pixels
///
/// They are disposable: the index knows only how many bytes they take together. They are not synced. A comment at the start of each has
/// the SHA-256 of its name, `300/abcdef…`, and of all that follows, so that what power loss or a failing disk has changed, and what is
/// another cover's, is noticed, and made again.
package struct SizeFolder: Sendable {
    /// The longest sides that are kept, in pixels.
    package static let steps = [150, 300, 600, 1_200]

    let path: String

    func step(_ longestSide: Int) -> CoverFolder { CoverFolder(path: "\(path)/\(longestSide)") }
    var all: [CoverFolder] { Self.steps.map(step) }

    /// The start of an image, a comment of 66 bytes and its length (ITU-T T.81, section B.2.4.5), and the rest.
    private static let (start, restOffset): ([UInt8], Int) = ([0xFF, 0xD8, 0xFF, 0xFE, 0, 66], 70)

    /// A JPEG with its comment. - Parameter rest: what follows the comment.
    fileprivate static func sealed(_ rest: ArraySlice<UInt8>, _ digest: Digest, _ longestSide: Int) -> [UInt8] {
        start + seal(rest, digest, longestSide) + rest
    }

    private static func seal(_ rest: ArraySlice<UInt8>, _ digest: Digest, _ longestSide: Int) -> [UInt8] {
        Array(Digest(of: Array("\(longestSide)/\(digest)".utf8) + rest).description.utf8)
    }

    /// - Returns: nil if there is no file, or not what was written, or it cannot be read: it is made again then.
    func read(_ digest: Digest, _ longestSide: Int) -> [UInt8]? {
        guard let found = try? CoverFolder.contents(of: step(longestSide).path(of: digest)),
            case let bytes = found.bytes, bytes.count > Self.restOffset,
            bytes[..<Self.restOffset]
                .elementsEqual(Self.start + Self.seal(bytes[Self.restOffset...], digest, longestSide))
        else { return nil }
        return bytes
    }

    /// Replaces a size's file. It is not synced.
    /// - Returns: how many bytes of blocks the sizes take more than before.
    func write(_ size: SmallCover) throws -> Int {
        let step = step(size.longestSide)
        let file = step.path(of: size.digest)
        for folder in [path, step.path, FilePath.directory(of: file)] { try OwnedPath.makeFolder(folder) }
        let former = Self.charge(file)
        let written = try size.bytes.withUnsafeBytes { try step.writeBeside($0, size.digest) }
        guard let temporary = written.temporary, try step.place(temporary, size.digest) else {
            throw CacheError.last("rename", file)
        }
        return written.charge - former
    }

    /// Bytes of the blocks of a cover's sizes.
    func charge(of digest: Digest) -> Int { all.reduce(0) { $0 + Self.charge($1.path(of: digest)) } }

    private static func charge(_ file: String) -> Int {
        max(AllocatedSpace.bytes(of: file), AllocatedSpace.length(of: file))
    }

    /// Unlinks the sizes that were made or read least recently, until all take at most `limit` bytes. The time of the last read is that of
    /// the file system, which is a day old at most, or none.
    /// - Returns: the bytes of the blocks of those that are left.
    func trim(to limit: Int = .max) -> Int {
        var files: [(path: String, time: Int, charge: Int)] = []
        for folder in folders() {
            for name in (try? CacheDirectory.names(in: folder)) ?? [] where Digest(name) != nil {
                let file = "\(folder)/\(name)"
                var status = stat()
                guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                let time = max(status.accessTime.tv_sec, status.modificationTime.tv_sec)
                files.append((file, Int(time), max(Int(status.st_blocks) * 512, Int(status.st_size))))
            }
        }
        var bytes = files.reduce(0) { $0 + $1.charge }
        if bytes <= limit { return bytes }
        for file in files.sorted(by: { $0.time < $1.time }) where bytes > limit && unlink(file.path) == 0 {
            bytes -= file.charge
        }
        return bytes
    }

    /// Unlinks a cover's sizes. Returns whether they are gone.
    func remove(_ digest: Digest) -> Bool { all.reduce(true) { $1.remove(digest) && $0 } }

    /// The paths of the folders that there are.
    func folders() -> [String] { all.flatMap(folders) }

    private func folders(of step: CoverFolder) -> [String] {
        [step.path] + ((try? step.folders()) ?? []).map { "\(step.path)/\($0)" }
    }

    func removeEmptyFolders() { for step in all { step.removeEmptyFolders() } }

    /// Calls `visit` for each damaged size with its cover and its path, and for a folder that cannot be read with its path and the error.
    /// - Parameter beforeEach: called before a size is read.
    func verify(
        _ visit: (Digest?, String, String) -> Void, beforeEach: () throws -> Void
    ) throws {
        for (side, folder) in Self.steps.flatMap({ side in folders(of: step(side)).map { (side, $0) } }) {
            let names: [String]
            do throws(CacheError) { names = try CacheDirectory.names(in: folder) } catch {
                visit(nil, folder, "\(error)")
                continue
            }
            for name in names {
                try beforeEach()
                let file = "\(folder)/\(name)"
                guard let digest = Digest(name), read(digest, side) == nil else { continue }
                // It may have been removed or made again since.
                if FileSystem.isFile(file), read(digest, side) == nil {
                    visit(digest, file, "a smaller size is damaged")
                }
            }
        }
    }
}
