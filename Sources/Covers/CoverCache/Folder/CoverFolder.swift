import Files
import Platform

/// The covers' files. Each has a cover's bytes and nothing else, and the name of their SHA-256:
///
///     covers/ab/abcdef…   64 hexadecimal digits
///
/// The index says which of them are cached: a file that no row names is garbage. Synchronous, from any thread.
struct CoverFolder: Sendable {
    /// The result of `write`.
    struct Written: Sendable {
        /// Bytes of the blocks that the file takes.
        var charge: Int
        /// Another file of this name is not durable when this one is.
        var identity: Identity
        /// The file was there, with the same bytes.
        var isDuplicate = false
        /// Where the bytes are if the cover's name has others: see `place`.
        var temporary: String?
    }

    /// Tells a file from another one of its name: inodes are used again.
    struct Identity: Sendable, Hashable {
        private let inode: UInt64
        private let changedAt: [Int]

        init(_ status: stat) {
            inode = UInt64(status.st_ino)
            #if os(Linux)
                changedAt = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
            #else
                changedAt = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
            #endif
        }
    }

    let path: String

    func path(of digest: Digest) -> String {
        let name = digest.description
        return "\(path)/\(name.prefix(2))/\(name)"
    }

    // MARK: Writing

    /// Writes a cover's file. Only `sync` makes it durable.
    ///
    /// If the name has other bytes, such as the first half of a file that another process is still writing, a temporary file is written
    /// beside it, and `place` gives it the name.
    /// - Throws: `CacheError`. A part of the file may be left, or a file that another process has written: see `CacheWriter.put`.
    func write(_ bytes: UnsafeRawBufferPointer, _ digest: Digest) throws(CacheError) -> Written {
        let file = path(of: digest)
        var descriptor = create(file)
        // Another process may remove the empty folder meanwhile, or the whole cache.
        for _ in 0..<3 where descriptor < 0 && errno == ENOENT {
            let folder = FilePath.directory(of: file)
            _ = try? OwnedPath.makeFolder(path)
            do throws(SystemError) { try OwnedPath.makeFolder(folder) } catch { throw CacheError(error) }
            descriptor = create(file)
        }
        if descriptor >= 0 { return try fill(descriptor, bytes, path: file) }
        guard errno == EEXIST else { throw unwritable(file) }
        // One that cannot be read is replaced.
        if let found = try? Self.contents(of: file, length: bytes.count), found.bytes.elementsEqual(bytes) {
            return Written(charge: Self.charge(found.status), identity: Identity(found.status), isDuplicate: true)
        }
        // No file replaces a folder that has something in it.
        if rmdir(file) != 0, errno != ENOTDIR, errno != ENOENT { throw unwritable(file) }
        return try writeBeside(bytes, digest)
    }

    /// Why a cover's file cannot be written. Where others can be, only the covers of its folder fail.
    private func unwritable(_ file: String) -> CacheError {
        let error = SystemError("create", path: file)
        let isLocal = [EACCES, EPERM, EROFS, EIO, ENOTDIR, ELOOP, ENOTEMPTY, EBUSY].contains(error.number)
        return isLocal && access(path, W_OK | X_OK) == 0
            ? .unwritableCover(file, reason: error.reason) : CacheError(error)
    }

    private func create(_ file: String) -> Int32 { OwnedPath.create(file, O_WRONLY | O_EXCL) }

