import CLinux
import Files
import Platform

/// The layout of a cache directory.
///
///     CACHEDIR.TAG             makes backup programs skip the directory (bford.info/cachedir); absent if it had other files
///     covers/ab/abcdef…        a cover: its bytes and nothing else, named by their SHA-256 (`CoverFolder`)
///     sizes/300/ab/abcdef…     a cover in a smaller size; disposable (`SizeFolder`)
///     index.sqlite3            what is cached: entries, covers, recency, pins, hints (`IndexFile`)
///     entries.jsonl            a line for each stored entry, for people and for a rebuild (`EntryLog`)
///     writer.lock              locked (flock) around every index write and checkpoint
///     writing/                 markers of processes that have files without rows (`WritingMarker`)
///     reserve                  empty blocks, released so that evicting works on a full disk
///
/// A directory is a cache if its entry log, its tag or its index says so. Files of these names in any other directory belong to a person:
/// such a directory is refused. In a cache, files whose names do not have the form of Sleeve's stay as they are.
package struct CacheDirectory: Sendable, Hashable {
    package let path: String
    package var index: String { path + "/index.sqlite3" }
    var log: String { path + "/entries.jsonl" }
    var lock: String { path + "/writer.lock" }
    var writing: String { path + "/writing" }
    var covers: CoverFolder { CoverFolder(path: path + "/covers") }
    var sizes: SizeFolder { SizeFolder(path: path + "/sizes") }

    /// Whether there is a cache at `path`: an index, or covers. Also true if that cannot be determined; opening the cache then
    /// reports the error.
    package static func exists(_ path: String) -> Bool {
        ["/index.sqlite3", "/covers"].contains { name in
            var status = stat()
            return stat(path + name, &status) == 0 || errno != ENOENT
        }
    }

    /// Whatever is there.
    init(at path: String) { self.path = path }

    /// Creates the directory and what is missing in it.
    /// - Parameter isKnown: This process has used it as a cache: what another one has left of it is no file of others.
    /// - Throws: `CacheError` if the path is a file, has the files of others, cannot be written, or is on a network file system.
    package init(creating path: String, isKnown: Bool = false) throws(CacheError) {
        self.path = path
        // The keys of a cache are whole URLs, which may grant access: only the user may read it.
        do throws(SystemError) { try OwnedPath.makeFolders(path) } catch {
            throw error.number == ENOTDIR ? .notADirectory(error.path ?? path) : CacheError(error)
        }
        try Self.refuseNetworkFileSystem(path)
        guard access(path, W_OK | X_OK) == 0 else {
            throw .notWritable(path, reason: String(cString: strerror(errno)))
        }
        try claim(isKnown)
        do throws(SystemError) {
            for folder in [writing, covers.path] { try OwnedPath.makeFolder(folder) }
        } catch {
            throw CacheError(error)
        }
    }

    // MARK: The reserve

    private static let reserveLength = 512 << 10
    var reserve: String { path + "/reserve" }

    /// Allocates disk blocks for `usingReserve`, as many as the disk has room for.
    func allocateReserve() {
        if AllocatedSpace.length(of: reserve) >= Self.reserveLength { return }
        let descriptor = OwnedPath.create(reserve, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for length in [Self.reserveLength, Self.reserveLength / 2, Self.reserveLength / 8] {
            #if os(Linux)
                if posix_fallocate(descriptor, 0, off_t(length)) == 0 { return }
                ftruncate(descriptor, 0)
            #else
                if ftruncate(descriptor, off_t(length)) == 0 { return }
            #endif
        }
    }

    func freeReserve() { truncate(reserve, 0) }

    /// Runs `body`, which needs a little disk space: to open the index, or for the log of the rows that it deletes. On a full disk it runs
    /// again without the reserve.
    func usingReserve<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            guard CacheError(error).mayNeedRoom, AllocatedSpace.length(of: reserve) > 0 else { throw error }
            freeReserve()
            defer { allocateReserve() }
            return try body()
        }
    }

    // MARK: Files

    /// - Throws: `CacheError` if the entry log or a folder of covers cannot be read: an index made without it would lose what it holds.
    func checkReadable() throws(CacheError) {
        let folders = try covers.folders().map { "\(covers.path)/\($0)" }
        for folder in folders where access(folder, R_OK | X_OK) != 0 { throw .last("read", folder) }
        for folder in folders { _ = try Self.names(in: folder) }
        if access(log, R_OK) != 0, errno != ENOENT { throw .last("read", log) }
    }

    /// Deletes the corrupt indexes that were set aside, but not the one at `last`.
    func removeBadIndexes(except last: String) {
        let form = #/index\.sqlite3\.bad-\d+-\d+(-wal|-shm)?/#
        let names = ((try? Self.names(in: path)) ?? []).filter { $0.wholeMatch(of: form) != nil }
        for file in names.map({ "\(path)/\($0)" }) where !file.hasPrefix(last) { unlink(file) }
    }

    /// The names in a directory; none if there is no directory.
    /// - Throws: `CacheError` if it cannot be read.
    static func names(in directory: String) throws(CacheError) -> [String] {
        do throws(SystemError) { return try OpenFolder(path: directory).names().map(\.description) } catch {
            if [.missing, .notAFolder].contains(error.cause) { return [] }
            throw CacheError(error)
        }
    }

    /// The number of the index's inode; 0 if it does not exist. A renamed file keeps its own.
    package var indexNumber: UInt64 { Self.number(of: index) }

    /// That of the memory that the index's connections share.
    var memoryNumber: UInt64 { Self.number(of: index + "-shm") }

    private static func number(of file: String) -> UInt64 {
        var status = stat()
        return stat(file, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Whether processes have files without rows, or have ended with some.
    package var hasMarkers: Bool { WritingMarker.isAny(in: writing) }

    /// Whether another process has kept the writer's lock for a second. What is only a hint does not wait for it.
    package var isBusy: Bool { (try? FileLock(path: lock).withLock(waiting: 1) {}) == nil }

    var logLength: Int { AllocatedSpace.length(of: index + "-wal") }

    /// Bytes on the disk of the index, the files beside it and the folders of covers and sizes, without the index's log.
    var overhead: Int {
        let folders = ((try? covers.folders()) ?? []).map { "\(covers.path)/\($0)" }
        let all = [index, index + "-shm", log, reserve] + folders + sizes.folders()
        return all.reduce(0) { $0 + AllocatedSpace.bytes(of: $1) }
    }

    /// SQLite's WAL needs shared memory, which network file systems do not provide (sqlite.org/wal.html).
    private static func refuseNetworkFileSystem(_ path: String) throws(CacheError) {
        if let kind = FileSystem.networkKind(of: path) { throw .networkFileSystem(path, kind: kind) }
    }
}
