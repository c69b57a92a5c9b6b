import CoverCache
import CoverFetch
import CoverSizes
import CurlHTTP
import Dispatch
import HTTPCaching
import Logging
import Platform
import Synchronization

/// The covers that are stored, read on any thread: covers, files, statuses and sizes. What was used is passed on to the disk thread, which records
/// it, and damage, which it drops.
package final class Shelf: Sendable {
    /// A process that is killed loses the uses of this time.
    private static let usageInterval = Duration.seconds(3)

    let reader: CacheReader
    let sizes = SizeWorkers<SizeKey, MadeSize>()
    let persistency: PersistencyManager
    let logger: Logger
    private let instruments: Instruments
    private let closed = Atomic(false)
    /// A task is about to record uses.
    private let isUsageAwaited = Atomic(false)
    /// Reads block, so they run neither on the cooperative pool nor in line.
    private let readers = DispatchQueue(label: "sleeve.read", attributes: .concurrent)

    init(_ reader: CacheReader, _ persistency: PersistencyManager, _ instruments: Instruments, _ logger: Logger) {
        (self.reader, self.persistency, self.instruments, self.logger) = (reader, persistency, instruments, logger)
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Later reads throw.
    func close() { closed.store(true, ordering: .releasing) }

    // MARK: Reading

    /// Reads the cache on a thread that may block.
    /// - Throws: `CacheError.closed` if the library is closed, or the error of `body`.
    func read<Result: Sendable>(_ body: @escaping @Sendable (CacheReader) throws -> Result) async throws -> Result {
        if isClosed { throw CacheError.closed }
        return try await withCheckedThrowingContinuation { [reader] continuation in
            readers.async { continuation.resume(with: Swift.Result { try body(reader) }) }
        }
    }

    /// The same, with an error that names a cover.
    func read<Result: Sendable>(
        of url: String, _ body: @escaping @Sendable (CacheReader) throws -> Result
    ) async throws(CoverFailure) -> Result {
        do { return try await read(body) } catch { throw CoverFailure(cache: error, url: url) }
    }

    /// The same for long.
    /// - Parameter body: returns early once its second argument returns true: the task is cancelled, or the library closed.
    func readForLong<Result: Sendable>(
        _ body: @escaping @Sendable (CacheReader, _ isOver: @escaping @Sendable () -> Bool) throws -> Result
    ) async throws -> Result {
        let isCancelled = Mutex(false)
        return try await withTaskCancellationHandler {
            try await read { reader in
                try body(reader) { isCancelled.withLock(\.self) || self.isClosed }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Reads a cover on a thread that may block. Damaged bytes are a miss, and their entry is dropped.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cachedCover(_ url: HTTPURL, location: String) async throws(CoverFailure) -> Cover? {
        counted(try await cachedEntry(url, location: location))
    }

    /// The same on the caller's thread.
    func cachedCover(_ url: HTTPURL, location: String) throws(CoverFailure) -> Cover? {
        if isClosed { throw .closed(location) }
        passUsageOn(ofAtLeast: 1_024)
        do {
            let found = try reader.cover(for: url.string)
            if case .damaged = found { Task { await drop(url.string) } }
            return counted(found.hit)
        } catch {
            throw CoverFailure(cache: error, url: location)
        }
    }

    /// An entry and its verified body, read on a thread that may block. Damaged bytes are a miss, and their entry is dropped.
    func cachedEntry(
        _ url: HTTPURL, location: String
    ) async throws(CoverFailure) -> (entry: CachedEntry, body: [UInt8])? {
        let key = url.string
        let found = try await read(of: location) { try $0.cover(for: key) }
        passUsageOn(ofAtLeast: 1_024)
        if case .damaged = found { await drop(key) }
        return found.hit
    }

    /// The cover with this digest, in a smaller size if one is given; nil if there is none. Damaged bytes are a miss, and their entry is
    /// dropped.
    /// - Throws: `CoverFailure` if the cache cannot be read.
    func cachedCover(digest text: String, longestSide: Int? = nil) async throws(CoverFailure) -> Cover? {
        if isClosed { throw .closed(text) }
        guard let digest = Digest(text) else { return nil }
        if let longestSide { return try await cover(digest, longestSide: longestSide) }
        let found = try await read(of: text) { try $0.cover(digest: digest) }
        passUsageOn(ofAtLeast: 1_024)
        if case .damaged(let key) = found { await drop(key) }
        return counted(found.hit)
    }

    private func counted(_ found: (entry: CachedEntry, body: [UInt8])?) -> Cover? {
        instruments.didLookUp(hits: found == nil ? 0 : 1, misses: found == nil ? 1 : 0)
        return found.map { Cover($0, $1) }
    }

    /// The file of the entry that `find` finds, or of a smaller size that is kept. Counts as a use. Damaged bytes are a miss, and their
    /// entry is dropped.
    func cachedFile(
        _ location: String, _ longestSide: Int?, _ find: @escaping @Sendable (CacheReader) throws -> CachedEntry?
    ) async throws(CoverFailure) -> CachedFile? {
        if let longestSide {
            guard let digest = try await read(of: location, find)?.digest,
                let small = try await cover(digest, longestSide: longestSide)
            else { return nil }
            await persistency.keepSizes()
            let file = try await read(of: location) { reader in
                try reader.path(of: digest, longestSide).flatMap { try CachedFile(small, $0) }
            }
            if let file { return file }
        }
        let found = try await read(of: location) { reader in
            try find(reader).map { entry in (entry, try CachedFile(entry, reader.path(of: entry.digest))) }
        }
        passUsageOn(ofAtLeast: 1_024)
        guard let (entry, file) = found else { return nil }
        if file == nil { await drop(entry.metadata.key) }
        return file
    }

    // MARK: Damage and uses

    func drop(_ key: String) async {
        let result: String
        do {
            try await persistency.withWriter { try $0.dropDamaged(key) }
            result = "; covers that share them are dropped, too"
        } catch {
            result = ": \(CacheError(error))"
        }
        logger.warning(
            "the stored bytes of \(Redaction.redact(key)) are damaged or gone\(result)",
            metadata: CoverFailure(.cache, url: key, detail: "").metadata, source: CoverFailure.logSource)
    }

    /// Has the disk thread record the uses gathered so far, if there are at least this many, else within seconds.
    func passUsageOn(ofAtLeast count: Int) {
        if let usage = reader.takeUsage(minimum: count) { Task { await persistency.noteUsage(usage) } }
        if isUsageAwaited.exchange(true, ordering: .relaxed) { return }
        Task { [weak self] in
            try? await Task.sleep(for: Self.usageInterval)
            self?.isUsageAwaited.store(false, ordering: .relaxed)
            await self?.flushUsage()
        }
    }

    func flushUsage() async {
        if let usage = reader.takeUsage(minimum: 1) { await persistency.noteUsage(usage) }
    }
}