    /// Writes a temporary file, whose name no other process has, beside the cover's.
    /// - Throws: `CacheError`. No file is left then.
    func writeBeside(_ bytes: UnsafeRawBufferPointer, _ digest: Digest) throws(CacheError) -> Written {
        let temporary = "\(path(of: digest)).\(UInt64.random(in: 0 ... .max)).part"
        let descriptor = create(temporary)
        guard descriptor >= 0 else { throw unwritable(temporary) }
        do throws(CacheError) {
            var written = try fill(descriptor, bytes, path: temporary)
            written.temporary = temporary
            return written
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Gives a temporary file the cover's name. The name is durable after another `sync`.
    ///
    /// Only with the writer's lock held, and only after a `sync` of the file: what has the name may be another process's, which has synced
    /// and committed it since.
    /// - Returns: false if the temporary file is gone.
    /// - Throws: `CacheError`.
    func place(_ temporary: String, _ digest: Digest) throws(CacheError) -> Bool {
        if rename(temporary, path(of: digest)) == 0 { return true }
        guard errno == ENOENT else { throw .last("rename", temporary) }
        return false
    }

    /// Writes a cover's file again that another process has removed. Only with the writer's lock held. The name is durable after a `sync`.
    /// - Throws: `CacheError`.
    func restore(_ bytes: UnsafeRawBufferPointer, _ digest: Digest) throws(CacheError) {
        guard let temporary = try write(bytes, digest).temporary else { return }
        defer { unlink(temporary) }
        try sync([temporary])
        _ = try place(temporary, digest)
    }

    /// Writes and closes a new file.
    private func fill(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, path: String
    ) throws(CacheError) -> Written {
        var status = stat()
        let isWritten = writeAll(bytes, to: descriptor) && fstat(descriptor, &status) == 0
        let error = CacheError.last("write", path)
        // Some file systems report a full quota only here.
        let isClosed = close(descriptor) == 0
        if isWritten, isClosed { return Written(charge: Self.charge(status), identity: Identity(status)) }
        throw isWritten ? .last("write", path) : error
    }

    /// A file takes whole blocks. One whose blocks are not allocated yet, or that is compressed, is charged its length.
    private static func charge(_ status: stat) -> Int { max(Int(status.st_blocks) * 512, Int(status.st_size)) }

    // MARK: Syncing

    /// Returns once these files would survive power loss. Those that another process has removed are left out.
    /// - Throws: `CacheError`.
    func sync(_ files: some Collection<String>) throws(CacheError) {
        #if os(Linux)
            // The cheapest for many files, names included.
            let isSynced = try Self.withPath(path, DurableFile.syncFileSystem)
        #else
            for file in files {
                let isSynced = try Self.withPath(file) { DurableFile.syncData($0) }
                guard isSynced ?? true else { throw .last("sync", file) }
            }
            // The names of the files, of their folders, and of the index, whose rows name them.
            let folders = Set(files.map { FilePath.directory(of: $0) })
            for folder in folders.union([path, FilePath.directory(of: path)]) {
                let isSynced = try Self.withPath(folder, DurableFile.syncDirectory)
                guard isSynced ?? true else { throw .last("sync", folder) }
            }
            let isSynced = try Self.withPath(path, DurableFile.sync)
        #endif
        guard isSynced ?? true else { throw .last("sync", path) }
    }

    /// - Returns: nil if there is no file.
    static func withPath<Result>(_ file: String, _ body: (Int32) -> Result) throws(CacheError) -> Result? {
        let descriptor = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw .last("open", file) }
        defer { close(descriptor) }
        return body(descriptor)
    }

    // MARK: Reading

    /// A cover's bytes; nil if the file is missing or has others.
    /// - Parameter length: the cover's; nil for any.
    /// - Throws: `CacheError` if it cannot be read, which says nothing about the bytes.
    func read(_ digest: Digest, length: Int? = nil) throws(CacheError) -> [UInt8]? {
        guard let (bytes, _) = try Self.contents(of: path(of: digest), length: length) else { return nil }
        return bytes.withUnsafeBytes({ Digest(of: $0) }) == digest ? bytes : nil
    }

    /// Whether there is a file of this length. Its bytes are not read. True if that cannot be determined: reading reports the error.
    func has(_ digest: Digest, length: Int) -> Bool {
        var status = stat()
        guard stat(path(of: digest), &status) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return Int(status.st_size) == length
    }

    /// The identity of a file of this length; nil if there is none.
    func identity(of digest: Digest, length: Int) -> Identity? { status(of: digest, length: length).map(Identity.init) }

    /// The charge of a file of this length, in bytes; nil if there is none.
    func charge(of digest: Digest, length: Int) -> Int? { status(of: digest, length: length).map(Self.charge) }

    private func status(of digest: Digest, length: Int) -> stat? {
        var status = stat()
        return stat(path(of: digest), &status) == 0 && Int(status.st_size) == length ? status : nil
    }

    /// - Parameter length: nil for any.
    /// - Returns: nil if there is no regular file of this length.
    static func contents(of file: String, length: Int? = nil) throws(CacheError) -> (bytes: [UInt8], status: stat)? {
        do throws(SystemError) {
            let source = try SourceFile(path: file)
            guard source.length == length ?? source.length else { return nil }
            let bytes = try source.bytes(at: 0, count: source.length)
            return bytes.count == source.length ? (bytes, source.status) : nil
        } catch {
            // A failing disk may report ENXIO for a read. EINVAL: not a regular file.
            if error.call == "open", [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(error.number) { return nil }
            if error.number == EINVAL { return nil }
            throw CacheError(error)
        }
    }

    // MARK: Removing

    /// Whether there is a file, whatever its bytes. True if that cannot be determined.
    func exists(_ digest: Digest) -> Bool {
        var status = stat()
        return stat(path(of: digest), &status) == 0 || errno != ENOENT
    }

    /// Unlinks a cover's file. Returns whether it is gone. A folder of its name is no cover.
    @discardableResult
    func remove(_ digest: Digest) -> Bool {
        unlink(path(of: digest)) == 0 || [ENOENT, ENOTDIR, EISDIR].contains(errno)
    }

    /// The folders that there are, by the first two digits of their files' names.
    func folders() throws(CacheError) -> [String] {
        try CacheDirectory.names(in: path).filter { name in
            name.utf8.count == 2 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
    }

    /// A folder keeps the length that it had when it was full; a new one is short.
    func removeEmptyFolders() { for folder in (try? folders()) ?? [] { rmdir("\(path)/\(folder)") } }

    /// Unlinks the temporary files in one of the `folders`. Other files whose names no cover has there stay.
    /// - Returns: The covers in it.
    func sweep(_ folder: String) throws(CacheError) -> [Digest] {
        var digests: [Digest] = []
        for name in try CacheDirectory.names(in: "\(path)/\(folder)") where name.hasPrefix(folder) {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard let digest = Digest(String(parts[0])) else { continue }
            if parts.count == 1 { digests.append(digest) }
            if parts.count == 3, UInt64(parts[1]) != nil, parts[2] == "part" { unlink("\(path)/\(folder)/\(name)") }
        }
        return digests
    }
}
