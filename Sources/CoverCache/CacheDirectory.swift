import CLinux
import Platform

/// The layout of a cache directory.
///
///     CACHEDIR.TAG             makes backup programs skip the directory (bford.info/cachedir); absent if it had other files
///     index.sqlite3            entries, blobs, counters; disposable
///     pins                     the pinned URLs, for a rebuild of a lost index
///     writer.lock              locked (flock) around every index write and checkpoint
///     rebuild.lock             locked while a lost index is rebuilt
///     leases                   which process downloads which URL; disposable
///     reserve                  empty blocks, released so that evicting works on a full disk
///     segments/0000000001.seg  the covers' bytes and metadata, in records
package struct CacheDirectory: Sendable, Hashable {
    package let path: String
    package var index: String { path + "/index.sqlite3" }
    var pins: String { path + "/pins" }
    var lock: String { path + "/writer.lock" }
    var rebuildLock: String { path + "/rebuild.lock" }
    var leases: String { path + "/leases" }
    var segments: String { path + "/segments" }

    func segment(_ number: Int) -> String {
        let digits = String(number)
        return segments + "/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + ".seg"
    }

    /// Whether there is a cache at `path`: an index, or segments to rebuild one from. Also true if that cannot be determined;
    /// opening the cache then reports the error.
    package static func exists(_ path: String) -> Bool {
        ["/index.sqlite3", "/segments"].contains { name in
            var status = stat()
            return stat(path + name, &status) == 0 || errno != ENOENT
        }
    }

    /// Creates the directory and what is missing in it.
    /// - Throws: `CacheError` if the path is a file, cannot be written, or is on a network file system.
    package init(creating path: String) throws(CacheError) {
        self.path = path
        try Self.makeDirectories(path)
        try Self.refuseNetworkFileSystem(path)
        guard access(path, W_OK | X_OK) == 0 else {
            throw .notWritable(path, reason: String(cString: strerror(errno)))
        }
        // A directory with other files belongs in backups.
        if Self.isEmpty(path) { try makeTag() }
        try Self.makeDirectory(segments)
    }

    private func makeTag() throws(CacheError) {
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# This directory holds covers cached by Sleeve.\n"
        let descriptor = open(path + "/CACHEDIR.TAG", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            defer { close(descriptor) }
            guard write(descriptor, tag, tag.utf8.count) == tag.utf8.count else {
                let error = CacheError.last("write", path + "/CACHEDIR.TAG")
                unlink(path + "/CACHEDIR.TAG")
                throw error
            }
        } else if errno != EEXIST {
            throw .last("create", path + "/CACHEDIR.TAG")
        }
    }

    /// Whether a directory has no files but hidden ones.
    private static func isEmpty(_ path: String) -> Bool {
        guard let listing = opendir(path) else { return false }
        defer { closedir(listing) }
        while let item = readdir(listing) {
            if withUnsafeBytes(of: item.pointee.d_name, { $0[0] }) != UInt8(ascii: ".") { return false }
        }
        return true
    }

    // MARK: The reserve

    private static let reserveLength = 512 << 10
    var reserve: String { path + "/reserve" }
    var hasReserve: Bool { length(of: reserve) >= Self.reserveLength }

    /// Allocates disk blocks that `releaseReserve` frees, so that the index can be written when the disk is full. Does nothing if
    /// the disk has no room for them.
    func allocateReserve() {
        let descriptor = open(reserve, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        #if os(Linux)
            if posix_fallocate(descriptor, 0, off_t(Self.reserveLength)) != 0 { ftruncate(descriptor, 0) }
        #else
            ftruncate(descriptor, off_t(Self.reserveLength))
        #endif
    }

    func releaseReserve() { truncate(reserve, 0) }

    /// Whether the file system can give back a part of a file. True if that cannot be determined.
    var hasHoles: Bool {
        let descriptor = open(reserve, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        // Behind the end, where nothing is given back.
        return FreedRange.punchHole(descriptor, Self.reserveLength, 4_096) || !FreedRange.meansNoHoles(errno)
    }

    // MARK: Files

    /// Creates an empty index if there is none. SQLite would let others read it, and its log. An existing one is not opened: closing it
    /// would release the locks that SQLite holds in this process (fcntl(2)).
    func createIndex() {
        let descriptor = open(index, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// Deletes the hash tables that earlier programs kept beside the index.
    func removeTagTables() {
        for table in ["entries", "blobs"] {
            for suffix in [".tags", ".tags.new"] { unlink("\(path)/\(table)\(suffix)") }
        }
    }

    /// The numbers of all segments, in ascending order.
    func segmentNumbers() throws(CacheError) -> [Int] {
        // Other names are none of ours: the next number would overflow.
        try Self.files(in: segments)
            .compactMap { $0.hasSuffix(".seg") && $0.utf8.count <= 16 ? Int($0.dropLast(4)) : nil }
            .filter { $0 > 0 }.sorted()
    }

    /// Deletes the corrupt indexes that were set aside, but not the one at `last`.
    func removeBadIndexes(except last: String) {
        let files = ((try? Self.files(in: path)) ?? []).map { "\(path)/\($0)" }
        for file in files where file.hasPrefix(index + ".bad-") && !file.hasPrefix(last) { unlink(file) }
    }

    /// The names in a directory, without those of directories.
    private static func files(in directory: String) throws(CacheError) -> [String] {
        guard let listing = opendir(directory) else { throw .last("read", directory) }
        defer { closedir(listing) }
        var names: [String] = []
        while let item = readdir(listing) {
            if item.pointee.d_type == UInt8(DT_DIR) { continue }
            names.append(
                withUnsafeBytes(of: item.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// The number of the index's inode; 0 if it does not exist. A renamed file keeps its own.
    var indexNumber: UInt64 {
        var status = stat()
        return stat(index, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    var walLength: Int { length(of: index + "-wal") }

    /// In bytes; 0 if the file does not exist.
    func length(of file: String) -> Int {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    /// In bytes; 0 if the segment does not exist, and `Int.max` if that cannot be determined.
    func segmentLength(_ number: Int) -> Int {
        var status = stat()
        if stat(segment(number), &status) == 0 { return Int(status.st_size) }
        return errno == ENOENT ? 0 : .max
    }

    /// Makes all commits of the index durable, which SQLite's commits are not (`IndexFile`).
    /// - Throws: `CacheError` if they may not survive power loss.
    func syncLog() throws(CacheError) {
        // A new index is not synced when it is created. Without it, its log would count for nothing.
        for file in [index, index + "-wal"] {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 {
                // A checkpoint has moved the log into the index and synced it.
                if errno == ENOENT { continue }
                throw .last("open", file)
            }
            defer { close(descriptor) }
            guard DurableFile.sync(descriptor) else { throw .last("sync", file) }
        }
        try Self.sync(path)
    }

    /// Syncs a directory, so that the files created in it and removed from it stay so after power loss.
    /// - Throws: `CacheError`. A directory that this user may not read is left alone.
    static func sync(_ directory: String) throws(CacheError) {
        do throws(SystemError) { try DurableFile.sync(directory: directory) } catch { throw CacheError(error) }
    }

    /// Creates a directory if it is missing, durably. The keys of a cache are whole URLs, which may grant access: only the user may
    /// read it.
    private static func makeDirectory(_ path: String) throws(CacheError) {
        if mkdir(path, 0o700) == 0 {
            try sync(AtomicFile.directory(of: path))
        } else if errno != EEXIST {
            throw .last("create", path)
        }
    }

    private static func makeDirectories(_ path: String) throws(CacheError) {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_mode & S_IFMT != S_IFDIR { throw .notADirectory(path) }
            return
        }
        guard errno == ENOENT || errno == ENOTDIR else { throw .last("open", path) }
        if let slash = path.lastIndex(of: "/"), slash > path.startIndex { try makeDirectories(String(path[..<slash])) }
        try makeDirectory(path)
    }

    /// SQLite's WAL needs shared memory, which network file systems do not provide (sqlite.org/wal.html).
    private static func refuseNetworkFileSystem(_ path: String) throws(CacheError) {
        #if os(Linux)
            var status = statfs()
            guard statfs(path, &status) == 0 else { return }
            let kind: String? =
                switch UInt32(truncatingIfNeeded: status.f_type) {
                case 0x6969: "NFS"
                case 0x517B: "SMB"
                case 0xFF53_4D42: "CIFS"
                case 0xFE53_4D42: "SMB2"
                case 0x5346_414F: "AFS"
                case 0x0102_1997: "9P"
                case 0x00C3_6400: "Ceph"
                default: nil
                }
            if let kind { throw .networkFileSystem(path, kind: kind) }
        #else
            var status = statfs()
            guard statfs(path, &status) == 0, status.f_flags & UInt32(MNT_LOCAL) == 0 else { return }
            throw .networkFileSystem(path, kind: "remote")
        #endif
    }
}
