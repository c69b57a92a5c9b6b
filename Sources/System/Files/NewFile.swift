package import Platform
import Synchronization

#if os(Linux)
    import CFiles
#endif

/// A file that appears in a folder, complete, when it is committed. Until then it has a temporary name that begins with a dot, which
/// media servers ignore.
///
/// It never replaces a file unless told to. `OwnFile` replaces files of people.
/// A killed process leaves the temporary file, which `OpenFolder.sweep` removes.
///
///     let file = try NewFile(in: folder)
///     try file.copy(source)
///     try file.sync()
///     try file.commit(as: name)
///     try folder.sync()            // once for all files in the folder
package final class NewFile {
    package let folder: OpenFolder
    package private(set) var temporary: FileName
    private(set) var descriptor: Int32
    /// Whether the file stays when this object is gone.
    private var isCommitted: Bool

    private static let serial = Atomic(0)
    private static let (prefix, suffix) = (".sleeve-", ".part")

    /// A name that no other file of this process has.
    /// - Parameter type: An extension, which comes before the name's own.
    static func temporaryName(_ type: String = "") -> FileName {
        let number = serial.wrappingAdd(1, ordering: .relaxed).newValue
        return FileName("\(prefix)\(getpid())-\(number)\(type.isEmpty ? "" : ".")\(type)\(suffix)")!
    }

    /// The name that tells a file's type: that of a temporary file without its last extension, other names as they are.
    package static func typedName(_ name: [UInt8]) -> [UInt8] {
        FileName(name).map(isTemporary) == true ? name.dropLast(suffix.utf8.count) : name
    }

    /// Whether a name is one of a temporary file.
    package static func isTemporary(_ name: FileName) -> Bool {
        name.bytes.starts(with: prefix.utf8) && name.bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }

    /// Creates an empty temporary file.
    /// - Parameters:
    ///   - mode: the permissions, less the process's umask.
    ///   - type: the extension that the file will have, for programs that read the temporary one; no slash.
    /// - Throws: `SystemError`.
    package init(in folder: OpenFolder, mode: mode_t = 0o666, type: String = "") throws(SystemError) {
        self.folder = folder
        // A file in an append-only folder could be neither renamed nor removed.
        if folder.isProtected { throw SystemError("write", path: folder.path, number: EPERM) }
        while true {
            let name = Self.temporaryName(type)
            let file = name.withCString {
                openat(folder.descriptor, $0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            }
            // A leftover, or the file of a process of another container with the same number.
            if file < 0, errno == EEXIST { continue }
            guard file >= 0 else { throw SystemError("write", path: folder.path) }
            OwnedPath.give(file, in: folder.descriptor)
            if Self.isKept(file) {
                (temporary, descriptor, isCommitted) = (name, file, false)
                return
            }
            close(file)
        }
    }

    /// Opens and empties the file of another process's `NewFile`. It is the other process that commits or removes it.
    /// - Throws: `SystemError`.
    package init(sharing name: FileName, in folder: OpenFolder) throws(SystemError) {
        let file = name.withCString { openat(folder.descriptor, $0, O_RDWR | O_TRUNC | O_NOFOLLOW | O_CLOEXEC) }
        guard file >= 0 else { throw SystemError("write", path: folder.path(of: name)) }
        (self.folder, temporary, descriptor, isCommitted) = (folder, name, file, true)
    }

    /// Locks a new file for `sweep`; false if one has taken it for a leftover in between.
    private static func isKept(_ file: Int32) -> Bool {
        if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
        var status = stat()
        return fstat(file, &status) == 0 && status.st_nlink > 0
    }

    deinit {
        close(descriptor)
        if !isCommitted { temporary.withCString { _ = unlinkat(folder.descriptor, $0, 0) } }
    }

    /// Appends bytes.
    /// - Throws: `SystemError`.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        guard bytes.withUnsafeBytes({ writeAll($0, to: descriptor) }) else {
            throw SystemError("write", path: folder.path)
        }
    }

    /// The bytes written so far, for reading. They stay readable when this object is released.
    /// - Throws: `SystemError`.
    package func source() throws(SystemError) -> SourceFile {
        try SourceFile(descriptor: fcntl(descriptor, F_DUPFD_CLOEXEC, 0), path: folder.path(of: temporary))
    }

    /// Takes over the bytes of another file: its blocks, where the file system can share them, else a copy.
    /// - Throws: `SystemError`; `EIO` if the file has another length than when it was opened.
    package func copy(_ source: borrowing SourceFile) throws(SystemError) {
        if !clone(source) {
            let folder = folder.path
            try source.read { [descriptor] (bytes) throws(SystemError) in
                guard writeAll(bytes, to: descriptor) else { throw SystemError("write", path: folder) }
                return true
            }
        }
        guard try status().st_size == source.status.st_size else {
            throw SystemError("read", path: source.path, number: EIO)
        }
    }

    private func clone(_ source: borrowing SourceFile) -> Bool {
        #if os(Linux)
            return sleeve_clone(descriptor, source.descriptor) == 0
        #else
            // macOS clones only into a new file, which takes the place of the empty one: another process would not find it.
            if isCommitted { return false }
            let name = Self.temporaryName()
            guard name.withCString({ fclonefileat(source.descriptor, folder.descriptor, $0, 0) }) == 0 else {
                return false
            }
            let file = name.withCString { openat(folder.descriptor, $0, O_RDWR | O_NOFOLLOW | O_CLOEXEC) }
            var status = stat()
            guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0,
                fchmod(file, status.st_mode & 0o7777) == 0, futimens(file, nil) == 0
            else {
                if file >= 0 { close(file) }
                name.withCString { _ = unlinkat(folder.descriptor, $0, 0) }
                return false
            }
            temporary.withCString { _ = unlinkat(folder.descriptor, $0, 0) }
            close(descriptor)
            (temporary, descriptor) = (name, file)
            return true
        #endif
    }

    /// Gives the file to an owner, with permissions. Only the superuser may give files away; a member of a group may give them to it.
    /// - Returns: whether modes can be set. Some file systems of other machines have their own.
    @discardableResult
    package func setOwner(_ user: uid_t, _ group: gid_t, mode: mode_t) -> Bool {
        // Changing the owner clears mode bits (chown(2)), so the mode comes last.
        if fchown(descriptor, user, group) != 0 { _ = fchown(descriptor, uid_t.max, group) }
        return fchmod(descriptor, mode & 0o7777) == 0
    }

    /// The file's status. Its modification time stays when it is committed.
    /// - Throws: `SystemError`.
    package func status() throws(SystemError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("write", path: folder.path) }
        return status
    }

    /// Returns once the bytes would survive power loss. Call it before `commit`, or `sync(_:)` for a group of files.
    /// - Throws: `SystemError`. Some file systems report a full disk or quota only here.
    package func sync() throws(SystemError) {
        guard DurableFile.sync(descriptor) else { throw SystemError("write", path: folder.path) }
    }

    /// Syncs several files of one file system together, which takes little longer than one.
    /// - Throws: `SystemError`.
    package static func sync(_ files: [NewFile]) throws(SystemError) {
        #if os(Linux)
            if files.count > 1 { return try files[0].syncFileSystem() }
        #endif
        for file in files { try file.sync() }
    }

    /// Syncs the file's whole file system, names included, where the system can; else the file.
    /// - Throws: `SystemError`.
    package func syncFileSystem() throws(SystemError) {
        guard DurableFile.syncFileSystem(descriptor) else { throw SystemError("sync", path: folder.path) }
    }

    /// Gives the file its name. The folder's `sync` makes the name durable.
    /// - Parameter replaces: Replaces the file of this name atomically. The caller has made sure that it is its own.
    /// - Throws: `SystemError`, with the cause `exists` if there is a file of this name.
    package func commit(as name: FileName, replacing replaces: Bool = false) throws(SystemError) {
        let error = replaces ? folder.rename(temporary, to: name) : folder.moveExclusively(temporary, to: name)
        guard error == 0 else { throw SystemError("write", path: folder.path(of: name), number: error) }
        isCommitted = true
    }

    /// Gives the file a name that no sweep removes, and which the caller has written down.
    func hide(as name: FileName) throws(SystemError) {
        let error = folder.rename(temporary, to: name)
        guard error == 0 else { throw SystemError("write", path: folder.path(of: name), number: error) }
        (temporary, isCommitted) = (name, true)
    }
}

