import Platform

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
    var isAny: Bool { Self.isAny(in: folder) }
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
