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

/// Says that this process has files without rows: of covers that are not committed yet, or whose rows it has just deleted.
///
///     writing/4711.1   such a process, while it has them
///
/// Meanwhile the process shares the lock of the directory. A process that gets the lock alone, and finds a marker, knows that its owner
/// has ended without removing its files: those that no row names are garbage (`sweepIfNeeded`).
///
/// Only names are created and removed, which a journal keeps in order: power loss does not take a marker and leave the files.
final class WritingMarker {
    private let folder: String
    private var descriptor: Int32
    private var count = 0
    /// Random: in another container, another process may have the same number as this one.
    private var number: UInt64 = 0
    private var isKept = false
    /// Bytes that files of this process without rows may take, counted in whole KiB. The marker's length in KiB says it to others.
    private(set) var reserved = 0
    /// Whether no other process sweeps. If one does, the caller must be able to write its files again.
    private(set) var isSafe = false

    init(_ folder: String) throws(CacheError) {
        self.folder = folder
        descriptor = try Self.opened(folder)
    }

    deinit { close(descriptor) }

    private static func opened(_ folder: String) throws(CacheError) -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor < 0 { throw .last("open", folder) }
        return descriptor
    }

    /// Opens the folder again, which another process may have removed with the whole cache, and creates the marker there.
    func reopen() throws(CacheError) {
        let opened = try Self.opened(folder)
        if count > 0 { isSafe = flock(opened, LOCK_SH | LOCK_NB) == 0 }
        close(descriptor)
        descriptor = opened
        if count > 0 { create() }
    }

    private var path: String { "\(folder)/\(getpid()).\(number)" }

    /// Call `end` once for each `begin`. On a full disk there may be no marker: the next process does not sweep then.
    func begin() {
        count += 1
        guard count == 1 else { return }
        isSafe = flock(descriptor, LOCK_SH | LOCK_NB) == 0
        number = .random(in: 0 ... .max)
        create()
    }

    private func create() {
        let file = OwnedPath.create(path, O_WRONLY | O_EXCL)
        if file >= 0 { close(file) }
        if reserved > 0 { reserve(reserved) }
    }

    /// Sets `reserved`, after `begin` and before the files are written. More is reserved only with the writer's lock held.
    func reserve(_ bytes: Int) {
        reserved = (bytes + 1_023) & ~1_023
        truncate(path, off_t(reserved >> 10))
    }

    /// What all processes have reserved, with those that were killed, in bytes.
    var reservedByAll: Int {
        ((try? Self.markers(in: folder)) ?? []).reduce(0) { $0 + min($1.length, 1 << 30) << 10 }
    }

    /// Shares the lock if a sweep has kept this process from it, and creates the marker that the sweep has removed.
    func retry() {
        if isSafe || flock(descriptor, LOCK_SH | LOCK_NB) != 0 { return }
        isSafe = true
        create()
    }

    /// - Parameter bytes: of `reserved` that are no longer needed: their files have rows, or are gone.
    func end(releasing bytes: Int = 0) {
        count -= 1
        guard count == 0 else {
            if bytes > 0 { reserve(reserved - bytes) }
            return
        }
        if !isKept { unlink(path) }
        (isKept, reserved) = (false, 0)
        flock(descriptor, LOCK_UN)
    }

    /// Leaves a marker although this process goes on: some of its files could not be removed.
    func keep() { isKept = true }

    /// Leaves a marker for files that no running process has written.
    func leave() {
        begin()
        keep()
        end()
    }

    /// Whether there is a marker: there may be files without rows.
    static func isAny(in folder: String) -> Bool { (try? markers(in: folder).isEmpty) != true }

    /// The markers, with their lengths. Files that have other names, and folders, belong to a person.
    private static func markers(in folder: String) throws(CacheError) -> [(path: String, length: Int)] {
        try CacheDirectory.names(in: folder).compactMap { name in
            let (parts, path) = (name.split(separator: ".", omittingEmptySubsequences: false), "\(folder)/\(name)")
            var status = stat()
            guard parts.count == 2, parts.allSatisfy({ UInt64($0) != nil }), lstat(path, &status) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { return nil }
            return (path, Int(status.st_size))
        }
    }

    /// Runs `sweep` if there is a marker of a process that has ended, and no process has files without rows.
    func sweepIfNeeded(_ sweep: () throws -> Void) throws {
        guard count == 0, let markers = try? Self.markers(in: folder), !markers.isEmpty else { return }
        // A process that cannot share the lock from now on has a marker that is not among them.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
        // The sweep keeps the lock, whatever it removes.
        count = 1
        defer {
            count = 0
            isKept = false
            flock(descriptor, LOCK_UN)
        }
        try sweep()
        if !isKept { for marker in markers { unlink(marker.path) } }
    }
}