/// Copies of files that differ in a few places.
extension NewFile {
    /// Bytes that take the place of others.
    package struct Splice: Sendable, Hashable {
        /// Where they are in the original.
        package var range: Range<Int>
        package var bytes: [UInt8]

        package init(_ range: Range<Int>, _ bytes: [UInt8]) { (self.range, self.bytes) = (range, bytes) }
    }

    /// Takes over the bytes of another file with changes: a reflink with some blocks of its own if no byte moves, else a copy.
    /// - Parameter splices: In the order of their ranges, which do not overlap.
    /// - Throws: `SystemError`.
    package func copy(_ source: borrowing SourceFile, with splices: [Splice]) throws(SystemError) {
        if splices.allSatisfy({ $0.range.count == $0.bytes.count }) {
            try copy(source)
            for splice in splices { try overwrite(splice.bytes, at: splice.range.lowerBound) }
            return
        }
        var offset = 0
        for splice in splices {
            try copy(source, offset..<splice.range.lowerBound)
            try write(splice.bytes)
            offset = splice.range.upperBound
        }
        try copy(source, offset..<source.length)
    }

    private func copy(_ source: borrowing SourceFile, _ range: Range<Int>) throws(SystemError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            let bytes = try source.bytes(at: offset, count: min(1 << 20, range.upperBound - offset))
            // It is shorter than when it was opened.
            if bytes.isEmpty { throw SystemError("read", path: source.path, number: EIO) }
            try write(bytes)
            offset += bytes.count
        }
    }

    private func overwrite(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(offset + written))
            }
            if count >= 0 { written += count } else if errno != EINTR { throw SystemError("write", path: folder.path) }
        }
    }

    /// Takes over the owner, the permissions, the access control list and the `user.` attributes of another file. Labels that the system
    /// gives, such as SELinux's, and the capabilities of programs are not taken over.
    /// - Throws: `SystemError`; `EPERM` if this user may not give a file to the owner.
    package func copyAttributes(of source: borrowing SourceFile) throws(SystemError) {
        let wanted = source.status
        let hasModes = setOwner(wanted.st_uid, wanted.st_gid, mode: wanted.st_mode)
        #if os(Linux)
            try copyExtendedAttributes(of: source)
        #else
            guard fcopyfile(source.descriptor, descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) == 0
            else { throw SystemError("write", path: folder.path) }
        #endif
        let status = try status()
        guard status.st_uid == wanted.st_uid, status.st_gid == wanted.st_gid,
            !hasModes || status.st_mode == wanted.st_mode
        else { throw SystemError("chown", path: folder.path, number: EPERM) }
    }

    #if os(Linux)
        private static let accessList = "system.posix_acl_access"

        private func copyExtendedAttributes(of source: borrowing SourceFile) throws(SystemError) {
            let names = source.extendedAttributeNames()
            // The folder may give its own list to new files.
            if !names.contains(Self.accessList) { _ = fremovexattr(descriptor, Self.accessList) }
            for name in names
            where name.hasPrefix("user.") || name == Self.accessList || name == "system.nfs4_acl" {
                guard let value = source.extendedAttribute(name) else { continue }
                guard fsetxattr(descriptor, name, value, value.count, 0) == 0 else {
                    throw SystemError("write", path: folder.path)
                }
            }
        }
    #endif
}

#if os(Linux)
    extension SourceFile {
        /// The largest list of names, and the largest value (xattr(7)).
        private static let maximumLength = 64 << 10

        fileprivate func extendedAttributeNames() -> [String] {
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumLength) { buffer, count in
                buffer.withMemoryRebound(to: CChar.self) {
                    count = max(0, flistxattr(descriptor, $0.baseAddress, $0.count))
                }
            }
            return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        }

        fileprivate func extendedAttribute(_ name: String) -> [UInt8]? {
            var size = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.maximumLength) { buffer, count in
                size = fgetxattr(descriptor, name, buffer.baseAddress, buffer.count)
                count = max(0, size)
            }
            return size < 0 ? nil : bytes
        }
    }
#endif
