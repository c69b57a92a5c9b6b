#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Finds rows by their tags: a hash table with open addressing, in a file that every process maps into its memory.
///
/// Tags are random. In a B-tree every new cover would change leaves of its own, which SQLite writes twice and page by page: with
/// a million covers that took longer than everything else. Here it is one store of eight bytes.
///
/// Invariant: every row that is committed has its slot. The slot is stored before the row is committed, so after a crash there
/// may be slots without rows, never the other way, and what a slot says is always compared with the row. Power loss may take
/// slots away: a table that was written before the machine's last start is made anew from the rows.
final class TagTable {
    private static let magic: UInt64 = 0x3153_4741_5456_4C53  // "SLVTAGS1"
    private static let headerSize = 4_096
    private static let fewestSlots = 1 << 14
    private static let mostSlots = 1 << tagBits
    /// A slot is the upper bits of a tag, which also say where it belongs, and a row's number below them.
    private static let tagBits = 30
    private static let rowBits = 64 - tagBits
    private static let rowMask: UInt64 = (1 << rowBits) - 1

    private enum Field: Int {
        case magic, index, slots, used, lastRow, replaced, boot1, boot2
    }

    let path: String
    private let base: UnsafeMutableRawPointer
    private let length: Int
    private let slots: UnsafeMutablePointer<UInt64>
    private let mask: Int
    /// Shifted by this, a slot gives its place.
    private let shift: Int

    /// Maps the table at `path`. Nil when there is none, or none that belongs to `index`.
    init?(path: String, index: UInt64, writable: Bool) {
        self.path = path
        let descriptor = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > Self.headerSize else { return nil }
        length = Int(status.st_size)
        let protection = writable ? PROT_READ | PROT_WRITE : PROT_READ
        guard let base = mmap(nil, length, protection, MAP_SHARED, descriptor, 0), base != MAP_FAILED else {
            return nil
        }
        self.base = base
        slots = (base + Self.headerSize).assumingMemoryBound(to: UInt64.self)
        let header = base.assumingMemoryBound(to: UInt64.self)
        let count = (length - Self.headerSize) / 8
        (mask, shift) = (count - 1, 64 - count.trailingZeroBitCount)
        guard header[Field.magic.rawValue] == Self.magic, header[Field.index.rawValue] == index,
            count.nonzeroBitCount == 1, header[Field.slots.rawValue] == UInt64(count)
        else { return nil }
    }

    deinit { munmap(base, length) }

    /// Makes an empty table with room for `rows`, which takes the place of the one at `path` when it is published.
    static func make(path: String, index: UInt64, rows: Int) throws(CacheError) -> TagTable {
        var count = fewestSlots
        while count < rows * 2, count < mostSlots { count *= 2 }
        let length = headerSize + count * 8
        let new = path + ".new"
        unlink(new)
        let descriptor = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .last("create", new) }
        defer { close(descriptor) }
        // With all its blocks: storing into a mapped file on a full disk ends the process.
        #if os(Linux)
            let code = posix_fallocate(descriptor, 0, off_t(length))
            if code != 0 {
                unlink(new)
                errno = code
                throw .last("write", new)
            }
        #else
            guard ftruncate(descriptor, off_t(length)) == 0 else { throw .last("write", new) }
        #endif
        var header = [UInt64](repeating: 0, count: 8)
        header[Field.magic.rawValue] = magic
        header[Field.index.rawValue] = index
        header[Field.slots.rawValue] = UInt64(count)
        (header[Field.boot1.rawValue], header[Field.boot2.rawValue]) = bootID
        guard header.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == 64,
            let table = TagTable(path: new, index: index, writable: true)
        else { throw .last("write", new) }
        return table
    }

    /// Puts a table made by `make` in the place of `old`, which tells those who have it mapped.
    func publish(at path: String, replacing old: TagTable?) throws(CacheError) -> TagTable {
        guard rename(self.path, path) == 0 else { throw .last("rename", self.path) }
        old?[.replaced] = 1
        guard let published = TagTable(path: path, index: self[.index], writable: true) else {
            throw .last("read", path)
        }
        return published
    }

    private subscript(field: Field) -> UInt64 {
        get { base.load(fromByteOffset: field.rawValue * 8, as: UInt64.self) }
        set { base.storeBytes(of: newValue, toByteOffset: field.rawValue * 8, as: UInt64.self) }
    }

    /// Another table has taken this one's place.
    var isReplaced: Bool { self[.replaced] != 0 }
    /// The highest row that was added.
    var lastRow: Int64 { Int64(self[.lastRow]) }
    /// How much of it is taken, from 0 to 1. Looking for what is not there takes many steps when it is nearly full.
    var load: Double { Double(self[.used]) / Double(mask + 1) }
    /// Everything that was added is there: the machine has not been started since.
    var isTrusted: Bool { (self[.boot1], self[.boot2]) == Self.bootID }

    func add(_ tag: Int64, row: Int64) { add(slot: Self.mark(tag) | UInt64(row)) }

    private func add(slot: UInt64) {
        var position = Int(slot >> shift)
        while slots[position] != 0 { position = (position + 1) & mask }
        slots[position] = slot
        self[.used] += 1
        self[.lastRow] = max(self[.lastRow], slot & Self.rowMask)
    }

    /// A table twice as large with the same slots. Also in the middle of a transaction: nothing is left out that would be
    /// missing if that were rolled back.
    func grown(index: UInt64) throws(CacheError) -> TagTable {
        let larger = try Self.make(path: path, index: index, rows: mask + 1)
        for position in 0...mask where slots[position] != 0 { larger.add(slot: slots[position]) }
        return larger
    }

    /// Calls `check` with the rows that may have `tag`, until it returns something.
    func find<Result>(_ tag: Int64, _ check: (Int64) throws -> Result?) rethrows -> Result? {
        let mark = Self.mark(tag)
        var position = Int(mark >> shift)
        while case let slot = slots[position], slot != 0 {
            if slot & ~Self.rowMask == mark, let result = try check(Int64(slot & Self.rowMask)) { return result }
            position = (position + 1) & self.mask
        }
        return nil
    }

    private static func mark(_ tag: Int64) -> UInt64 { UInt64(bitPattern: tag) & ~rowMask }

    /// Of the machine's last start.
    private static let bootID: (UInt64, UInt64) = {
        var text = [UInt8](repeating: 0, count: 64)
        #if os(Linux)
            let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            defer { if descriptor >= 0 { close(descriptor) } }
            let count = descriptor >= 0 ? read(descriptor, &text, text.count) : 0
        #else
            var count = text.count
            if sysctlbyname("kern.bootsessionuuid", &text, &count, nil, 0) != 0 { count = 0 }
        #endif
        return text.prefix(max(0, count)).withUnsafeBytes { bytes in
            (Checksum.of(bytes), Checksum.of(bytes, seed: 1))
        }
    }()
}
