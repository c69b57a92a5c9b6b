import Files
import Logging
package import Platform
import Synchronization

/// The pictures that a person gave as files, in a folder beside the library file:
///
///     pictures/abcdef….jpg    64 hexadecimal digits: the SHA-256 of its bytes
///
/// They exist nowhere else. A cache, which a person may empty, has copies. The library
/// names a picture by an address that no server can have (RFC 6761 section 6.4).
package struct OwnPictures: Sendable {
    private static let base = "https://covers.invalid/"
    /// How long a picture that no album has is kept, in seconds: a form may be open.
    private static let grace: Int64 = 86_400

    /// The path of the folder, which the first upload creates.
    package let path: String
    /// The digests of the pictures that this library was given, a line each. Other pictures in the folder are never removed.
    private let given: String

    package init(library: String) {
        path = FilePath.directory(of: FilePath.resolvingLinks(library)) + "/pictures"
        given = AlbumStore.stateDirectory(of: library) + "/pictures"
    }

    // MARK: Addresses

    package static func address(of digest: Digest) -> String { base + digest.description }

    /// Whether a URL is one that no server can have: that of a picture here, or of another cover that was given as a file.
    package static func isAddress(_ url: String) -> Bool { url.hasPrefix(base) }

    /// The digest of the picture that an address names; nil for every other URL.
    package static func digest(of url: String) -> Digest? {
        isAddress(url) ? Digest(String(url.dropFirst(base.count))) : nil
    }

    // MARK: Files

    /// A file for a picture that arrives. It is removed unless `keep` gives it its name.
    /// - Throws: `SystemError`.
    package func begin() throws(SystemError) -> PictureUpload {
        try OwnedPath.makeFolder(path)
        return PictureUpload(try NewFile(in: OpenFolder(path: path), mode: 0o600), of: self)
    }

    /// Notes that this library was given a picture. One that cannot be noted stays for good.
    fileprivate func note(_ digest: Digest) {
        let descriptor = OwnedPath.create(given, O_WRONLY | O_APPEND | O_NOFOLLOW)
        if descriptor < 0 { return }
        Array("\(digest)\n".utf8).withUnsafeBytes { _ = writeAll($0, to: descriptor) }
        close(descriptor)
    }

    /// The bytes of a picture; nil if there is no such file, or if it has others.
    /// - Throws: `SystemError`.
    package func contents(of digest: Digest) throws(SystemError) -> [UInt8]? {
        let folder: OpenFolder
        do throws(SystemError) {
            folder = try OpenFolder(path: path)
        } catch {
            if error.cause == .missing { return nil }
            throw error
        }
        let prefix = Array("\(digest).".utf8)
        for name in try folder.names() where name.bytes.starts(with: prefix) {
            let bytes = try folder.file(name).contents()
            if Digest(of: bytes) == digest { return bytes }
        }
        return nil
    }

    /// Removes pictures that this library was given and no album has ever had, and what killed processes left. Pictures of the last day stay, and
    /// all of them if there is another library beside this one.
    /// - Parameters:
    ///   - used: The digests that the library or its history names.
    ///   - state: The library's state directory.
    ///   - now: In seconds since 1970.
    func removeUnused(_ used: Set<String>, state: String, now: Int64) throws(SystemError) {
        let folder = try OpenFolder(path: path)
        folder.sweep()
        let beside = try OpenFolder(path: FilePath.directory(of: path))
        let isShared = try beside.names().contains { name in
            name.bytes.suffix(6).elementsEqual(".state".utf8) && beside.path(of: name) != state
        }
        if isShared { return }
        let given = (try? String(contentsOfFile: given, encoding: .utf8)) ?? ""
        let unused = Set(given.split(separator: "\n").map(String.init)).subtracting(used)
        for name in try folder.names() where unused.contains(String(name.description.prefix { $0 != "." })) {
            guard let status = try folder.status(of: name),
                Int64(status.modificationTime.tv_sec) + Self.grace < now
            else { continue }
            try folder.remove(name)
        }
    }
}

