import Platform

/// Whose directory it is.
extension CacheDirectory {
    private static let tag =
        "Signature: 8a477f597d28d172789f06886806bc55\n# This directory holds covers cached by Sleeve.\n"

    private var tag: String { path + "/CACHEDIR.TAG" }

    /// Makes the directory a cache, unless it is one.
    /// - Throws: `CacheError` if it has files of others under the names that a cache uses, or links in place of its own files.
    func claim(_ isKnown: Bool) throws(CacheError) {
        // Before the question: another process that creates this cache marks it before it creates anything else.
        let names = try Self.names(in: path)
        if try !isCache() {
            if !isKnown { for name in names where try isUsed(name) { throw .foreign("\(path)/\(name)") } }
            try mark()
            // A directory with other files belongs in backups, hidden ones too: it may be a home.
            if names.allSatisfy({ $0 == "lost+found" }) { try makeTag() }
        }
        for file in [index, log, lock, writing, reserve, "\(path)/refresh.lock"]
        where Self.kind(of: file) == S_IFLNK { throw .linked(file) }
    }

    /// The cache that a file is or would be in; nil if there is none that says so.
    package static func containing(_ file: String) -> String? {
        var folder = FilePath.realDirectory(of: file)
        while folder != "/", folder != "." {
            if (try? CacheDirectory(at: folder).isCache()) == true { return folder }
            folder = FilePath.directory(of: folder)
        }
        return nil
    }

    /// - Throws: `CacheError` if none says so, and one cannot be read: whose the directory is stays unknown.
    private func isCache() throws(CacheError) -> Bool {
        var failure: CacheError?
        for (file, start) in [(log, EntryLog.start), (tag, Self.tag), (index, "")] where Self.kind(of: file) == S_IFREG
        {
            do throws(CacheError) {
                if try start.isEmpty ? IndexFile.isIndex(file) : Self.file(file, startsWith: start) { return true }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return false
    }

    /// Whether a name that a cache uses is taken. A folder that is empty but for what the system has put there, such as a mount point, is free.
    private func isUsed(_ name: String) throws(CacheError) -> Bool {
        let used = ["covers", "sizes", "writing", "entries.jsonl", "writer.lock", "reserve", "refresh.lock"]
        guard used.contains(name) || name.hasPrefix("index.sqlite3") else { return false }
        guard Self.kind(of: "\(path)/\(name)") == S_IFDIR else { return true }
        return try !Self.names(in: "\(path)/\(name)").allSatisfy { StorageNames.contains($0.utf8) }
    }

    /// Creates the entry log, with its first line, durably, before anything else. It appears whole, and replaces none.
    private func mark() throws(CacheError) {
        let temporary = "\(path)/.sleeve-\(UInt64.random(in: 0 ... .max)).part"
        let descriptor = OwnedPath.create(temporary, O_WRONLY | O_EXCL)
        guard descriptor >= 0 else { throw .last("create", temporary) }
        defer {
            close(descriptor)
            unlink(temporary)
        }
        guard EntryLog.header.withUnsafeBytes({ writeAll($0, to: descriptor) }), DurableFile.sync(descriptor) else {
            throw .last("write", temporary)
        }
        // Some file systems have no links. There, what another process has created at this moment is replaced.
        guard link(temporary, log) == 0 || errno == EEXIST || rename(temporary, log) == 0 else {
            throw .last("create", log)
        }
        do throws(SystemError) { try DurableFile.sync(directory: path) } catch { throw CacheError(error) }
    }

    private func makeTag() throws(CacheError) {
        let descriptor = OwnedPath.create(tag, O_WRONLY | O_EXCL)
        if descriptor >= 0 {
            defer { close(descriptor) }
            guard write(descriptor, Self.tag, Self.tag.utf8.count) == Self.tag.utf8.count else {
                let error = CacheError.last("write", tag)
                unlink(tag)
                throw error
            }
        } else if errno != EEXIST {
            throw .last("create", tag)
        }
    }

    /// `S_IFREG`, `S_IFDIR`, `S_IFLNK` or another type; nil if there is none.
    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func file(_ path: String, startsWith text: String) throws(CacheError) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open", path) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: text.utf8.count)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw .last("read", path) }
        return count == bytes.count && bytes.elementsEqual(text.utf8)
    }
}
