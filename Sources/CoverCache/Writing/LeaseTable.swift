package import Platform
import Synchronization

/// Which process downloads which URL: a table in a file that all processes of a cache map into memory.
///
///     offset 0          "LEASES01": the format and its version
///     offset 8          number of commits to the index, by all processes, modulo 2^32
///     offset 4096       65,536 slots of 4 bytes: the number of the process that holds the slot's keys, or 0
///     offset 2^32 + N   locked by process N while it runs (`ByteLock`)
///
/// A lease ends with its holder: the kernel releases the process's lock, and its slots can be taken over. Taking a lease is one
/// atomic operation and no system call. A lock for each key would need no table, but the kernel searches a file's locks one after
/// another: with 500 held, taking one took 8 µs.
///
/// Keys whose hashes share a slot share its lease. That costs a wait, and nothing else.
// because: `words` is mapped until `deinit`, and is accessed by atomic operations only.
package final class LeaseTable: @unchecked Sendable {
    private static let magic: (UInt32, UInt32) = (0x5341_454C, 0x3130_5345)
    private static let commitsIndex = 2
    private static let firstSlot = 1_024
    private static let slotCount = 65_536
    private static let length = (firstSlot + slotCount) * MemoryLayout<UInt32>.size
    private static let firstLock = 1 << 32

    private struct State {
        /// This table's number, whose byte is locked; nil before the first lease.
        var number: UInt32?
        /// The keys of each slot whose leases this table holds.
        var held: [Int: Int] = [:]
        /// The number of commits to the index if no other process has made one.
        var commits: UInt32
        var hasForeignCommits = false
    }

    private let descriptor: Int32
    private let words: UnsafeMutablePointer<Atomic<UInt32>>
    private let state: Mutex<State>

    /// Opens the cache's table, and creates it if it is missing.
    /// - Throws: `SystemError` if the file cannot be written or mapped, or has another format.
    package init(_ directory: CacheDirectory) throws(SystemError) {
        let path = directory.leases
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("open", path: path) }
        let mapping: UnsafeMutableRawPointer
        do throws(SystemError) {
            try Self.allocate(descriptor, path)
            guard let mapped = mmap(nil, Self.length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
                mapped != UnsafeMutableRawPointer(bitPattern: -1)
            else { throw SystemError("mmap", path: path) }
            mapping = mapped
        } catch {
            close(descriptor)
            throw error
        }
        words = mapping.bindMemory(to: Atomic<UInt32>.self, capacity: Self.length / MemoryLayout<UInt32>.size)
        state = Mutex(State(commits: words[Self.commitsIndex].load(ordering: .acquiring)))
        guard Self.mark(words, 0, Self.magic.0), Self.mark(words, 1, Self.magic.1) else {
            errno = EINVAL
            throw SystemError("read", path: path)
        }
    }

    /// The kernel releases the lock of the number, and with it every lease.
    deinit {
        munmap(UnsafeMutableRawPointer(words), Self.length)
        close(descriptor)
    }

    /// Allocates the blocks, also those of a sparse copy: without them, a full disk would end the process when it writes to the mapping.
    private static func allocate(_ descriptor: Int32, _ path: String) throws(SystemError) {
        #if os(Linux)
            errno = posix_fallocate(descriptor, 0, off_t(length))
            if errno != 0 { throw SystemError("allocate", path: path) }
        #else
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw SystemError("stat", path: path) }
            if status.st_size >= length { return }
            guard ftruncate(descriptor, off_t(length)) == 0 else { throw SystemError("allocate", path: path) }
        #endif
    }

    /// Writes a word of a new file. - Returns: whether the word is there now.
    private static func mark(_ words: UnsafeMutablePointer<Atomic<UInt32>>, _ index: Int, _ word: UInt32) -> Bool {
        let (isNew, found) = words[index].compareExchange(
            expected: 0, desired: word.littleEndian, ordering: .acquiringAndReleasing)
        return isNew || found == word.littleEndian
    }

    // MARK: Leases

    /// Takes the lease of a key. - Returns: the lease, for `release`; nil while another process holds it.
    package func take(_ key: String) -> Int? {
        let lease = Self.slot(of: key)
        return state.withLock { state in
            if state.held[lease] == nil, let number = number(&state), !take(lease, number, &state) { return nil }
            state.held[lease, default: 0] += 1
            return lease
        }
    }

    package func release(_ lease: Int) {
        state.withLock { state in
            guard let count = state.held[lease] else { return }
            state.held[lease] = count > 1 ? count - 1 : nil
            guard count == 1, let number = state.number else { return }
            _ = slot(lease).pointee.compareExchange(expected: number, desired: 0, ordering: .acquiringAndReleasing)
        }
    }

    private func take(_ lease: Int, _ number: UInt32, _ state: inout State) -> Bool {
        let (isFree, holder) = slot(lease).pointee.compareExchange(
            expected: 0, desired: number, ordering: .acquiringAndReleasing)
        if isFree { return true }
        // A lock that cannot be examined counts as held: waiting has a limit.
        guard let isAlive = try? ByteLock.isHeldElsewhere(Self.firstLock + Int(holder), of: descriptor), !isAlive else {
            return false
        }
        // It may have committed the cover without counting the commit.
        state.hasForeignCommits = true
        return slot(lease).pointee.compareExchange(
            expected: holder, desired: number, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// A number that no running process has; nil if no lock can be taken: every lease counts as taken then.
    private func number(_ state: inout State) -> UInt32? {
        if let number = state.number { return number }
        let number = UInt32.random(in: 1 ... .max)
        if (try? ByteLock.take(Self.firstLock + Int(number), of: descriptor)) == true { state.number = number }
        return state.number
    }

    private func slot(_ lease: Int) -> UnsafeMutablePointer<Atomic<UInt32>> { words + (Self.firstSlot + lease) }

    static func slot(of key: String) -> Int { Int(FNV1a.hash(key) % UInt64(slotCount)) }

    // MARK: Commits

    /// Counts a commit of this process. Call it before the leases of the committed keys are released.
    package func didCommit() {
        state.withLock { state in
            let before = words[Self.commitsIndex].wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
            if before != state.commits { state.hasForeignCommits = true }
            state.commits = before &+ 1
        }
    }

    /// Whether another process has committed anything since the table was opened: what was missing may be stored by now.
    package var hasForeignCommits: Bool {
        state.withLock { state in
            if words[Self.commitsIndex].load(ordering: .acquiring) != state.commits { state.hasForeignCommits = true }
            return state.hasForeignCommits
        }
    }
}