/// A picture that arrives in pieces, which are written as they come.
package final class PictureUpload: Sendable {
    private struct State {
        let file: NewFile
        var hasher = SHA256()
    }

    private let state: Mutex<State>
    private let pictures: OwnPictures

    fileprivate init(_ file: sending NewFile, of pictures: OwnPictures) {
        state = Mutex(State(file: file))
        self.pictures = pictures
    }

    /// - Throws: `SystemError`.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in
            bytes.withUnsafeBytes { state.hasher.update($0) }
            try state.file.write(bytes)
        }
    }

    /// The address of what has arrived. It is no album's cover before an edit says so.
    package var address: String { OwnPictures.address(of: digest) }

    private var digest: Digest { state.withLock { $0.hasher.digest() } }

    /// - Throws: `SystemError`.
    package func contents() throws(SystemError) -> [UInt8] {
        try state.withLock { (state) throws(SystemError) in try state.file.source().contents() }
    }

    /// Gives the picture its name. Returns once it would survive power loss.
    /// - Throws: `SystemError`.
    package func keep(mediaType: String) throws(SystemError) {
        try state.withLock { (state) throws(SystemError) in
            let type = PictureType.fileExtension(mediaType)
            guard let name = FileName("\(state.hasher.digest()).\(type)") else {
                throw SystemError("write", path: state.file.folder.path, number: EINVAL)
            }
            try state.file.sync()
            // A file of this name has the same bytes, unless it is damaged.
            try state.file.commit(as: name, replacing: true)
            try state.file.folder.sync()
        }
        pictures.note(digest)
    }
}

/// The extensions of pictures' files.
package enum PictureType {
    private static let extensions: [(mediaType: String, names: [String])] = [
        ("image/jpeg", ["jpg", "jpeg"]), ("image/png", ["png"]), ("image/webp", ["webp"]), ("image/gif", ["gif"]),
        ("image/avif", ["avif"]), ("image/jxl", ["jxl"]), ("image/bmp", ["bmp"]), ("image/tiff", ["tif", "tiff"]),
        ("image/heic", ["heic"]), ("image/heif", ["heif"]), ("image/svg+xml", ["svg"]),
    ]

    /// The extension of a media type such as `image/jpeg`, without a dot.
    package static func fileExtension(_ mediaType: String) -> String {
        extensions.first { $0.mediaType == mediaType }?.names[0] ?? "img"
    }

    /// The media type of an extension in lower case; nil if it is no picture's.
    package static func mediaType(extension name: String) -> String? {
        extensions.first { $0.names.contains(name) }?.mediaType
    }
}

extension AlbumStore {
    /// Removes pictures that no album has ever had. A failure is logged: the next start tries again.
    /// - Parameter now: In seconds since 1970.
    package func removeUnusedPictures(now: Int64 = WallClock.milliseconds() / 1_000) {
        guard let pictures, access(pictures.path, F_OK) == 0 else { return }
        do throws(LibraryError) {
            try perform {
                let state = try file.openState()
                try state.lock.withLock {
                    try pictures.removeUnused(namedDigests(state), state: state.path, now: now)
                }
            }
        } catch {
            logger.warning("unused pictures stay in \(pictures.path): \(error)")
        }
    }

    /// Each SHA-256 digest that the library, its copies or its whole history name, in hexadecimal. Call it with the lock held.
    private func namedDigests(_ state: StateDirectory) throws -> Set<String> {
        var digests = Self.digests(in: AlbumFile.text(of: try file.readOrRepair(state)))
        try state.journal.everyText { digests.formUnion(Self.digests(in: $0.utf8)) }
        for name in try FileManager.default.contentsOfDirectory(atPath: state.path) where name.hasSuffix(".json") {
            let path = "\(state.path)/\(name)"
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw SystemError("read", path: path)
            }
            digests.formUnion(Self.digests(in: bytes))
        }
        return digests
    }

    /// The runs of exactly 64 hexadecimal digits in lower case.
    private static func digests(in text: some Sequence<UInt8>) -> Set<String> {
        var digests: Set<String> = []
        var run: [UInt8] = []
        func end() {
            if run.count == 64 { digests.insert(String(decoding: run, as: UTF8.self)) }
            run.removeAll(keepingCapacity: true)
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): run.append(byte)
            default: end()
            }
        }
        end()
        return digests
    }
}
