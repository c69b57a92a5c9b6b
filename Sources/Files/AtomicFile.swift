package import Platform

/// Replaces a file atomically: readers find the old bytes or the new ones, also after power loss.
package struct AtomicFile {
    /// The file to replace. A symbolic link is followed and stays a link.
    package let path: String
    private let name: FileName
    private let file: NewFile
    /// The file to replace as it was at first; nil if there was none.
    private let former: stat?

    /// Creates a temporary file beside `path` for the new bytes, with the owner, the permissions and the extended attributes of the file
    /// to replace, as far as this user may give them. It is deleted unless `replace` runs.
    /// - Parameters:
    ///   - sweeps: First removes what killed processes left in the directory. For directories of few files.
    ///   - mode: The permissions if there is no file yet.
    /// - Throws: `SystemError`.
    package init(replacing path: String, sweeps: Bool = false, mode: mode_t = 0o644) throws(SystemError) {
        let path = FilePath.resolvingLinks(path)
        guard let name = FileName(path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed()) else {
            throw SystemError("write", path: path, number: EISDIR)
        }
        var status = stat()
        let exists = stat(path, &status) == 0
        // rename(2) needs no permission to write the file itself. A read-only file is left alone deliberately.
        if exists, access(path, W_OK) != 0 { throw SystemError("write", path: path) }
        file = try Self.naming(path) { () throws(SystemError) in
            let folder = try OpenFolder(path: FilePath.directory(of: path))
            if sweeps { folder.sweep() }
            return try NewFile(in: folder, mode: mode)
        }
        (self.path, self.name, former) = (path, name, exists ? status : nil)
        guard exists else { return }
        do throws(SystemError) {
            try file.copyAttributes(of: SourceFile(path: path))
        } catch {
            file.setOwner(status.st_uid, status.st_gid, mode: status.st_mode)
        }
    }

    /// Writes and syncs all new bytes to the temporary file.
    /// - Throws: `SystemError`.
    package init(
        _ bytes: [UInt8], replacing path: String, sweeps: Bool = false, mode: mode_t = 0o644
    ) throws(SystemError) {
        try self.init(replacing: path, sweeps: sweeps, mode: mode)
        try append(bytes)
        try sync()
    }

    /// Errors name the file, not the temporary one.
    private static func naming<Value>(
        _ path: String, _ body: () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        do throws(SystemError) { return try body() } catch {
            throw SystemError("write", path: path, number: error.number)
        }
    }

    /// Writes the next of the new bytes.
    /// - Throws: `SystemError`.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try Self.naming(path) { () throws(SystemError) in try file.write(bytes) }
    }

    /// Returns once the new bytes would survive power loss.
    /// - Throws: `SystemError`.
    package func sync() throws(SystemError) { try Self.naming(path) { () throws(SystemError) in try file.sync() } }

    /// Renames the temporary file to `path` and syncs the directory. Call `sync` before, unless `init` was given all bytes.
    /// - Parameter unchanged: Only if the file is still what it was when this object was made; else it stays, also if it changes in the
    ///   moment of renaming, and the error is `ESTALE`.
    /// - Throws: `SystemError`; the old file is still there then.
    package func replace(ifUnchanged unchanged: Bool = false) throws(SystemError) {
        try Self.naming(path) { () throws(SystemError) in
            if unchanged { try exchange() } else { try file.commit(as: name, replacing: true) }
        }
        // The new file is in place, whether its name is durable or not.
        try? file.folder.sync()
    }

    private func exchange() throws(SystemError) {
        let (folder, stale) = (file.folder, SystemError("write", path: path, number: ESTALE))
        guard let former else {
            do throws(SystemError) { return try file.commit(as: name) } catch {
                throw error.cause == .exists ? stale : error
            }
        }
        func isFormer(_ name: FileName) -> Bool {
            guard let found = (try? folder.status(of: name)) ?? nil else { return false }
            let (time, before) = (found.modificationTime, former.modificationTime)
            return found.st_ino == former.st_ino && found.st_size == former.st_size && time.tv_sec == before.tv_sec
                && time.tv_nsec == before.tv_nsec
        }
        guard isFormer(name) else { throw stale }
        let hidden = Step.hiddenName()
        try file.hide(as: hidden)
        let error = folder.exchange(hidden, name)
        if NameChange.isUnsupported(error) {
            let error = folder.rename(hidden, to: name)
            if error != 0 { throw SystemError("write", path: path, number: error) }
            return
        }
        let isReplaced = error == 0 && isFormer(hidden)
        if error == 0, !isReplaced {
            // A person has saved it in this moment.
            let own = try file.status().st_ino
            let error = folder.exchange(hidden, name)
            let found = try folder.status(of: hidden)
            if error == ENOENT || found?.st_ino != own {
                _ = folder.putBack(hidden, as: name)
                throw stale
            }
        }
        _ = folder.unlink(hidden)
        if isReplaced { return }
        throw error == 0 || error == ENOENT ? stale : SystemError("write", path: path, number: error)
    }

    /// Overwrites the file, for one that rename(2) cannot replace, such as a file that is mounted into a container (EBUSY).
    ///
    /// It is not atomic: a crash may leave a mix of old and new bytes, so keep a copy of the old ones. A full disk changes
    /// nothing, because the bytes beyond the old end are written first.
    /// - Throws: `SystemError`.
    package static func overwrite(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError("write", path: path) }
        defer { close(file) }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size >= 0 else { throw SystemError("write", path: path) }
        let isWritten = bytes.withUnsafeBytes { bytes in
            writeAll(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(size)), to: file)
        }
        guard isWritten else {
            let error = SystemError("write", path: path)
            ftruncate(file, off_t(size))
            throw error
        }
        guard lseek(file, 0, SEEK_SET) == 0,
            bytes.withUnsafeBytes({ writeAll(UnsafeRawBufferPointer(rebasing: $0.prefix(size)), to: file) }),
            ftruncate(file, off_t(bytes.count)) == 0, fsync(file) == 0
        else { throw SystemError("write", path: path) }
    }
}
