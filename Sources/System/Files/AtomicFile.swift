package import Platform

/// Replaces a file atomically: readers find the old bytes or the new ones, also after power loss.
package struct AtomicFile {
    /// The file to replace. A symbolic link is followed and stays a link.
    package let path: String
    private let name: FileName
    private let file: NewFile
    /// Whether the file is replaced only as it was at first, and its digest then; nil if there was none.
    private let looks: Bool
    private let former: Digest?
    private let journal: StepJournal?

    /// Creates a temporary file beside `path` for the new bytes, with the owner, the permissions and the extended attributes of the file
    /// to replace, as far as this user may give them. It is deleted unless `replace` runs.
    /// - Parameters:
    ///   - sweeps: First removes what killed processes left in the directory. For directories of few files.
    ///   - mode: The permissions if there is no file yet.
    ///   - looks: Another program may save the file, too: it is replaced only as it is now.
    ///   - journal: Where the replacement of such a file is written down.
    /// - Throws: `SystemError`.
    package init(
        replacing path: String, sweeps: Bool = false, mode: mode_t = 0o644, looks: Bool = false,
        journal: StepJournal? = nil
    ) throws(SystemError) {
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
            // The mode of the old file from the first: some file systems refuse to change it.
            return try NewFile(in: folder, mode: exists ? status.st_mode & 0o777 : mode)
        }
        (self.path, self.name, self.looks, self.journal) = (path, name, looks, journal)
        former = looks ? try OwnFile(name, in: file.folder, nil).digest() : nil
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
        _ bytes: [UInt8], replacing path: String, sweeps: Bool = false, mode: mode_t = 0o644, looks: Bool = false,
        journal: StepJournal? = nil
    ) throws(SystemError) {
        try self.init(replacing: path, sweeps: sweeps, mode: mode, looks: looks, journal: journal)
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
    /// - Throws: `SystemError`; the old file is still there then. `ESTALE` if it changed, and `ETXTBSY` if a program has it open for
    ///   writing, of a file that is looked at.
    package func replace() throws(SystemError) {
        try Self.naming(path) { () throws(SystemError) in
            if looks { try replaceFormer() } else { try file.commit(as: name, replacing: true) }
        }
        // The new file is in place, whether its name is durable or not.
        try? file.folder.sync()
    }

    private func replaceFormer() throws(SystemError) {
        let own = OwnFile(name, in: file.folder, journal)
        do {
            if let former { try own.replace(.init(former, isSleeves: false), by: file) } else { try own.create(file) }
        } catch let error as SystemError {
            throw error.cause == .exists ? SystemError("write", number: ESTALE) : error
        } catch OwnFile.Refusal.openForWriting {
            throw SystemError("write", number: ETXTBSY)
        } catch OwnFile.Refusal.attributes(let error) {
            throw error
        } catch {
            throw SystemError("write", number: ESTALE)
        }
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
            ftruncate(file, off_t(bytes.count)) == 0, DurableFile.sync(file)
        else { throw SystemError("write", path: path) }
    }
}
