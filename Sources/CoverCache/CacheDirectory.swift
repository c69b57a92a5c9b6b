import CLinux

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Where things lie in a cache directory.
///
///     CACHEDIR.TAG             tells backup programs to leave it out (bford.info/cachedir)
///     index.sqlite3            entries, blobs, counters; disposable
///     entries.tags, blobs.tags where rows are, by hash; disposable
///     writer.lock              flock around every index write and checkpoint
///     reserve                  room for evicting when the disk is full; holds nothing
///     segments/0000000001.seg  the covers, in records
package struct CacheDirectory: Sendable, Hashable {
    package let path: String
    var index: String { path + "/index.sqlite3" }
    var entryTags: String { path + "/entries.tags" }
    var blobTags: String { path + "/blobs.tags" }
    var lock: String { path + "/writer.lock" }
    var segments: String { path + "/segments" }

    func segment(_ number: Int) -> String {
        let digits = String(number)
        return segments + "/" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits + ".seg"
    }

    /// Whether there is a cache at `path`: an index, or segments to rebuild one from. Where that cannot be seen there may be
    /// one: who opens it learns what is wrong.
    package static func isThere(_ path: String) -> Bool {
        ["/index.sqlite3", "/segments"].contains { name in
            var status = stat()
            return stat(path + name, &status) == 0 || errno != ENOENT
        }
    }

    /// Makes what is missing and looks whether the place will do.
    package init(creating path: String) throws(CacheError) {
        self.path = path
        var status = stat()
        var place = path
        while !place.isEmpty {
            if stat(place, &status) == 0 {
                if status.st_mode & S_IFMT != S_IFDIR { throw .notADirectory(place) }
                break
            }
            place = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
        }
        try Self.makeDirectories(path)
        try Self.refuseNetworkFileSystem(path)
        guard access(path, W_OK | X_OK) == 0 else {
            throw .notWritable(path, reason: String(cString: strerror(errno)))
        }
        guard mkdir(segments, 0o755) == 0 || errno == EEXIST else { throw .last("create", segments) }
        let tag = "Signature: 8a477f597d28d172789f06886806bc55\n# This directory holds covers cached by Sleeve.\n"
        let descriptor = open(path + "/CACHEDIR.TAG", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
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

    /// Sets some room aside, for the index to be written when the disk is full and covers are to be evicted. As far as
    /// there is any.
    func reserveRoom() {
        let descriptor = open(path + "/reserve", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        #if os(Linux)
            if posix_fallocate(descriptor, 0, off_t(Self.reserve)) != 0 { ftruncate(descriptor, 0) }
        #else
            ftruncate(descriptor, off_t(Self.reserve))
        #endif
    }

    func releaseRoom() { truncate(path + "/reserve", 0) }
    var hasReserve: Bool { Self.length(path + "/reserve") >= Self.reserve }
    private static let reserve = 512 << 10

    /// The numbers of the segment files there are, in order.
    func segmentNumbers() throws(CacheError) -> [Int] {
        guard let listing = opendir(segments) else { throw .last("read", segments) }
        defer { closedir(listing) }
        var numbers: [Int] = []
        while let item = readdir(listing) {
            let name = withUnsafeBytes(of: item.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".seg"), let number = Int(name.dropLast(4)) { numbers.append(number) }
        }
        return numbers.sorted()
    }

    /// In bytes; 0 when it is not there.
    func length(ofSegment number: Int) -> Int { Self.length(segment(number)) }
    var walLength: Int { Self.length(index + "-wal") }

    func length(ofFile path: String) -> Int { Self.length(path) }

    private static func length(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Makes new names in `directory` survive power loss.
    static func sync(_ directory: String) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func makeDirectories(_ path: String) throws(CacheError) {
        if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw errno == ENOTDIR ? .notADirectory(path) : .last("create", path)
        }
        try makeDirectories(String(path[..<slash]))
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .last("create", path) }
    }

    /// SQLite's locks and shared memory cannot be trusted over a network (sqlite.org/wal.html, "all processes … same host").
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
