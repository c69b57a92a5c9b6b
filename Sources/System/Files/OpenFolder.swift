package import Platform

#if os(Linux)
    import CFiles
#endif

/// An open folder, in which files are found and created by their names. It stays the same folder if its path is renamed or replaced by a
/// symbolic link meanwhile, and its path may be in any encoding.
package final class OpenFolder: Sendable {
    let descriptor: Int32
    /// The path, for messages. Bytes that are no UTF-8 are U+FFFD.
    package let path: String
    /// Its bytes.
    let pathBytes: [UInt8]
    /// Called before names change; see `NameChange`.
    let intercept: NameChange.Interceptor?

    /// Opens a folder; a symbolic link to one is followed.
    /// - Throws: `SystemError`.
    package convenience init(path: String) throws(SystemError) { try self.init(path: Array(path.utf8)) }

    package convenience init(path: [UInt8]) throws(SystemError) { try self.init(path: path, intercept: nil) }

    convenience init(path: [UInt8], intercept: NameChange.Interceptor?) throws(SystemError) {
        var descriptor = FileName.withCString(path) { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        #if os(Linux)
            // Files can be created in a folder that this user may not read.
            if descriptor < 0, errno == EACCES {
                descriptor = FileName.withCString(path) { open($0, sleeve_path_only | O_DIRECTORY | O_CLOEXEC) }
            }
        #endif
        try self.init(descriptor: descriptor, path: path, intercept)
    }

    private init(
        descriptor: Int32, path: [UInt8], _ intercept: NameChange.Interceptor?
    ) throws(SystemError) {
        (self.descriptor, pathBytes, self.intercept) = (descriptor, path, intercept)
        self.path = String(decoding: path, as: UTF8.self)
        if descriptor < 0 { throw SystemError("open", path: self.path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func path(of name: FileName) -> String { path.hasSuffix("/") ? "\(path)\(name)" : "\(path)/\(name)" }

    /// Opens a folder in this one. A symbolic link is refused: it may lead elsewhere.
    /// - Throws: `SystemError`.
    package func folder(_ name: FileName) throws(SystemError) -> OpenFolder {
        let found = name.withCString { openat(descriptor, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        let separator = pathBytes.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        return try OpenFolder(descriptor: found, path: pathBytes + separator + name.bytes, intercept)
    }

    /// Creates a folder.
    /// - Returns: false if there is something of this name.
    /// - Throws: `SystemError`.
    package func makeFolder(_ name: FileName, mode: mode_t = 0o777) throws(SystemError) -> Bool {
        if name.withCString({ mkdirat(descriptor, $0, mode) }) == 0 {
            if OwnedPath.isSuperuser { OwnedPath.give(try folder(name).descriptor, in: descriptor) }
            return true
        }
        guard errno == EEXIST else { throw SystemError("create", path: path(of: name)) }
        return false
    }

    /// The status of a file, a folder or a symbolic link itself; nil if there is none.
    /// - Parameter followsLinks: That of what a symbolic link leads to.
    /// - Throws: `SystemError`.
    package func status(of name: FileName, followingLinks followsLinks: Bool = false) throws(SystemError) -> stat? {
        try status(at: [name], followingLinks: followsLinks)
    }

    /// The same for a path of names. Symbolic links among the folders are followed.
    /// - Throws: `SystemError`.
    package func status(at names: [FileName], followingLinks followsLinks: Bool = false) throws(SystemError) -> stat? {
        let path = Array(names.map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
        var status = stat()
        let flags = followsLinks ? 0 : AT_SYMLINK_NOFOLLOW
        if FileName.withCString(path, { fstatat(descriptor, $0, &status, flags) }) == 0 { return status }
        guard errno == ENOENT else {
            throw SystemError("open", path: self.path + "/" + String(decoding: path, as: UTF8.self))
        }
        return nil
    }

    /// Opens a file for reading. A symbolic link is refused.
    /// - Throws: `SystemError`.
    package func file(_ name: FileName) throws(SystemError) -> SourceFile {
        let found = name.withCString { openat(descriptor, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        return try SourceFile(descriptor: found, path: path(of: name))
    }

    /// Appends bytes to a file, which is created if it is missing. Returns once they would survive power loss.
    /// - Throws: `SystemError`.
    package func append(_ bytes: [UInt8], to name: FileName) throws(SystemError) {
        let file = name.withCString {
            openat(descriptor, $0, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o666)
        }
        guard file >= 0 else { throw SystemError("write", path: path(of: name)) }
        defer { close(file) }
        OwnedPath.give(file, in: descriptor)
        guard bytes.withUnsafeBytes({ writeAll($0, to: file) }), DurableFile.sync(file) else {
            throw SystemError("write", path: path(of: name))
        }
    }

    /// Locks the folder until this object is released (`flock(2)`). Nothing else respects the lock.
    /// - Returns: false if another process, or another object, has locked it. True where folders cannot be locked.
    package func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK }

    /// Whether the folder is immutable or append-only (chattr(1)): names in it cannot change.
    package var isProtected: Bool {
        #if os(Linux)
            var flags: UInt = 0
            return sleeve_get_flags(descriptor, &flags) == 0
                && flags & UInt(sleeve_immutable | sleeve_append_only) != 0
        #else
            return false
        #endif
    }

    /// Names the folder's file system; see `FileSystem.identity`.
    package var disk: String { FileSystem.identity(descriptor) }

    /// Removes a file or a symbolic link of Sleeve's. What a person may have changed is removed by `OwnFile`.
    /// - Throws: `SystemError`.
    package func remove(_ name: FileName) throws(SystemError) {
        guard name.withCString({ unlinkat(descriptor, $0, 0) }) == 0 else {
            throw SystemError("remove", path: path(of: name))
        }
    }

    /// Removes a folder if it is empty. - Returns: whether it is gone.
    @discardableResult
    package func removeEmptyFolder(_ name: FileName) -> Bool {
        name.withCString { unlinkat(descriptor, $0, AT_REMOVEDIR) } == 0 || errno == ENOENT
    }

    /// The names in the folder, in no order.
    /// - Throws: `SystemError`.
    package func names() throws(SystemError) -> [FileName] {
        // A descriptor of its own: `closedir` closes it, and it has its own position.
        let own = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard own >= 0 else { throw SystemError("read", path: path) }
        guard let listing = fdopendir(own) else {
            let error = SystemError("read", path: path)
            close(own)
            throw error
        }
        defer { closedir(listing) }
        var names: [FileName] = []
        while let item = readdir(listing) {
            if let name = withUnsafeBytes(of: item.pointee.d_name, { FileName($0.prefix { $0 != 0 }) }) {
                names.append(name)
            }
        }
        return names
    }

    /// Syncs the folder, so that files created in it and removed from it stay so after power loss.
    /// - Throws: `SystemError`.
    package func sync() throws(SystemError) {
        guard DurableFile.syncDirectory(descriptor) else { throw SystemError("sync", path: path) }
    }

    /// Removes the temporary files of `NewFile` whose processes were killed.
    /// - Returns: how many.
    @discardableResult
    package func sweep() -> Int {
        ((try? names()) ?? []).filter(NewFile.isTemporary).count { removeLeftover($0) }
    }

    /// Removes a temporary file unless a process that writes it keeps it locked. The lock is held until the file is gone, so that a process
    /// that has just created it notices.
    private func removeLeftover(_ name: FileName) -> Bool {
        let file = name.withCString { openat(descriptor, $0, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
        guard file >= 0 else { return false }
        defer { close(file) }
        if flock(file, LOCK_EX | LOCK_NB) != 0 {
            // Where files cannot be locked, an hour is longer than any copy takes.
            var status = stat()
            guard errno != EWOULDBLOCK, fstat(file, &status) == 0,
                Int64(status.modificationTime.tv_sec) < Int64(time(nil)) - 3_600
            else { return false }
        }
        return (try? remove(name)) != nil
    }
}

/// The name of a file or folder in its folder: bytes, as the file system has them, in any encoding. It has no slash, so it cannot lead
/// out of the folder.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Returns nil if no file can have this name: it is empty, `.` or `..`, or has a slash or a NUL.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes != [dot], bytes != [dot, dot], !bytes.contains(UInt8(ascii: "/")),
            !bytes.contains(0)
        else { return nil }
        self.bytes = bytes
    }

    package init?(_ text: String) { self.init(text.utf8) }

    /// The name as text. Bytes that are no UTF-8 are U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }

    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result { Self.withCString(bytes, body) }

    static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
        }
    }
}

/// A change of names in a folder, for tests: file systems lack some of them, and other programs act between them.
enum NameChange: Sendable, Hashable {
    /// rename(2), which replaces a file of the new name.
    case rename
    /// A rename that replaces nothing, and one that exchanges two files.
    case exclusive, exchange
    case link, unlink

    /// Called before a change. A number other than 0 is the `errno` with which it fails.
    typealias Interceptor = @Sendable (_ change: NameChange, _ from: FileName, _ to: FileName) -> Int32

    /// Whether an error says that the file system does not have the call, or that a sandbox does not know it (EPERM): another way is tried,
    /// whose error counts.
    static func isUnsupported(_ error: Int32) -> Bool { [EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM].contains(error) }
}

/// Each function returns 0 or `errno`.
extension OpenFolder {
    private func perform(
        _ change: NameChange, _ from: FileName, _ to: FileName,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) -> Int32 {
        if let error = intercept?(change, from, to), error != 0 { return error }
        return from.withCString { from in to.withCString { call(from, $0) == 0 ? 0 : errno } }
    }

    /// Renames a file, and replaces a file of the new name.
    func rename(_ old: FileName, to new: FileName) -> Int32 {
        perform(.rename, old, new) { renameat(descriptor, $0, descriptor, $1) }
    }

    /// Exchanges two files, atomically.
    func exchange(_ one: FileName, _ other: FileName) -> Int32 {
        perform(.exchange, one, other) { one, other in
            #if os(Linux)
                sleeve_rename_exchanging(descriptor, one, descriptor, other)
            #else
                renameatx_np(descriptor, one, descriptor, other, UInt32(RENAME_SWAP))
            #endif
        }
    }

    func unlink(_ name: FileName) -> Int32 {
        perform(.unlink, name, name) { name, _ in unlinkat(descriptor, name, 0) }
    }

    /// Renames a file that no other program uses. Returns `EEXIST` if the new name is taken.
    func moveExclusively(_ old: FileName, to new: FileName) -> Int32 {
        var error = perform(.exclusive, old, new) { old, new in
            #if os(Linux)
                sleeve_rename_exclusively(descriptor, old, descriptor, new)
            #else
                renameatx_np(descriptor, old, descriptor, new, UInt32(RENAME_EXCL))
            #endif
        }
        guard NameChange.isUnsupported(error) else { return error }
        // NFS, 9p. A crash between the two leaves both names.
        error = perform(.link, old, new) { linkat(descriptor, $0, descriptor, $1, 0) }
        if error == 0 {
            _ = unlink(old)
            return 0
        }
        guard NameChange.isUnsupported(error) || error == EMLINK else { return error }
        return copyExclusively(old, to: new)
    }

    /// The same where there are no links either (FAT of other systems, FUSE): the new name is created, and filled.
    private func copyExclusively(_ old: FileName, to new: FileName) -> Int32 {
        do throws(SystemError) {
            let source = try file(old)
            let target = new.withCString {
                openat(
                    descriptor, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, source.status.st_mode & 0o777)
            }
            guard target >= 0 else { return errno }
            defer { close(target) }
            OwnedPath.give(target, in: descriptor)
            do throws(SystemError) {
                try source.read { (bytes) throws(SystemError) in
                    guard writeAll(bytes, to: target) else { throw SystemError("write", path: path(of: new)) }
                    return true
                }
                guard DurableFile.sync(target) else {
                    throw SystemError("write", path: path(of: new))
                }
            } catch {
                _ = unlink(new)
                throw error
            }
        } catch {
            return error.number
        }
        return unlink(old)
    }
}
